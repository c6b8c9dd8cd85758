package agent

import (
	"bytes"
	"encoding/json"

	"github.com/vpnctl/vpnctl/agent/volume"
)

// secretsFile is how the log calls the file of volume.Secrets.
const secretsFile = "secrets.json"

// keep writes down what the API has said of an IPsec gateway's Secrets, where the
// WireGuard keys lie as well: should charon and this half end together while the API is
// away, tunnels come up again all the same. A Secret that is gone is gone there, too.
func (l *StatusLoop) keep() {
	if !l.want.ipsec() {
		return
	}
	all := volume.Secrets{}
	for _, ref := range l.want.secrets {
		if v := l.vault.get(ref); v.known && v.found {
			all[volume.SecretName(ref)] = v.data
		} else if !v.known {
			return // it will be in a moment
		}
	}
	data, err := json.Marshal(all)
	if err != nil || bytes.Equal(data, l.kept) {
		return
	}
	err = l.Volume.WriteSecrets(all)
	l.say(secretsFile, errText(err))
	if l.kept = data; err != nil {
		l.kept = nil
	}
}

// recallSecrets hands the vault what was known before.
func (l *StatusLoop) recallSecrets() {
	all, _, err := l.Volume.ReadSecrets()
	l.say(secretsFile, errText(err))
	l.vault.recall(all)
}

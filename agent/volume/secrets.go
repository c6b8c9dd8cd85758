package volume

import (
	"encoding/json"
	"errors"

	"github.com/vpnctl/vpnctl/plan/vpn"
)

// secretsFile is for the status half alone.
const secretsFile = "secrets.json"

// Secrets are keys byte for byte as they are in the gateway's Secrets, by SecretName.
type Secrets map[string][]byte

// SecretName is how Secrets names one key.
func SecretName(ref vpn.SecretRef) string { return ref.Name + "/" + ref.Key }

// WriteSecrets keeps Secrets for the status half's next start, for root alone to read.
func (v Volume) WriteSecrets(s Secrets) error {
	data, err := json.Marshal(s)
	if err != nil {
		return errSecrets
	}
	return v.write(secretsFile, data, 0o600)
}

// ReadSecrets returns what WriteSecrets wrote last, and false where it never did.
func (v Volume) ReadSecrets() (Secrets, bool, error) {
	data, found, err := v.read(secretsFile)
	if !found || err != nil {
		return nil, false, err
	}
	var s Secrets
	if json.Unmarshal(data, &s) != nil {
		return nil, false, errSecrets
	}
	return s, true, nil
}

// errSecrets stands in for what encoding/json would say, which may quote the text.
var errSecrets = errors.New("reading secrets.json: it isn't what was written")

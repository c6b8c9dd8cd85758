package agent

import (
	"errors"
	"fmt"
	"time"

	"github.com/vpnctl/vpnctl/agent/volume"
	"github.com/vpnctl/vpnctl/plan/vpn"
	"github.com/vpnctl/vpnctl/render/pod"
	"github.com/vpnctl/vpnctl/render/swanctl"
)

// The parts of this half that a problem names, beside those of the data plane.
const (
	PartConfig = "config" // the mounted files
	PartCharon = "charon"
	PartStatus = "status" // writing it to the API

	PartVolume    = "volume"    // the memory volume can't be written, or read
	PartDataplane = "dataplane" // the other half shows no sign of life
)

// wanted is one generation of the gateway's ConfigMap, read and understood.
type wanted struct {
	expect      vpn.Expectation
	connections map[string]swanctl.Connection
	order       []string // of the connections, as in the file
	secrets     []vpn.SecretRef
	peers       map[string]vpn.ExpectedPeer
	hash        string // of the gateway file
	read        time.Time
	inForce     time.Time // since when the data plane has all of it; zero: it hasn't
}

func (w *wanted) ipsec() bool { return w.expect.Protocol != vpn.WireGuard }

// moved tells whether the mounted files are another generation than the one that was
// read last.
func (l *StatusLoop) moved() bool {
	generation, err := l.Config.Generation()
	return err == nil && generation != l.noticed
}

// configure reads the mounted files if they are new. What can't be read changes
// nothing: the last good configuration stays, and the problem is reported. A folder
// that can't be read at all is tried again with each tick.
func (l *StatusLoop) configure() {
	generation, err := l.Config.Generation()
	l.noticed = generation
	if err == nil && generation == l.tried {
		return
	}
	var files volume.Files
	if err == nil {
		files, err = l.Config.Read()
	}
	if err == nil {
		l.tried = files.Generation
		err = l.take(files)
	}
	l.say("configuration", errText(err))
	if l.broken = errText(err); err != nil {
		l.counts.configErrors++
	}
}

// take makes a generation the one that is wanted.
func (l *StatusLoop) take(files volume.Files) error {
	e, err := vpn.ParseExpectation(files.Data[pod.KeyAgent])
	if err != nil {
		return err
	}
	if l.want != nil {
		if err := foreign(l.want.expect, e); err != nil {
			return err
		}
	}
	w := &wanted{expect: e, read: l.Now(), connections: map[string]swanctl.Connection{}}
	if w.ipsec() {
		err = w.takeConnections(files.Data)
	} else {
		w.hash = volume.Hash(files.Data[pod.KeyWireGuard])
	}
	if err != nil {
		return err
	}
	w.takePeers()
	if l.want == nil || l.want.hash != w.hash {
		l.Log.Info("configuration read", "gateway", e.Gateway.Path(), "peers", len(e.Peers), "hash", w.hash)
	} else {
		w.inForce = l.want.inForce
	}
	l.want = w
	return nil
}

func (w *wanted) takeConnections(data map[string]string) error {
	text, there := data[pod.KeySwanctl]
	if !there {
		return errors.New(pod.KeySwanctl + " is missing from the gateway's ConfigMap")
	}
	c, err := swanctl.Parse(text)
	if err != nil {
		return err
	}
	w.hash = volume.Hash(text)
	for _, conn := range c.Connections {
		w.connections[conn.Name] = conn
		w.order = append(w.order, conn.Name)
	}
	return nil
}

// takePeers lists the expected peers, and what Secrets have to be read.
func (w *wanted) takePeers() {
	w.peers = map[string]vpn.ExpectedPeer{}
	seen := map[vpn.SecretRef]bool{{}: true}
	add := func(ref vpn.SecretRef) {
		if !seen[ref] {
			seen[ref] = true
			w.secrets = append(w.secrets, ref)
		}
	}
	add(w.expect.PrivateKey)
	for _, p := range w.expect.Peers {
		w.peers[p.Name] = p
		add(p.PresharedKey)
	}
}

// keyID is what charon knows the key of a peer by: the same at every start.
func (w *wanted) keyID(peer string) string {
	return fmt.Sprintf("vpnctl/%s/%s", w.expect.Gateway.Path(), peer)
}

// dataplane is what the other half has published; nil while it has not.
func (l *StatusLoop) dataplane() *volume.Dataplane {
	d, found, err := l.Volume.ReadDataplane()
	l.say("dataplane.json", errText(err))
	if !found || err != nil || l.Place != "" && d.Network != l.Place { // of a sandbox before
		l.age = 0
		return nil
	}
	l.age = l.stamps.age("dataplane.json", d.Written, l.Now())
	return &d
}

func errText(err error) string {
	if err == nil {
		return ""
	}
	return err.Error()
}

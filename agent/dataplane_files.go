package agent

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"net/netip"
	"os"
	"path/filepath"
	"time"

	"github.com/vpnctl/vpnctl/agent/resolve"
	"github.com/vpnctl/vpnctl/agent/routing"
	"github.com/vpnctl/vpnctl/agent/volume"
	"github.com/vpnctl/vpnctl/plan/vpn"
	"github.com/vpnctl/vpnctl/render/nat"
	"github.com/vpnctl/vpnctl/render/pod"
	"github.com/vpnctl/vpnctl/render/wgconf"
)

// acceptedFile keeps the last good texts, and what names resolved to, for the next
// start of the agent: one that starts on a broken file goes on with the one before, as
// if it had never ended.
const acceptedFile = "accepted.json"

// accepted is what the mounted files ask for, as far as they could be read.
type accepted struct {
	expect vpn.Expectation
	known  bool          // expect was read
	pinned bool          // and it was for this network namespace
	device wgconf.Config // WireGuard
	port   routing.Plan  // without the NIC's name
	rules  *rules        // nil: none was read yet
	proven *rules        // the last one that nft took; nil: none yet
	texts  acceptedTexts // as they are remembered
}

// rules are a nat.nft that has the right form.
type rules struct {
	table nat.Table
	text  string
}

// acceptedTexts is accepted.json. It holds no key.
type acceptedTexts struct {
	Network   string                `json:"network,omitempty"` // where they were accepted, see volume.Network
	Agent     string                `json:"agent,omitempty"`
	WireGuard string                `json:"wireguard,omitempty"`
	Ruleset   string                `json:"ruleset,omitempty"`
	Names     map[string]netip.Addr `json:"names,omitempty"`
}

func (a *accepted) wireguard() bool { return a.known && a.expect.Protocol == vpn.WireGuard }

// mounted is one ConfigMap that is followed.
type mounted struct {
	mount volume.Mount
	part  string
	take  func(volume.Files) error

	tried   string // generation that could be read last, good or bad
	problem string
}

// follow reads a ConfigMap if it is a new one. What can't be read or understood leaves
// what was accepted before.
func (l *DataplaneLoop) follow(m *mounted) {
	generation, err := m.mount.Generation()
	if err == nil && generation == m.tried {
		return
	}
	var files volume.Files
	if err == nil {
		files, err = m.mount.Read()
	}
	before := m.problem
	if err != nil { // in the middle of a swap, or for good
		m.tried = ""
	} else {
		m.tried = files.Generation
		if err = m.take(files); err != nil {
			l.state.ReloadErrors++
		}
	}
	m.problem = errText(err)
	l.dirty = l.dirty || err == nil || m.problem != before
}

// takeConfig accepts the gateway's ConfigMap, in whole or not at all: what is said of
// a peer in one of its files holds for the other.
func (l *DataplaneLoop) takeConfig(files volume.Files) error {
	err := l.takeExpectation(files.Data[pod.KeyAgent], files.Data[pod.KeyWireGuard], volume.Hash(files.Data[pod.KeySwanctl]))
	l.files.pinned = l.files.pinned || err == nil
	return err
}

// takeExpectation accepts agent.json and wg0.conf. connections is the Hash of the
// status half's swanctl.conf.
func (l *DataplaneLoop) takeExpectation(agent, device, connections string) error {
	e, err := vpn.ParseExpectation(agent)
	if err != nil {
		return err
	}
	if l.files.pinned {
		if err := foreign(l.files.expect, e); err != nil {
			return err
		}
	}
	port, err := portOf(e)
	if err != nil {
		return fmt.Errorf("reading %s: %w", pod.KeyAgent, err)
	}
	var c wgconf.Config
	if e.Protocol == vpn.WireGuard {
		if c, err = wgconf.Parse(device); err == nil {
			err = contradiction(c, e)
		}
		if err != nil {
			return err
		}
	} else {
		device = ""
		l.selectors.want(e, connections)
	}
	a := &l.files
	a.expect, a.known, a.port, a.device = e, true, port, c
	a.texts.Agent, a.texts.WireGuard = agent, device
	l.names.want(hostsOf(e, c), l.forbids(e))
	l.at.files++
	l.tasks.nic.again()
	l.looked = time.Time{}
	return nil
}

// forbids says which addresses no name may lead to. The pod's own are looked up each
// time: it may get another interface.
func (l *DataplaneLoop) forbids(e vpn.Expectation) resolve.Forbid {
	return func(a netip.Addr) string {
		own, err := l.Network.Addresses()
		if err != nil {
			return "the pod's own addresses are not to be had: " + err.Error()
		}
		return e.Forbids(a, own...)
	}
}

// takeRules accepts the ruleset's ConfigMap, as far as its form goes. Whether nft takes
// it will show.
func (l *DataplaneLoop) takeRules(files volume.Files) error {
	text, there := files.Data[pod.KeyRules]
	if !there {
		return errors.New(pod.KeyRules + " is missing from the ruleset's ConfigMap")
	}
	table, err := nat.Parse(text)
	if err != nil {
		return err
	}
	l.files.rules = &rules{table, text}
	l.at.files++
	return nil
}

// portOf is the routing that agent.json calls for, without the NIC's name.
func portOf(e vpn.Expectation) (routing.Plan, error) {
	p := routing.Plan{WireGuard: e.Protocol == vpn.WireGuard}
	var err error
	if p.Address, err = netip.ParseAddr(e.Port.Address); err != nil {
		return p, fmt.Errorf("the port's address: %w", err)
	}
	if p.Subnet, err = netip.ParsePrefix(e.Port.Subnet); err != nil {
		return p, fmt.Errorf("the port's subnet: %w", err)
	}
	if p.Gateway, err = netip.ParseAddr(e.Port.Gateway); err != nil {
		return p, fmt.Errorf("the subnet's router: %w", err)
	}
	switch {
	case p.WireGuard:
		p.Tunnel = nat.WireGuardInterface
	case e.Dataplane == vpn.DataplaneUserspace:
		p.Tunnel = nat.CharonInterface
		// charon wants an address of its own within the selectors.
		p.Anchor = e.ServiceCIDR.Masked().Addr().Next()
	}
	return p, nil
}

// recall reads what an earlier agent in this pod left behind. What can't be read is
// taken for nothing.
func (l *DataplaneLoop) recall() {
	if d, found, err := l.Volume.ReadDataplane(); err != nil {
		l.Log.Warn("dataplane.json of before is not to be had", "error", err)
	} else if found {
		l.state = d
		// Whether that is in force still is not known: this may be another network.
		l.begun = begun{d.Ruleset, d.RulesetSince}
		l.state.Ruleset, l.state.Config = "", ""
		l.tunnel.before = d.WireGuard
		for _, p := range d.Problems {
			l.since[subject(p.Part, p.Text)] = p.Since
		}
	}
	texts, err := readAccepted(l.acceptedPath())
	if err == nil && texts.Agent != "" {
		l.names.recall(texts.Names)
		err = l.takeExpectation(texts.Agent, texts.WireGuard, "")
		l.files.pinned = err == nil && texts.Network == l.Place // a sandbox made anew may have another port
	}
	if err == nil && texts.Ruleset != "" {
		err = l.takeRules(volume.Files{Data: map[string]string{pod.KeyRules: texts.Ruleset}})
	}
	if l.files.texts.Ruleset = texts.Ruleset; err == nil {
		l.files.proven = l.files.rules
	}
	if err != nil {
		l.Log.Warn("the files of before are not to be had", "error", err)
	}
}

func readAccepted(path string) (t acceptedTexts, err error) {
	data, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return t, nil
	}
	if err == nil {
		err = json.Unmarshal(data, &t)
	}
	return t, err
}

func (l *DataplaneLoop) acceptedPath() string { return filepath.Join(l.Volume.Dir, acceptedFile) }

// hostsOf are the names that have to be resolved, those of exposures first.
func hostsOf(e vpn.Expectation, c wgconf.Config) []string {
	var all []string
	seen := map[string]bool{"": true}
	add := func(host string) {
		if !seen[host] {
			seen[host] = true
			all = append(all, host)
		}
	}
	for _, h := range e.Hosts {
		add(h.Host)
	}
	for _, p := range c.Peers {
		add(endpointName(p.Endpoint))
	}
	return all
}

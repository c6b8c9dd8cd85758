package roster

import (
	"encoding/json"
	"io"
	"time"
)

// Schema names what JSON writes. Fields may be added to it; what one means stays.
const Schema = "vpnctl.bnerd.net/status/v1"

type document struct {
	Schema   string        `json:"schema"`
	Time     string        `json:"time"`                 // of the judgement: what is unknown depends on it
	Away     *awayJSON     `json:"clusterAway,omitzero"` // what follows is what was known before
	Gateways []gatewayJSON `json:"gateways"`
	Links    []linkJSON    `json:"links"`
	Strays   []peerJSON    `json:"peersWithoutGateway"`
	Broken   []brokenJSON  `json:"unreadable"`
}

type awayJSON struct {
	Since string `json:"since"`
	Error string `json:"error"`
}

type manifestJSON struct {
	Generation int64           `json:"generation"`
	Created    string          `json:"created,omitempty"`
	Deleting   string          `json:"deleting,omitempty"`
	Conditions []conditionJSON `json:"conditions"`
}

type conditionJSON struct {
	Type       string `json:"type"`
	Status     string `json:"status"`
	Reason     string `json:"reason"`
	Message    string `json:"message"`
	Since      string `json:"since,omitempty"`
	Generation int64  `json:"observedGeneration"`
	Outdated   bool   `json:"outdated"` // it speaks of an older version of the manifest
}

type readyJSON struct {
	Ready   string `json:"ready"`
	Reason  string `json:"readyReason,omitempty"`
	Message string `json:"readyMessage,omitempty"`
	Since   string `json:"readySince,omitempty"`
}

type gatewayJSON struct {
	Kind      string `json:"kind"`
	Namespace string `json:"namespace"`
	Name      string `json:"name"`
	Protocol  string `json:"protocol"`
	readyJSON
	Address      string          `json:"address,omitempty"`
	ServiceCIDR  string          `json:"serviceCIDR,omitempty"`
	FixedAddress string          `json:"fixedAddress,omitempty"`
	Node         string          `json:"node,omitempty"`
	PublicKey    string          `json:"wireguardPublicKey,omitempty"`
	VirtualIPs   []virtualIPJSON `json:"virtualIPs"`
	Reported     string          `json:"reported,omitempty"`
	Tally        tallyJSON       `json:"peerCount"`
	manifestJSON
	Peers []peerJSON `json:"peers"`
}

type tallyJSON struct {
	All     int `json:"all"`
	Up      int `json:"up"`
	Unknown int `json:"unknown"`
}

type virtualIPJSON struct {
	Name    string `json:"name"`
	IP      string `json:"ip"`
	Reverse bool   `json:"reverse"`
}

type peerJSON struct {
	Namespace  string `json:"namespace"`
	Gateway    string `json:"gateway"`
	Name       string `json:"name"`
	State      string `json:"state"`
	Since      string `json:"since,omitempty"`
	Message    string `json:"message,omitempty"`
	Stale      bool   `json:"stale"`
	Up         int    `json:"up"`
	Expected   int    `json:"expected"`
	In         int64  `json:"bytesIn"`
	Out        int64  `json:"bytesOut"`
	Handshake  string `json:"lastHandshake,omitempty"`
	Rekey      string `json:"rekeyAt,omitempty"`
	Reported   string `json:"reported,omitempty"`
	Roams      bool   `json:"roadWarrior"`
	*readyJSON        // nil: a tunnel of an IPsecGateway, which has no manifest of its own
	Address    string `json:"address,omitempty"`
	manifestJSON
}

type brokenJSON struct {
	Kind      string `json:"kind"`
	Namespace string `json:"namespace,omitempty"`
	Name      string `json:"name"`
	Message   string `json:"message"`
}

type linkJSON struct {
	Name string `json:"name"`
	readyJSON
	Router    string `json:"router"`
	CIDR      string `json:"cidr"`
	TransitIP string `json:"transitIP,omitempty"`
	manifestJSON
}

// JSON writes a cluster as Schema says, on one line where it is compact. It holds no
// secret: statuses have none. Away is the zero value while the cluster answers.
func JSON(w io.Writer, c Cluster, away Away, now time.Time, compact bool) error {
	d := document{Schema: Schema, Time: stamp(now), Gateways: []gatewayJSON{}, Links: []linkJSON{}, Strays: []peerJSON{}, Broken: []brokenJSON{}}
	if away.Err != nil {
		d.Away = &awayJSON{stamp(away.Since), away.Err.Error()}
	}
	for _, g := range c.Gateways {
		d.Gateways = append(d.Gateways, gatewayOf(g, now))
	}
	for _, l := range c.Links {
		d.Links = append(d.Links, linkJSON{l.Name, readyOf(l.Ready()), l.Router, l.CIDR, l.TransitIP, manifestOf(l.Manifest)})
	}
	for _, p := range c.Strays {
		d.Strays = append(d.Strays, peerOf(Gateway{}, p, now)) // of which no gateway says anything
	}
	for _, u := range c.Broken {
		d.Broken = append(d.Broken, brokenJSON{u.Kind, u.Namespace, u.Name, u.Message})
	}
	e := json.NewEncoder(w)
	if !compact {
		e.SetIndent("", "  ")
	}
	return e.Encode(d)
}

// Away is a cluster that doesn't answer.
type Away struct {
	Since time.Time
	Err   error // nil: it answers
}

func gatewayOf(g Gateway, now time.Time) gatewayJSON {
	j := gatewayJSON{
		Kind: g.Owner.Kind, Namespace: g.Owner.Namespace, Name: g.Owner.Name, Protocol: string(g.Protocol), readyJSON: readyOf(g.Ready()),
		Address: g.Address, ServiceCIDR: g.ServiceCIDR, FixedAddress: g.FixedAddress, Node: g.Node, PublicKey: g.PublicKey,
		VirtualIPs: []virtualIPJSON{}, Reported: stamp(g.Reported), manifestJSON: manifestOf(g.Manifest), Peers: []peerJSON{},
	}
	j.Tally.All, j.Tally.Up, j.Tally.Unknown = g.Tally(now)
	for _, v := range g.VirtualIPs {
		j.VirtualIPs = append(j.VirtualIPs, virtualIPJSON(v))
	}
	for _, p := range g.Peers {
		j.Peers = append(j.Peers, peerOf(g, p, now))
	}
	return j
}

func peerOf(g Gateway, p Peer, now time.Time) peerJSON {
	t, r := g.Tunnel(p, now), p.Report
	j := peerJSON{
		Namespace: p.Namespace, Gateway: p.Gateway, Name: p.Name, State: t.Word, Since: stamp(t.Since), Message: t.Message, Stale: t.Stale,
		Up: r.Up, Expected: r.Expected, In: r.In, Out: r.Out, Handshake: stamp(r.LastHandshake), Rekey: stamp(r.RekeyAt), Reported: stamp(r.At),
		Roams: p.Roams, Address: p.Address, manifestJSON: manifestOf(p.Manifest),
	}
	if !p.Created.IsZero() {
		ready := readyOf(p.Ready())
		j.readyJSON = &ready
	}
	return j
}

func readyOf(r Readiness) readyJSON { return readyJSON{r.Word, r.Reason, r.Message, stamp(r.Since)} }

func manifestOf(m Manifest) manifestJSON {
	j := manifestJSON{Generation: m.Generation, Created: stamp(m.Created), Deleting: stamp(m.Deleting), Conditions: []conditionJSON{}}
	for _, c := range m.Conditions {
		j.Conditions = append(j.Conditions, conditionJSON{c.Type, c.Status, c.Reason, c.Message, stamp(c.Since), c.Generation, m.Outdated(c)})
	}
	return j
}

// stamp is a time for programs; empty: not known.
func stamp(t time.Time) string {
	if t.IsZero() {
		return ""
	}
	return t.UTC().Format(time.RFC3339)
}

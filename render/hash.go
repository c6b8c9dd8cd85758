package render

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"slices"
	"time"

	"github.com/vpnctl/vpnctl/plan/alloc"
	"github.com/vpnctl/vpnctl/plan/vpn"
)

// Version is raised with every change of this package that gives the same input
// other resources or other bytes. It is part of Hash, so that what a new vpnctl
// renders differently is an intended change and no drift.
const Version = "6"

// Hash is the intent behind a gateway in 16 characters: its manifests, its ledger
// and the estate's settings, as this version renders them. Facts, the node and the
// place that a manifest was read from are not part of it. How a manifest is written
// counts in a tree, where it is one of the files; in a cluster only what it means does,
// which is the same whether the server has filled in defaults or not, and whoever reads
// it there.
func Hash(in Input) string {
	data, err := json.Marshal(intent{
		Version: Version,
		Estate:  settings(in.Estate),
		Gateway: unplaced(in.Gateway, in.Estate.Kubernetes.Target),
		Ledger:  allocated(in.Ledger),
		Joined:  in.Joined,
	})
	if err != nil {
		return "" // no value of these types fails; an empty hash never equals a recorded one
	}
	sum := sha256.Sum256(data)
	return hex.EncodeToString(sum[:8])
}

type intent struct {
	Version string
	Estate  vpn.Estate
	Gateway vpn.Gateway
	Ledger  alloc.Ledger
	Joined  []Joined `json:",omitempty"`
}

// settings leaves those of the estate that show in a gateway's resources, or in where
// they lie.
func settings(e vpn.Estate) vpn.Estate {
	e.Gateways, e.Links = nil, nil
	e.OpenStack = vpn.OpenStack{Network: e.OpenStack.Network, Router: e.OpenStack.Router}
	e.Kubernetes = vpn.Kubernetes{Target: e.Kubernetes.Target, Directory: e.Kubernetes.Directory}
	e.Pod.MaxGatewaysPerNode = 0
	return e
}

// unplaced leaves out positions, the pool, as another one changes nothing, and in a
// cluster the manifests' text, and annotations: apply itself and GitOps engines write some
// of those there.
func unplaced(g vpn.Gateway, target string) vpn.Gateway {
	g.Position, g.FloatingIPPool = "", ""
	if target == vpn.TargetCluster {
		g.Manifests, g.Annotations = nil, nil
	}
	g.Peers = slices.Clone(g.Peers)
	for i := range g.Peers {
		g.Peers[i].Position = ""
	}
	return g
}

// allocated leaves out what was observed of a ledger.
func allocated(l alloc.Ledger) alloc.Ledger {
	l.Applied, l.MovingFrom, l.Draining, l.Ref, l.Created = "", nil, time.Time{}, "", time.Time{}
	return l
}

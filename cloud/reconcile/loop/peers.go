package loop

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/vpnctl/vpnctl/cloud/reconcile/standing"
	"github.com/vpnctl/vpnctl/plan/manifest"
	"github.com/vpnctl/vpnctl/plan/vpn"
)

// assign takes down whose each peer is, whether its gateway is there or not.
func (r *round) assign() {
	r.of, r.names = make(map[string]vpn.Owner, len(r.peers)), map[vpn.Owner][]string{}
	for _, path := range slices.Sorted(maps.Keys(r.peers)) {
		m := r.peers[path]
		o := vpn.Owner{Kind: vpn.KindVPNGateway, Namespace: m.Namespace, Name: manifest.GatewayRef(m.JSON)}
		r.of[path], r.names[o] = o, append(r.names[o], m.Name)
	}
}

// tellBereft says of gateways that are left as they are for lost peers that they are.
func (r *round) tellBereft(ctx context.Context) {
	for o, lost := range r.bereft {
		if _, wrong := r.read.Invalid[o]; wrong { // which is said already
			continue
		}
		s := standing.Kept(o, called(lost)+" went with the CRD of VPNPeers: write each manifest again; to remove a peer, delete it after that")
		r.sayStanding(ctx, r.owners[o], s)
		r.board.Stands(s)
		r.queue.settle(o, none, time.Now())
	}
}

// called names peers, the first few of many.
func called(paths []string) string {
	const most = 5
	var names []string
	for _, path := range paths[:min(len(paths), most)] {
		_, name, _ := strings.Cut(path, "/")
		names = append(names, name)
	}
	text := strings.Join(names, ", ")
	switch more := len(paths) - len(names); {
	case len(paths) == 1:
		return "peer " + text
	case more > 0:
		return fmt.Sprintf("peers %s and %d more", text, more)
	}
	return "peers " + text
}

package view

import (
	"fmt"
	"slices"
	"strings"

	"github.com/vpnctl/vpnctl/plan"
	"github.com/vpnctl/vpnctl/plan/vpn"
)

// tally is a plan in figures, with peers as PeerName writes them.
type tally struct {
	plan.Summary
	interrupted, customers []string
	blocked                []vpn.Owner
	waiting                int // changes of theirs
}

func sum(p plan.Plan) tally {
	t := tally{Summary: p.Summary()}
	for _, r := range t.Interrupted {
		t.interrupted = append(t.interrupted, PeerName(r.Gateway, r.Peer))
	}
	for _, r := range t.Customers {
		t.customers = append(t.customers, PeerName(r.Gateway, r.Peer))
	}
	for _, o := range p.Owners {
		if o.Blocked != "" {
			t.blocked = append(t.blocked, o.Owner)
			t.waiting += o.Waiting
		}
	}
	return t
}

func open(b *bool) bool { return b != nil && *b }

// PeerName names a peer among all gateways: a VPNPeer by its namespace and
// name, an IPsecGateway's tunnel by its gateway as well.
func PeerName(o vpn.Owner, peer string) string {
	if o.Kind == vpn.KindVPNGateway {
		return o.Namespace + "/" + peer
	}
	return o.Path() + "/" + peer
}

func distinct(names []string) []string {
	slices.Sort(names)
	return slices.Compact(names)
}

// counts writes "12 to create, 2 to change, 0 to delete, 1 foreign kept".
func (t tally) counts() string {
	parts := []string{
		fmt.Sprintf("%d to create", t.Creates),
		fmt.Sprintf("%d to change", t.Updates),
		fmt.Sprintf("%d to delete", t.Deletes),
	}
	for _, extra := range []struct {
		n    int
		what string
	}{
		{t.Replaces, "to replace"},
		{t.Adopts, "to adopt"},
		{t.Releases, "to release"},
		{t.Held, "held"},
		{t.Kept, "foreign kept"},
	} {
		if extra.n > 0 {
			parts = append(parts, fmt.Sprintf("%d %s", extra.n, extra.what))
		}
	}
	return strings.Join(parts, ", ")
}

// grants writes "1 grant opens, 2 close." and the same of ranges on our side;
// empty where nothing does. What may do either, and what leads to more or elsewhere, is
// counted apart.
func (t tally) grants() string {
	s := moves("grant", t.Opens, t.Closes) + moves("internal source", t.SourcesOpen, t.SourcesClose)
	if t.Widens > 0 {
		s += fmt.Sprintf(" %s %s more or something else.", count(t.Widens, "grant"), reach(t.Widens))
	}
	if t.Unsure > 0 {
		s += fmt.Sprintf(" Whether %s %s, %s or %s is not known.", count(t.Unsure, "grant"),
			conjugate(t.Unsure, "open"), conjugate(t.Unsure, "close"), conjugate(t.Unsure, "stay"))
	}
	return s
}

// moves is a sentence about what opens and what closes.
func moves(noun string, opens, closes int) string {
	switch {
	case opens > 0 && closes > 0:
		return fmt.Sprintf(" %s %s, %d %s.", count(opens, noun), conjugate(opens, "open"), closes, conjugate(closes, "close"))
	case opens > 0:
		return fmt.Sprintf(" %s %s.", count(opens, noun), conjugate(opens, "open"))
	case closes > 0:
		return fmt.Sprintf(" %s %s.", count(closes, noun), conjugate(closes, "close"))
	}
	return ""
}

func reach(n int) string {
	if n == 1 {
		return "reaches"
	}
	return "reach"
}

func conjugate(n int, v string) string {
	if n == 1 {
		return v + "s"
	}
	return v
}

// names joins at most n names and counts the rest.
func names(all []string, n int) string {
	if len(all) <= n {
		return Plain(strings.Join(all, ", "))
	}
	return fmt.Sprintf("%s and %d more", Plain(strings.Join(all[:n], ", ")), len(all)-n)
}

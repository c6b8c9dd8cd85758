package view

import (
	"fmt"
	"slices"
	"strings"

	"github.com/vpnctl/vpnctl/plan"
	"github.com/vpnctl/vpnctl/plan/vpn"
)

// tally is a plan in figures.
type tally struct {
	actions       map[plan.Action]int // pending changes by action
	held          int
	kept          int
	opens, closes int
	interrupted   []string // peers, as PeerName writes them
	customers     []string
	worst         plan.Impact
}

func sum(p plan.Plan) tally {
	t := tally{actions: map[plan.Action]int{}, kept: len(p.Kept)}
	for _, c := range p.Changes {
		if c.Held != "" {
			t.held++
			continue
		}
		t.actions[c.Action]++
		t.worst = max(t.worst, c.Impact)
		for _, peer := range c.Interrupts {
			t.interrupted = append(t.interrupted, PeerName(c.Owner, peer))
		}
		for _, peer := range c.Customers {
			t.customers = append(t.customers, PeerName(c.Owner, peer))
		}
	}
	for _, a := range p.Access {
		t.count(a)
	}
	t.interrupted, t.customers = distinct(t.interrupted), distinct(t.customers)
	return t
}

func (t *tally) count(a plan.Access) {
	switch before, after := open(a.Before), open(a.After); {
	case after && !before:
		t.opens++
	case before && !after:
		t.closes++
	}
}

func open(b *bool) bool { return b != nil && *b }

func (t tally) pending() int {
	n := 0
	for _, k := range t.actions {
		n += k
	}
	return n
}

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
		fmt.Sprintf("%d to create", t.actions[plan.Create]),
		fmt.Sprintf("%d to change", t.actions[plan.Update]),
		fmt.Sprintf("%d to delete", t.actions[plan.Delete]),
	}
	for _, extra := range []struct {
		n    int
		what string
	}{
		{t.actions[plan.Replace], "to replace"},
		{t.actions[plan.Adopt], "to adopt"},
		{t.actions[plan.Release], "to release"},
		{t.held, "held"},
		{t.kept, "foreign kept"},
	} {
		if extra.n > 0 {
			parts = append(parts, fmt.Sprintf("%d %s", extra.n, extra.what))
		}
	}
	return strings.Join(parts, ", ")
}

// grants writes "1 grant opens, 2 close"; empty where nothing does.
func (t tally) grants() string {
	switch {
	case t.opens > 0 && t.closes > 0:
		return fmt.Sprintf("%s, %d %s", verb(t.opens, "open"), t.closes, conjugate(t.closes, "close"))
	case t.opens > 0:
		return verb(t.opens, "open")
	case t.closes > 0:
		return verb(t.closes, "close")
	}
	return ""
}

func verb(n int, v string) string { return count(n, "grant") + " " + conjugate(n, v) }

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

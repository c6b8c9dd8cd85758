package alloc_test

import (
	"net/netip"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/vpnctl/vpnctl/plan/alloc"
	"github.com/vpnctl/vpnctl/plan/vpn"
)

// ofLink is an edit of a link that a case starts from.
type ofLink func(*vpn.Link)

// aLink has the router r-<name>, if a case says nothing else.
func aLink(name string, changes ...ofLink) vpn.Link {
	l := vpn.Link{Owner: linkOwner(name), Router: "r-" + name, CIDR: prefix("10.40.0.0/16")}
	for _, c := range changes {
		c(&l)
	}
	return l
}

func pinnedAt(ip string) ofLink { return func(l *vpn.Link) { l.TransitIP = addr(ip) } }

func into(project string) ofLink { return func(l *vpn.Link) { l.CustomerProject = project } }

func router(name string) ofLink { return func(l *vpn.Link) { l.Router = name } }

func network(cidr string) ofLink { return func(l *vpn.Link) { l.CIDR = prefix(cidr) } }

// ofLedger is an edit of a link's ledger.
type ofLedger func(*alloc.LinkLedger)

// linked is an observed ledger; an empty address is a cross-tenant link's.
func linked(name, ip string, changes ...ofLedger) alloc.LinkLedger {
	l := alloc.LinkLedger{Estate: "prod", Owner: linkOwner(name), CIDR: prefix("10.40.0.0/16"), TransitIP: optional(ip), Ref: "sg-" + name}
	for _, c := range changes {
		c(&l)
	}
	return l
}

func reached(l *alloc.LinkLedger) { l.Applied = "h1" }

func since(hour int) ofLedger {
	return func(l *alloc.LinkLedger) {
		var g alloc.Ledger
		created(hour)(&g)
		l.Created = g.Created
	}
}

func tookOver(port string) ofLedger { return func(l *alloc.LinkLedger) { l.Adopted = port } }

func legIs(port string) ofLedger { return func(l *alloc.LinkLedger) { l.Leg = port } }

func customer(project string) ofLedger { return func(l *alloc.LinkLedger) { l.Customer = project } }

// port is one of another hand, on a router or on none.
func port(ip, router string) alloc.Occupant {
	return alloc.Occupant{Address: addr(ip), Port: "p-" + ip, Router: router, By: `port "` + ip + `"`}
}

// legOf is the leg of a link of this estate.
func legOf(name, ip, router string) alloc.Occupant {
	o := port(ip, router)
	o.Owner, o.Marked = linkOwner(name), true
	o.By = o.Owner.String()
	return o
}

// marked is a port of another estate.
func marked(ip, router string) alloc.Occupant {
	o := port(ip, router)
	o.Marked, o.By = true, "ClusterLink/x of estate other"
	return o
}

func links(all ...vpn.Link) alloc.LegInput {
	in := alloc.LegInput{
		Links: all, Subnet: prefix("10.0.0.0/24"), Estate: "prod", Routers: map[vpn.Owner]string{},
		Reserved: map[netip.Addr]string{addr("10.0.0.1"): "the subnet's gateway", addr("10.0.0.254"): "the address of the estate's lock"},
	}
	for _, l := range all {
		in.Routers[l.Owner] = l.Router
	}
	return in
}

// legCase is what comes of links, their ledgers and the ports that there are.
type legCase struct {
	in      alloc.LegInput
	ledgers []alloc.LinkLedger
	ports   []alloc.Occupant
	gone    []vpn.Owner // released
	more    func(*alloc.LegInput)

	want     map[string]string // by name: the address, and what else was written
	problems []string
}

func runLegs(t *testing.T, cases map[string]legCase) {
	for sentence, c := range cases {
		t.Run(sentence, func(t *testing.T) {
			c.in.Ledgers, c.in.Occupants, c.in.Released = c.ledgers, c.ports, c.gone
			if c.more != nil {
				c.more(&c.in)
			}
			got, problems := alloc.AssignLegs(c.in)
			if c.want == nil {
				c.want = map[string]string{}
			}
			slices.Reverse(c.in.Links)
			slices.Reverse(c.in.Ledgers)
			slices.Reverse(c.in.Occupants)
			again, problemsAgain := alloc.AssignLegs(c.in)
			if diff := cmp.Diff(got, again, compare) + cmp.Diff(problems, problemsAgain); diff != "" {
				t.Errorf("the other way round (-first +second):\n%s", diff)
			}
			if diff := cmp.Diff(c.want, showLegs(got)); diff != "" {
				t.Errorf("ledgers (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff(c.problems, messages(problems)); diff != "" {
				t.Errorf("problems (-want +got):\n%s", diff)
			}
		})
	}
}

// showLegs writes what each link got as "10.0.0.3", "10.0.0.9 takes over p-10.0.0.9" or
// "into c0ffee".
func showLegs(ledgers map[vpn.Owner]alloc.LinkLedger) map[string]string {
	shown := map[string]string{}
	for o, l := range ledgers {
		text := "into " + l.Customer
		if !l.Cross() {
			text = l.TransitIP.String()
		} else if l.TransitIP.IsValid() {
			text += " at " + l.TransitIP.String()
		}
		if l.Adopted != "" {
			text += " takes over " + l.Adopted
		}
		shown[o.Name] = text
	}
	return shown
}

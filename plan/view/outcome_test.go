package view

import (
	"bytes"
	"errors"
	"fmt"
	"net/netip"
	"strings"
	"testing"
	"time"

	"github.com/vpnctl/vpnctl/plan"
	"github.com/vpnctl/vpnctl/plan/alloc"
	"github.com/vpnctl/vpnctl/plan/resource"
	"github.com/vpnctl/vpnctl/plan/vpn"
)

func TestOutcomes(t *testing.T) {
	all := everything().Pending()
	given := []Given{{dc1, Addresses{FloatingIP: netip.MustParseAddr("203.0.113.22"), Ledger: alloc.Ledger{ServiceCIDR: netip.MustParsePrefix("100.64.0.0/24"),
		VirtualIPs: map[string]byte{"web": 11, "ldap": 10}, Addresses: map[string]byte{"laptop-ina": 199, "laptop-hank": 198, "phone\x1b[2J": 197}}}}}
	failed := errors.New("attaching port 3f2a to server worker-3: 409 conflictingRequest:\nport is still in use\x1b[2J")
	var mixed, stopped, between, fine, quota []Outcome
	for _, c := range all {
		o := Outcome{Change: c, Done: true}
		fine = append(fine, o)
		switch {
		case c.Owner == remote && c.ID.Kind.Short() == "port":
			o = Outcome{Change: c, Failed: true, Err: failed}
		case c.Owner == remote && c.ID.Kind.Short() != "security-group":
			o = Outcome{Change: c, Err: errors.New("needs openstack.port/globex/remote")}
		}
		mixed = append(mixed, o)
		halt := Outcome{Change: c, Done: c.Owner == dc1, Stopped: c.Owner != dc1, Err: errors.New("asked to stop")}
		stopped = append(stopped, halt)
		if c.Owner == remote && c.ID.Kind.Cloud() && c.ID.Kind != resource.KindApplied {
			halt = Outcome{Change: c, Done: true}
		}
		between = append(between, halt)
		if o.Failed {
			o.Cure = "raise the quota"
		}
		quota = append(quota, o)
	}
	held := heldOnly()
	held.Refusals = refused().Refusals
	held.Owners[0].Blocked, held.Owners[0].Waiting = "why", 1
	for i := range held.Changes {
		held.Changes[i].HeldUntil = time.Date(2026, 1, 2, 15, 4, 5+i, 0, time.UTC)
	}
	for name, c := range map[string]Report{
		"all is done":                       {Outcomes: fine, Given: given, Plan: plan.Plan{Owners: everything().Owners}},
		"one gateway failed":                {Outcomes: mixed},
		"what was not begun is counted too": {Outcomes: mixed[:len(mixed)-2], Plan: everything()},
		"stopped before a gateway began":    {Outcomes: stopped},
		"stopped in between":                {Outcomes: between},
		"a quota is used up":                {Outcomes: quota},
		"nothing was there to be done":      {},
		"many came to one end":              {Outcomes: crowd()},
		"what is held and refused is left":  {Outcomes: fine[:1], Plan: held, Next: "vpnctl apply --prune gateways/"},
		"the record alone counts":           {Outcomes: []Outcome{{Change: fresh()[3], Done: true}}},
		"the record does not count besides": {Outcomes: []Outcome{{Change: fresh()[2], Done: true}, {Change: fresh()[3], Done: true}}},
	} {
		t.Run(name, func(t *testing.T) {
			var b bytes.Buffer
			c.Elapsed = 1800 * time.Millisecond
			if err := Outcomes(&b, c); err != nil {
				t.Fatal(err)
			}
			golden(t, "outcomes_"+t.Name()[len("TestOutcomes/"):]+".txt", b.Bytes())
		})
	}
}

// TestAnApplyCountsLinksApart: a link is no gateway.
func TestAnApplyCountsLinksApart(t *testing.T) {
	change := func(kind, namespace, name string, done bool) Outcome {
		o := vpn.Owner{Kind: kind, Namespace: namespace, Name: name}
		c := plan.Change{ID: resource.ID{Kind: resource.KindSecurityGroup, Namespace: namespace, Name: name}, Owner: o, Action: plan.Create}
		if done {
			return Outcome{Change: c, Done: true}
		}
		return Outcome{Change: c, Failed: true, Err: errors.New("no")}
	}
	gateway, link := change(vpn.KindVPNGateway, "acme", "dc1", true), change(vpn.KindClusterLink, "", "north", true)
	for want, all := range map[string][]Outcome{
		"1 of 1 gateway and 0 of 1 link applied, 1 of 2 changes done.": {gateway, change(vpn.KindClusterLink, "", "south", false)},
		"0 of 1 gateway and 1 of 1 link applied, 1 of 2 changes done.": {change(vpn.KindVPNGateway, "acme", "dc2", false), link},
		"1 of 2 links applied, 1 of 2 changes done.":                   {link, change(vpn.KindClusterLink, "", "south", false)},
		"1 of 2 gateways applied, 1 of 2 changes done.":                {gateway, change(vpn.KindVPNGateway, "acme", "dc2", false)},
	} {
		var b bytes.Buffer
		if err := Outcomes(&b, Report{Outcomes: all}); err != nil {
			t.Fatal(err)
		}
		if !strings.HasSuffix(b.String(), "\n"+want+"\n") {
			t.Errorf("want %q at the end of\n%s", want, b.String())
		}
	}
}

// crowd are fifty gateways of one namespace that fail in the same way, one of them
// in another, and two of another namespace.
func crowd() []Outcome {
	var all []Outcome
	add := func(namespace, name, why string) {
		o := vpn.Owner{Kind: vpn.KindVPNGateway, Namespace: namespace, Name: name}
		change := func(k resource.Kind) plan.Change {
			return plan.Change{ID: resource.ID{Kind: k, Namespace: namespace, Name: name}, Owner: o, Action: plan.Create}
		}
		all = append(all, Outcome{Change: change(resource.KindSecurityGroup), Done: true},
			Outcome{Change: change(resource.KindPort), Failed: true, Err: errors.New("creating port " + namespace + "/" + name + ": " + why), Cure: "raise the quota"},
			Outcome{Change: change(resource.KindFloatingIP), Err: errors.New("needs openstack.port/" + namespace + "/" + name)})
	}
	for i := range 50 {
		why := "409 OverQuota"
		if i == 7 {
			why = "500 oops"
		}
		add("acme", fmt.Sprintf("gw-%02d", i), why)
	}
	add("globex", "a", "409 OverQuota")
	add("globex", "b", "409 OverQuota")
	return all
}

func TestProgress(t *testing.T) {
	for name, live := range map[string]bool{"on a terminal": true, "elsewhere": false} {
		t.Run(name, func(t *testing.T) {
			var b bytes.Buffer
			now := time.Unix(0, 0)
			changes := everything().Pending()
			p := NewProgress(&b, changes, ProgressOptions{Live: live, Width: 60, Now: func() time.Time { return now }})
			for _, c := range changes {
				p.Started(c)
				now = now.Add(1500 * time.Millisecond)
				p.Tick()
				now = now.Add(1500 * time.Millisecond)
				p.Tick()
				var err error
				if c.Action == plan.Release {
					err = errors.New("no")
				}
				p.Settled(c, false, err)
			}
			p.Close()
			golden(t, "progress_"+t.Name()[len("TestProgress/"):]+".txt", b.Bytes())
		})
	}
}

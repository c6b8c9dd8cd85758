package view

import (
	"bytes"
	"flag"
	"net/netip"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/vpnctl/vpnctl/plan"
	"github.com/vpnctl/vpnctl/plan/alloc"
	"github.com/vpnctl/vpnctl/plan/resource"
	"github.com/vpnctl/vpnctl/plan/vpn"
)

var update = flag.Bool("update", false, "rewrite the golden files")

func golden(t *testing.T, name string, got []byte) {
	t.Helper()
	file := filepath.Join("testdata", name)
	if *update {
		if err := os.WriteFile(file, got, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), string(got)); diff != "" {
		t.Errorf("%s (-want +got):\n%s", file, diff)
	}
}

func unchanged(n int) plan.Plan {
	p := many(n, 0)
	return plan.Plan{Estate: p.Estate, Owners: p.Owners}
}

func TestTextAndMarkdown(t *testing.T) {
	excluded := unchanged(3)
	excluded.Owners[0].Excluded, excluded.Owners[1].Excluded = true, true
	costly := header
	costly.Calls, costly.Elapsed = 7, 900_000_000
	for name, c := range map[string]struct {
		plan plan.Plan
		o    Options
	}{
		"every action and sign":                         {everything(), Options{Header: header, Next: "vpnctl apply gateways/"}},
		"every attribute with verbose":                  {everything(), Options{Header: header, Verbose: true}},
		"colour marks what signs say":                   {everything(), Options{Header: costly, Color: true}},
		"held lines alone are no change":                {heldOnly(), Options{Header: header}},
		"a refusal says why and what helps":             {refused(), Options{Header: header}},
		"hostile names stay in their place":             {hostile(), Options{}},
		"few unchanged gateways have a line":            {unchanged(2), Options{Next: "vpnctl apply ."}},
		"many unchanged gateways are counted":           {unchanged(40), Options{}},
		"gateways not selected are counted":             {excluded, Options{}},
		"a plan of nothing":                             {plan.Plan{Estate: "empty"}, Options{}},
		"what a list keeps is not deleted":              {plan.Plan{Estate: "e", Changes: listChange()}, Options{Header: header}},
		"a wide terminal takes longer lines":            {everything(), Options{Header: header, Width: 132}},
		"a blocked gateway says why":                    {blocked(), Options{Header: header}},
		"addresses of every gateway with verbose":       {unchanged(2), Options{Verbose: true, Given: standing(unchanged(2))}},
		"many addresses are counted":                    {plan.Plan{Estate: "e", Changes: crowded()}, Options{Header: header}},
		"ranges on our side have rows":                  {sources(), Options{Header: header}},
		"what is reached is more, or is held":           {widened(), Options{Header: header}},
		"a denial stands first":                         {denied(), Options{Header: header}},
		"what was reached is not known":                 {unread(), Options{Header: header}},
		"the files of an estate alone have their block": {plan.Plan{Estate: "e", Changes: indexChange()}, Options{}},
	} {
		t.Run(name, func(t *testing.T) {
			var text, markdown bytes.Buffer
			if err := Text(&text, c.plan, c.o); err != nil {
				t.Fatal(err)
			}
			if err := Markdown(&markdown, c.plan, c.o); err != nil {
				t.Fatal(err)
			}
			golden(t, filepath.Base(t.Name())+".txt", text.Bytes())
			golden(t, filepath.Base(t.Name())+".md", markdown.Bytes())
		})
	}
}

// sources has one range come for many gateways, and others go.
func sources() plan.Plan {
	many := plan.Source{Source: netip.MustParsePrefix("10.1.0.0/16"), After: true, Note: "10.1.2.0/24 could before"}
	for _, o := range unchanged(200).Owners {
		many.Reaches = append(many.Reaches, plan.Reach{Gateway: o.Owner, Exposures: []string{"mes", "plc"}})
	}
	few := func(source string, exposures ...string) plan.Source {
		return plan.Source{Source: netip.MustParsePrefix(source), Before: true, Reaches: []plan.Reach{{Gateway: dc1, Exposures: exposures}}}
	}
	return plan.Plan{Estate: "e", Owners: []plan.Owner{{Owner: dc1, Protocol: vpn.IPsec, Peers: []string{"plant1"}}}, Changes: indexChange(),
		Sources: []plan.Source{many, few("10.2.0.0/16", "plc"), few("10.3.0.0/16", "mes", "plc"), few("0.0.0.0/0", "a", "b", "c")}}
}

// widened has rows of exposures that lead to more, to less and elsewhere, and of what
// this run does not come to.
func widened() plan.Plan {
	row := func(exposure string, width plan.Width, note string) plan.Access {
		return plan.Access{Gateway: dc1, Peer: "plant1", Exposure: exposure, Before: &yes, After: &yes, Width: width, Note: note}
	}
	return plan.Plan{Estate: "e", Owners: []plan.Owner{{Owner: dc1, Protocol: vpn.IPsec, Peers: []string{"plant1"}}}, Changes: indexChange(),
		Access: []plan.Access{
			row("ldap", plan.Wider, "ports: tcp 636 → every port and protocol"), row("mail", plan.Less, "ports: tcp 25, 587 → tcp 587"),
			row("web", plan.Other, "target: 10.20.0.30 → 10.20.0.31"), row("wiki", "", ""),
			{Gateway: dc1, Peer: "plant2", Exposure: "ldap", After: &yes, Held: true, Note: "every port and protocol"},
			{Gateway: dc1, Peer: "plant3", Exposure: "ldap", Before: &yes, Held: true},
		}}
}

// denied is a plan that somebody's limit forbids.
func denied() plan.Plan {
	p := everything()
	p.Denied = p.Denies(plan.ImpactReload)
	return p
}

// unread has a gateway whose files were lost.
func unread() plan.Plan {
	row := func(peer string, before, after *bool, unknown bool) plan.Access {
		return plan.Access{Gateway: dc1, Peer: peer, Exposure: "web", Before: before, After: after, BeforeUnknown: unknown, AfterUnknown: unknown && peer == "plant4"}
	}
	return plan.Plan{Estate: "e", Owners: []plan.Owner{{Owner: dc1, Protocol: vpn.IPsec, Peers: []string{"plant1"}}}, Changes: indexChange(),
		Access: []plan.Access{row("plant1", nil, &yes, true), row("plant2", nil, &yes, false), row("plant3", nil, nil, true), row("plant4", nil, nil, true)}}
}

// blocked has a gateway that waits for a decision, and nothing else.
func blocked() plan.Plan {
	const why = "peer plant2 has no manifest: nothing of this gateway is changed without --prune"
	return plan.Plan{Estate: "e", Owners: []plan.Owner{{Owner: dc1, Protocol: vpn.IPsec, Blocked: why, Waiting: 3}},
		Notices: []plan.Notice{{Owner: dc1, Message: why, Hint: "--prune deletes what is gone"}}}
}

func standing(p plan.Plan) map[vpn.Owner]Addresses {
	all := map[vpn.Owner]Addresses{}
	for i, o := range p.Owners {
		all[o.Owner] = Addresses{FloatingIP: netip.AddrFrom4([4]byte{203, 0, 113, byte(i)}), Ledger: alloc.Ledger{
			ServiceCIDR: netip.MustParsePrefix("100.64.0.0/24"), VirtualIPs: map[string]byte{"web": 10}}}
	}
	return all
}

// listChange takes one element out of a YAML list.
func listChange() []plan.Change {
	id, file := object(vpn.Owner{}, "Kustomization", "top")
	return []plan.Change{{ID: id, Action: plan.Update, Reason: "lists what stands in the tree", Before: file, After: file,
		Attributes: []plan.Attribute{{Name: "text", Diff: "@@ resources\n resources:\n - dc1\n-- dc2\n+- dc3\n # + no sign\n"}}}}
}

// crowded is a gateway with more addresses than fit in a line.
func crowded() []plan.Change {
	return []plan.Change{{ID: id(resource.KindSecurityGroup, remote), Owner: remote, Action: plan.Create, Reason: "new gateway",
		After: &resource.Resource{SecurityGroup: &resource.SecurityGroup{Ledger: []resource.Entry{
			{Name: "addresses.1", Value: "ina:199;hank:198;moe:197"}, {Name: "addresses.2", Value: "lenny:196;carl:195"},
			{Name: "service-cidr", Value: "100.64.7.0/24"}, {Name: "vips.1", Value: "erp:10;web:11;dns:12"}}}}}}
}

func indexChange() []plan.Change {
	id, after := object(vpn.Owner{}, "Kustomization", "top")
	return []plan.Change{{ID: id, Action: plan.Create, Reason: "new folder", After: after}}
}

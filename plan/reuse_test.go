package plan

import (
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/vpnctl/vpnctl/plan/alloc"
	"github.com/vpnctl/vpnctl/plan/resource"
)

func TestReusedAddresses(t *testing.T) {
	type given map[string]byte
	for name, test := range map[string]struct {
		vips, warriors       given // before
		newVIPs, newWarriors given
		renamed              map[string]string
		past, pastWarriors   []alloc.Past
		impact               Impact
		customers            []string
		says                 string
	}{
		"another exposure gets a freed address": {
			vips: given{"web": 11}, newVIPs: given{"api": 11},
			impact: ImpactCustomer, customers: []string{"plant1"}, says: "100.64.3.11 now leads to api, and led to web",
		},
		"an exposure gets an address that was freed in an earlier run": {
			past: []alloc.Past{{Name: "web", Octet: 11}}, newVIPs: given{"api": 11},
			impact: ImpactCustomer, customers: []string{"plant1"}, says: "100.64.3.11 now leads to api, and led to web",
		},
		"it comes back to its own": {past: []alloc.Past{{Name: "web", Octet: 11}}, newVIPs: given{"web": 11}},
		"a road warrior gets an address that was freed in an earlier run": {
			pastWarriors: []alloc.Past{{Name: "ina", Octet: 199}}, newWarriors: given{"max": 199},
			impact: ImpactCustomer, says: "100.64.3.199 now leads to max, and led to ina",
		},
		"a name on our side gets an address that was freed in an earlier run": {
			past: []alloc.Past{{Name: "plc", Octet: 200}}, newVIPs: given{"mes": 200},
			impact: ImpactReload, says: "100.64.3.200 now leads to mes, and led to plc: whoever calls it on our side must follow",
		},
		"it gets one of its own": {vips: given{"web": 11}, newVIPs: given{"api": 12}},
		"a road warrior gets another's": {
			warriors: given{"ina": 199}, newWarriors: given{"max": 199},
			impact: ImpactCustomer, says: "100.64.3.199 now leads to max, and led to ina",
		},
		"a road warrior goes on under another name": {
			warriors: given{"ina": 199, "max": 198}, newWarriors: given{"sam": 199, "max": 198}, renamed: map[string]string{"ina": "sam"},
		},
		"a road warrior gets that of one who goes on elsewhere": {
			warriors: given{"ina": 199}, newWarriors: given{"max": 199, "sam": 198}, renamed: map[string]string{"ina": "sam"},
			impact: ImpactCustomer, says: "100.64.3.199 now leads to max, and led to ina",
		},
		"an exposure has the new name of a road warrior": {
			warriors: given{"ina": 199}, newVIPs: given{"sam": 199}, renamed: map[string]string{"ina": "sam"},
			impact: ImpactCustomer, says: "100.64.3.199 now leads to sam, and led to ina",
		},
		"an exposure gets a road warrior's": {
			warriors: given{"ina": 199}, newVIPs: given{"web": 199},
			impact: ImpactCustomer, says: "100.64.3.199 now leads to web, and led to ina",
		},
		"a name on our side is another one": {
			vips: given{"plc": 200}, newVIPs: given{"mes": 200},
			impact: ImpactReload, says: "100.64.3.200 now leads to mes, and led to plc: whoever calls it on our side must follow",
		},
		"two exposures change places": {
			vips: given{"api": 10, "web": 11}, newVIPs: given{"api": 11, "web": 10},
			impact: ImpactCustomer, customers: []string{"plant1"},
			says: "100.64.3.11 now leads to api, and led to web; 100.64.3.10 now leads to web, and led to api",
		},
	} {
		t.Run(name, func(t *testing.T) {
			was, is := dc1().ledger(), dc1().ledger()
			was.VirtualIPs, was.Addresses = test.vips, test.warriors
			is.VirtualIPs, is.Addresses = test.newVIPs, test.newWarriors
			was.PastVirtualIPs, was.PastAddresses = test.past, test.pastWarriors
			c := &Change{Attributes: ledgerAttributes(was.Entries(), is.Entries())}
			g := dc1().gateway()
			d := &draft{in: Input{}}
			d.reused(&party{gateway: &g, ledger: &was, renamed: test.renamed}, c)
			if diff := cmp.Diff(test.customers, c.Customers); diff != "" || c.Impact != test.impact || c.Consequence != test.says {
				t.Errorf("%s: %q, customers (-want +got):\n%s", c.Impact, c.Consequence, diff)
			}
		})
	}
}

// A plan says it on the change of the ledger.
func TestReuseIsSaidOfTheLedger(t *testing.T) {
	w := between([]site{dc1()}, []site{dc1().with(func(s *site) { s.plc = 0 })})
	renamed(w, "web", "api")
	p := Make(w.Input)
	i := slices.IndexFunc(p.Changes, func(c Change) bool { return c.ID == dc1().id(resource.KindSecurityGroup) })
	if i < 0 || p.Changes[i].Impact != ImpactCustomer || p.Changes[i].Consequence != "100.64.3.10 now leads to api, and led to web" {
		t.Errorf("changes: %v", effects(p))
	}
}

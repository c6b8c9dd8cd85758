package state_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/vpnctl/vpnctl/plan/vpn"
	"github.com/vpnctl/vpnctl/state"
)

func TestNames(t *testing.T) {
	link := vpn.Owner{Kind: vpn.KindClusterLink, Name: "north"}
	got := []string{
		state.Name(dc1), state.Name(link),
		state.Description("prod", dc1), state.Description("prod", link), state.RuleDescription("peer plant1"),
	}
	want := []string{
		"vpnctl-acme-dc1", "vpnctl-north",
		"vpnctl: VPNGateway/acme/dc1 of estate prod", "vpnctl: ClusterLink/north of estate prod", "vpnctl: peer plant1",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("names (-want +got):\n%s", diff)
	}
	labels := map[string]string{"app.kubernetes.io/managed-by": "vpnctl", "vpn.bnerd.net/estate": "prod", "vpn.bnerd.net/gateway": "dc1"}
	if diff := cmp.Diff(labels, state.Labels("prod", dc1)); diff != "" {
		t.Errorf("labels (-want +got):\n%s", diff)
	}
}

func TestDescriptionsComeBackWordForWord(t *testing.T) {
	estate, o, ours := state.ReadDescription(state.Description("prod", dc1))
	if estate != "prod" || o != dc1 || !ours {
		t.Errorf("read %q, %v, %v", estate, o, ours)
	}
	for _, other := range []string{
		"", "vpnctl: ", "vpnctl: VPNGateway/acme/dc1", "VPNGateway/acme/dc1 of estate prod", "vpnctl: Proxy/acme/dc1 of estate prod",
		"vpnctl: VPNGateway/acme of estate prod", " vpnctl: VPNGateway/acme/dc1 of estate prod", state.RuleDescription("peer plant1"),
	} {
		if estate, o, ours := state.ReadDescription(other); ours {
			t.Errorf("%q is ours: %q, %v", other, estate, o)
		}
	}
}

func TestRules(t *testing.T) {
	if !state.OurRule(state.RuleDescription("")) || state.OurRule("ssh from the office") || state.OurRule("") {
		t.Error("rules are not told apart by their description")
	}
	for _, why := range []string{"peer plant1", ""} {
		if got := state.RuleReason(state.RuleDescription(why)); got != why {
			t.Errorf("reason %q, want %q", got, why)
		}
	}
	long := state.RuleDescription(strings.Repeat("ä", 300))
	if n := len([]rune(long)); n != 255 || !state.OurRule(long) || strings.ContainsRune(long, '\uFFFD') {
		t.Errorf("%d characters: %s", n, long)
	}
}

func TestCheck(t *testing.T) {
	named := func(kind, namespace, name string) vpn.Owner {
		return vpn.Owner{Kind: kind, Namespace: namespace, Name: name}
	}
	label := strings.Repeat("a", 63)
	for sentence, c := range map[string]struct {
		estate string
		owner  vpn.Owner
		want   string // part of the error; empty: fine
	}{
		"an ordinary gateway":                {"prod", dc1, ""},
		"the longest gateway":                {label, named(vpn.KindIPsecGateway, label, label), ""},
		"a link of many characters":          {label, named(vpn.KindClusterLink, "", strings.Repeat("n", 150)), ""},
		"a link too long for a tag":          {"prod", named(vpn.KindClusterLink, "", strings.Repeat("n", 253)), "ownership tag would have 285 characters"},
		"a link too long for a description":  {label, named(vpn.KindClusterLink, "", strings.Repeat("n", 220)), "description would have"},
		"a gateway too long for a label":     {"prod", named(vpn.KindVPNGateway, "acme", label+"a"), "64 characters, a label value holds 63"},
		"an estate that is no label":         {"prod.fra", dc1, "not a DNS label"},
		"an estate too long":                 {label + "a", dc1, "not a DNS label"},
		"no estate":                          {"", dc1, "not a DNS label"},
		"a comma, which no filter can hold":  {"prod", named(vpn.KindVPNGateway, "acme", "a,b"), "not the name"},
		"a slash, which would be another":    {"prod", named(vpn.KindVPNGateway, "acme", "a/b"), "not the name"},
		"a line break":                       {"prod", named(vpn.KindVPNGateway, "acme", "a\nb"), "not the name"},
		"a trailing line break":              {"prod", named(vpn.KindVPNGateway, "acme", "a\n"), "not the name"},
		"a namespace with a dot":             {"prod", named(vpn.KindVPNGateway, "a.b", "dc1"), "not the name"},
		"percent signs, decoded by somebody": {"prod", named(vpn.KindVPNGateway, "acme", "a%2Fb"), "not the name"},
	} {
		t.Run(sentence, func(t *testing.T) {
			err := state.Check(c.estate, c.owner)
			if c.want == "" {
				if err != nil {
					t.Fatal(err)
				}
				fits(t, c.estate, c.owner)
				return
			}
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("error %v, want one with %q", err, c.want)
			}
		})
	}
}

// fits: what passes Check carries its marks uncut.
func fits(t *testing.T, estate string, o vpn.Owner) {
	t.Helper()
	for _, text := range append(state.Tags(estate, o), state.Name(o), state.Description(estate, o)) {
		if len(text) > 255 || strings.ContainsRune(text, ',') {
			t.Errorf("%d characters: %s", len(text), text)
		}
	}
	if e, read, ours := state.ReadDescription(state.Description(estate, o)); !ours || e != estate || read != o {
		t.Errorf("description reads as %q, %v, %v", e, read, ours)
	}
	if e, read, ours := state.ReadOwner(state.Tags(estate, o)); !ours || e != estate || read != o {
		t.Errorf("tags read as %q, %v, %v", e, read, ours)
	}
}

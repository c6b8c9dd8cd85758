package manifest

import (
	"maps"
	"net/netip"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	ipsecv1alpha1 "github.com/vpnctl/vpnctl/crds/ipsec/v1alpha1"
	"github.com/vpnctl/vpnctl/plan/vpn"
)

const (
	north = `apiVersion: ipsec.bnerd.net/v1alpha1
kind: ClusterLink
metadata: {name: north, uid: 6c2f5a7e-9b1d-4c3e-8f00-1d2e3f405162, generation: 3, finalizers: [ipsec.bnerd.net/clusterlink-cleanup]}
spec: {serviceClusterRouter: north-router, serviceClusterCIDR: 10.40.0.0/16, transitIP: 10.254.0.7}
status: {transitIP: 10.254.0.7, legPortID: 7, conditions: [{type: Ready, status: "True"}]}
`
	south = `apiVersion: ipsec.bnerd.net/v1alpha1
kind: ClusterLink
metadata:
  name: south
  annotations:
    ipsec.bnerd.net/tenant-isolation-attested: network team; 2026-11-30
    ipsec.bnerd.net/abandon-customer-side: "true"
    kubectl.kubernetes.io/last-applied-configuration: "{}"
spec:
  serviceClusterRouter: south-router
  serviceClusterCIDR: 10.50.0.0/16
  credentialsSecretRef: {name: clusterlink-south, namespace: vpn-system}
  customerProjectID: 0f3c2a
`
)

var southLink = vpn.Link{
	Owner: vpn.Owner{Kind: vpn.KindClusterLink, Name: "south"}, Router: "south-router", CIDR: netip.MustParsePrefix("10.50.0.0/16"),
	Credentials: vpn.NamespacedRef{Namespace: "vpn-system", Name: "clusterlink-south"}, CustomerProject: "0f3c2a",
	Annotations: map[string]string{ipsecv1alpha1.AnnotationAttested: "network team; 2026-11-30", ipsecv1alpha1.AnnotationAbandon: "true"},
}

var anywhere = cmp.Options{cmpopts.EquateComparable(netip.Prefix{}, netip.Addr{}), cmpopts.IgnoreFields(vpn.Link{}, "Position")}

// TestLinksOfACluster: a link with a fault stays among the invalid ones with its reason,
// and takes nobody else out.
func TestLinksOfACluster(t *testing.T) {
	file := filepath.Join(t.TempDir(), "vpnctl.yaml")
	if err := os.WriteFile(file, []byte(clusterEstate), 0o600); err != nil {
		t.Fatal(err)
	}
	all := []string{"north", "south"}
	for sentence, tt := range map[string]struct {
		from, to string   // an edit of the manifests
		valid    []string // links
		invalid  string   // link
		words    string   // of the reason
	}{
		"all are valid":                      {"", "", all, "", ""},
		"a field that says nothing":          {"north-router", `" "`, all[1:], "north", "spec.serviceClusterRouter"},
		"a field of a later version":         {"transitIP: 10.254.0.7}\nstatus", "colour: red}\nstatus", all[1:], "north", "colour"},
		"a Secret of another name":           {"name: clusterlink-south", "name: clusterlink-north", all[:1], "south", "credentialsSecretRef.name"},
		"an annotation that says nothing":    {`customer-side: "true"`, `customer-side: "yes"`, all[:1], "south", ipsecv1alpha1.AnnotationAbandon},
		"an attestation that can't be read":  {"network team; 2026-11-30", "network team", all, "", ""},
		"two for one network: the later":     {"10.50.0.0/16", "10.40.3.0/24", all[:1], "south", "10.40.0.0/16 of ClusterLink north"},
		"a peer's own address":               {"10.50.0.0/16", "198.51.100.0/24", all[:1], "south", "holds the address of VPNPeer acme/plant1"},
		"a network behind a peer":            {"10.50.0.0/16", "192.168.0.0/16", all[:1], "south", "behind VPNPeer acme/plant1"},
		"a network that is already the pool": {"10.40.0.0/16", "100.64.9.0/24", all[1:], "north", "service CIDR pool"},
	} {
		t.Run(sentence, func(t *testing.T) {
			text := strings.Join([]string{dc1, plant1, old, north, south}, "---\n")
			if !strings.Contains(text, tt.from) {
				t.Fatalf("%q is not there", tt.from)
			}
			c, found := FromCluster(file, held(t, strings.Replace(text, tt.from, tt.to, 1)))
			if len(found) > 0 || len(c.Estate.Gateways) != 2 {
				t.Fatalf("gateways are gone: %v %v", found, c.Found)
			}
			var valid, invalid []string
			for _, l := range c.Estate.Links {
				valid = append(valid, l.Owner.Name)
			}
			for _, o := range slices.Collect(maps.Keys(c.Invalid)) {
				invalid = append(invalid, o.String())
				if d := c.Invalid[o][0]; !strings.Contains(d.Field+" "+d.Message, tt.words) || d.Line != 0 {
					t.Errorf("the reason is %+v, want %q in it", d, tt.words)
				}
			}
			if tt.invalid != "" && !slices.Equal(invalid, []string{"ClusterLink/" + tt.invalid}) || tt.invalid == "" && len(invalid) > 0 {
				t.Errorf("invalid are %v, want %q", invalid, tt.invalid)
			}
			if diff := cmp.Diff(tt.valid, valid); diff != "" {
				t.Errorf("valid (-want +got)\n%s", diff)
			}
		})
	}
}

// TestTheYoungerOfTwoLinksIsNotValid, whatever their names: the other one may stand.
func TestTheYoungerOfTwoLinksIsNotValid(t *testing.T) {
	file := filepath.Join(t.TempDir(), "vpnctl.yaml")
	if err := os.WriteFile(file, []byte(clusterEstate), 0o600); err != nil {
		t.Fatal(err)
	}
	for field, clash := range map[string]struct{ from, to string }{
		"spec.serviceClusterCIDR":   {"10.50.0.0/16", "10.40.0.0/16"},
		"spec.serviceClusterRouter": {"south-router", "north-router"},
	} {
		older := strings.NewReplacer("name: south", "name: south\n  creationTimestamp: '2026-11-29T09:00:00Z'", clash.from, clash.to,
			"  credentialsSecretRef: {name: clusterlink-south, namespace: vpn-system}\n", "", "  customerProjectID: 0f3c2a\n", "").Replace(south)
		younger := strings.Replace(north, "name: north,", "name: north, creationTimestamp: '2026-11-30T08:00:00Z',", 1)
		c, _ := FromCluster(file, held(t, younger+"---\n"+older))
		if len(c.Estate.Links) != 1 || c.Estate.Links[0].Owner.Name != "south" {
			t.Errorf("%s: valid are %v, want the older one alone: %v", field, c.Estate.Links, c.Found)
		}
		if d := c.Invalid[vpn.Owner{Kind: vpn.KindClusterLink, Name: "north"}]; len(d) != 1 || d[0].Field != field {
			t.Errorf("%s: of the younger one is said %v", field, d)
		}
	}
}

// TestALinkComesWhole: what its author wrote comes out of a cluster, annotations too.
func TestALinkComesWhole(t *testing.T) {
	file := filepath.Join(t.TempDir(), "vpnctl.yaml")
	if err := os.WriteFile(file, []byte(clusterEstate), 0o600); err != nil {
		t.Fatal(err)
	}
	c, _ := FromCluster(file, held(t, north+"---\n"+south))
	if len(c.Estate.Links) != 2 {
		t.Fatalf("%v", c.Found)
	}
	if diff := cmp.Diff(southLink, c.Estate.Links[1], anywhere); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
	if a, err := c.Estate.Links[1].Attested(); err != nil || a.Who != "network team" {
		t.Errorf("attested: %v, %v", a, err)
	}
}

func TestLinkOf(t *testing.T) {
	for sentence, tt := range map[string]struct {
		text  string
		want  vpn.Link
		words string
	}{
		"one without fault":        {south, southLink, ""},
		"one with a fault":         {strings.Replace(south, "10.50.0.0/16", "10.50.0.1/16", 1), func() vpn.Link { l := southLink; l.CIDR = netip.Prefix{}; return l }(), "host bits"},
		"something else":           {dc1, vpn.Link{}, "holds no ClusterLink"},
		"something without a name": {strings.Replace(south, "  name: south\n", "", 1), vpn.Link{}, "required, but missing"},
		"no text":                  {"", vpn.Link{}, "holds no ClusterLink"},
		"half a text":              {south[:40], vpn.Link{}, ""},
	} {
		t.Run(sentence, func(t *testing.T) {
			got, found := LinkOf([]byte(tt.text))
			if diff := cmp.Diff(tt.want, got, anywhere); diff != "" {
				t.Errorf("(-want +got)\n%s", diff)
			}
			switch {
			case (found.Errors() > 0) == (sentence == "one without fault"):
				t.Errorf("%d errors: %v", found.Errors(), found)
			case tt.words != "" && !strings.Contains(found[0].Message, tt.words):
				t.Errorf("%v, want %q", found, tt.words)
			}
		})
	}
}

// TestALinkOfOurOwnIsNamedInVain: that is told to those who ask for notes.
func TestALinkOfOurOwnIsNamedInVain(t *testing.T) {
	dir := t.TempDir()
	gateway := strings.Replace(dc1, "namespace: acme}", "namespace: acme, annotations: {ipsec.bnerd.net/cluster-links: 'south, north'}}", 1) +
		"  reverseExposures: [{name: mes, target: {address: 192.168.1.4}}]\n"
	for name, text := range map[string]string{"vpnctl.yaml": clusterEstate, "all.yaml": strings.Join([]string{gateway, plant1, north, south}, "---\n")} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	loaded, found := Load([]string{dir}, Options{})
	if len(found) > 0 {
		t.Fatal(found)
	}
	if diff := cmp.Diff([]string{"north", "south"}, loaded.Estate.Gateways[0].Links); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
	if len(loaded.Notes) != 1 || loaded.Notes[0].Severity != Note || loaded.Notes[0].Line != 3 || !strings.HasPrefix(loaded.Notes[0].Message, "ClusterLink north need not be named") {
		t.Errorf("notes: %+v", loaded.Notes)
	}
}

// TestALinkHasItsCloud: each link has the entry that the Estate gives it.
func TestALinkHasItsCloud(t *testing.T) {
	dir := t.TempDir()
	estate := strings.Replace(clusterEstate, "{cloud: operator,", "{links: [{link: south, cloud: customer-south}], cloud: operator,", 1) +
		"  kubernetes: {target: directory, nodes: [{name: worker-1, serverID: c3f0ea92-3c32-4141-bf59-214fe50dcac9}]}\n"
	for name, text := range map[string]string{"vpnctl.yaml": estate, "all.yaml": north + "---\n" + south} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	loaded, found := Load([]string{dir}, Options{})
	if len(found) > 0 {
		t.Fatal(found)
	}
	want := map[string]string{"south": "customer-south"}
	if diff := cmp.Diff(want, loaded.Estate.OpenStack.Clouds); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
	for _, l := range loaded.Estate.Links {
		if l.Cloud != want[l.Owner.Name] {
			t.Errorf("%s has cloud %q", l.Owner, l.Cloud)
		}
	}
}

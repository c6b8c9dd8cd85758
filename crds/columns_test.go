package crds_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apiextensions-apiserver/pkg/registry/customresource/tableconvertor"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/yaml"

	"github.com/vpnctl/vpnctl/crds"
)

// TestColumns: what kubectl get shows of what gateway pods report, as the API server
// makes it; with -o wide only where there is a (wide).
func TestColumns(t *testing.T) {
	for file, c := range map[string]struct {
		object string
		want   string
	}{
		"ipsec.bnerd.net_clusterlinks.yaml": {
			`{metadata: {name: north}, spec: {serviceClusterRouter: r, customerProjectID: 0f3c2a}, status: {conditions: [{type: Ready, status: "False", reason: SecretNotFound}]}}`,
			"Name north, Router r, Customer-Project 0f3c2a (wide), Ready False, Reason SecretNotFound (wide)",
		},
		"ipsec.bnerd.net_ipsecgateways.yaml": {
			`{metadata: {name: old}, status: {tunnelsUp: 1 of 3, tunnels: [{name: a, state: ESTABLISHED, up: 1 of 1}, {name: b, state: DOWN, message: no answer}, {name: c, message: later}]}}`,
			"Name old, Tunnels 1 of 3, Message no answer (wide)",
		},
		"vpn.bnerd.net_vpngateways.yaml": {
			`{metadata: {name: dc1}, spec: {protocol: ipsec}, status: {peersUp: 1 of 2, peers: [{name: a, message: no key}, {name: b}]}}`,
			"Name dc1, Protocol ipsec, Peers 1 of 2, Message no key (wide)",
		},
		"vpn.bnerd.net_vpnpeers.yaml": {
			`{metadata: {name: plant1}, spec: {gatewayRef: dc1}, status: {state: DOWN, up: 0 of 2, message: no answer, conditions: [{type: Authorized, status: "True"}, {type: Ready, status: "False", reason: PeerSecretMissing}]}}`,
			"Name plant1, Gateway dc1, State DOWN, Up 0 of 2, Authorized True, Ready False, Reason PeerSecretMissing (wide), Message no answer (wide)",
		},
	} {
		var crd apiextensionsv1.CustomResourceDefinition
		if err := yaml.UnmarshalStrict(crds.File(file), &crd); err != nil {
			t.Fatal(err)
		}
		if got := columns(t, crd, c.object); got != c.want {
			t.Errorf("%s: (-want +got)\n%s", file, cmp.Diff(c.want, got))
		}
		if got := columns(t, crd, `{metadata: {name: new}}`); got != "Name new" {
			t.Errorf("%s: without a status: %s", file, got)
		}
	}
}

// columns are those that aren't empty.
func columns(t *testing.T, crd apiextensionsv1.CustomResourceDefinition, object string) string {
	t.Helper()
	convertor, err := tableconvertor.New(crd.Spec.Versions[0].AdditionalPrinterColumns)
	if err != nil {
		t.Fatal(err)
	}
	var o unstructured.Unstructured
	if err := yaml.Unmarshal([]byte(object), &o.Object); err != nil {
		t.Fatal(err)
	}
	table, err := convertor.ConvertToTable(t.Context(), &o, nil)
	if err != nil {
		t.Fatal(err)
	}
	var all []string
	for i, column := range table.ColumnDefinitions {
		cell := table.Rows[0].Cells[i]
		if cell == nil || column.Name == "Age" {
			continue
		}
		text := fmt.Sprint(column.Name, " ", cell)
		if column.Priority > 0 {
			text += " (wide)"
		}
		all = append(all, text)
	}
	return strings.Join(all, ", ")
}

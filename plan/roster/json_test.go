package roster

import (
	"bytes"
	"encoding/json"
	"errors"
	"flag"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/vpnctl/vpnctl/plan/vpn"
)

var update = flag.Bool("update", false, "rewrite the golden file")

// everything has a value in every field that a cluster may have.
func everything() Cluster {
	m := Manifest{Generation: 3, Created: ago(48 * time.Hour), Deleting: ago(time.Minute), Conditions: []Condition{
		{Type: "Ready", Status: Unknown, Reason: "Deleting", Message: "port: 409", Since: ago(time.Minute), Generation: 2}}}
	p := Peer{Namespace: "globex", Gateway: "remote", Name: "ina", Manifest: m, Roams: true, Report: Report{
		State: "ESTABLISHED", Up: 2, Expected: 3, Message: "no proposal chosen", Since: ago(time.Hour), LastHandshake: ago(time.Second),
		RekeyAt: noon.Add(time.Hour), In: 1, Out: 2, At: ago(time.Second)}}
	lost := p
	lost.Gateway = "nowhere"
	return Cluster{
		Gateways: []Gateway{
			{Owner: vpn.Owner{Kind: vpn.KindVPNGateway, Namespace: "globex", Name: "remote"}, Manifest: m, Protocol: vpn.WireGuard, Touched: true, Address: "203.0.113.20",
				ServiceCIDR: "100.64.3.0/24", FixedAddress: "10.0.0.14", Node: "worker-2", PublicKey: "key", VirtualIPs: []VirtualIP{{"erp", "100.64.3.10", true}},
				Peers: []Peer{p}, Reported: ago(time.Second)},
			{Owner: vpn.Owner{Kind: vpn.KindIPsecGateway, Namespace: "initech", Name: "old"}, Protocol: vpn.IPsec},
		},
		Links:  []Link{{Name: "north", Manifest: m, Touched: true, Router: "north", CIDR: "10.40.0.0/16", TransitIP: "10.0.0.3"}},
		Strays: []Peer{lost},
		Broken: []Unreadable{{Kind: "VPNPeer", Namespace: "globex", Name: "odd", Gateway: "remote", Message: "spec: a list"}},
	}
}

// TestJSON compares the document whole: its fields are promised to other programs.
func TestJSON(t *testing.T) {
	var out bytes.Buffer
	if err := JSON(&out, everything(), Away{Since: noon, Err: errors.New("connection refused")}, noon, false); err != nil {
		t.Fatal(err)
	}
	const file = "testdata/status.json"
	if *update {
		if err := os.WriteFile(file, out.Bytes(), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), out.String()); diff != "" {
		t.Errorf("%s (-want +got):\n%s", file, diff)
	}
}

// TestJSONCompact: a document a line holds the same as one on many.
func TestJSONCompact(t *testing.T) {
	var long, short bytes.Buffer
	for _, c := range []Cluster{{}, everything()} {
		long.Reset()
		short.Reset()
		if err := errors.Join(JSON(&long, c, Away{}, noon, false), JSON(&short, c, Away{}, noon, true)); err != nil {
			t.Fatal(err)
		}
		var a, b any
		if err := errors.Join(json.Unmarshal(long.Bytes(), &a), json.Unmarshal(short.Bytes(), &b)); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(a, b); diff != "" {
			t.Errorf("(-long +short):\n%s", diff)
		}
		if n := strings.Count(short.String(), "\n"); n != 1 {
			t.Errorf("it has %d lines", n)
		}
		if strings.Contains(long.String(), "null") || strings.Contains(long.String(), "clusterAway") {
			t.Errorf("a list is missing, or the cluster away:\n%s", long.String())
		}
	}
}

package report_test

import (
	"context"
	"fmt"
	"maps"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/vpnctl/vpnctl/agent/report"
	"github.com/vpnctl/vpnctl/crds/admission"
	ipsecv1alpha1 "github.com/vpnctl/vpnctl/crds/ipsec/v1alpha1"
	vpnv1alpha1 "github.com/vpnctl/vpnctl/crds/vpn/v1alpha1"
)

// wire is a time as it comes back from the API.
func wire(t time.Time) *metav1.Time { return &metav1.Time{Time: t.Local()} }

var ready = []metav1.Condition{{Type: "Ready", Status: "True"}} // the controller's

// site has two of three subnets up; its figures are rounded to what the API holds.
var site = report.Peer{
	Name: "site", State: "ESTABLISHED", Up: 2, Expected: 3, Message: "TS_UNACCEPTABLE", Since: start.Add(999 * time.Millisecond),
	RekeyAt: start.Add(time.Hour), BytesIn: 1<<64 - 1, BytesOut: 7,
}

func TestVPNGatewayStatus(t *testing.T) {
	api := serve(t, fast, vpnGateway, "ina", "site")
	ina := up("ina")
	ina.LastHandshake = start.Add(time.Minute)
	if err := api.report(t, vpnGateway, ina, site); err != nil {
		t.Error(err)
	}
	api.shows(t, "ina=ESTABLISHED site=ESTABLISHED")
	var gateway vpnv1alpha1.VPNGatewayStatus
	eventually(t, func() (string, bool) {
		gateway = vpnv1alpha1.VPNGatewayStatus{}
		api.status(t, "vpngateways", "dc1", &gateway)
		return "no peers", len(gateway.Peers) > 0
	})
	want := vpnv1alpha1.VPNGatewayStatus{
		PeersUp: "1 of 2", WireGuardPublicKey: "gateway's", Conditions: ready,
		Peers: []vpnv1alpha1.PeerStatus{
			{Name: "ina", State: "ESTABLISHED", Up: "1 of 1", Since: wire(start), LastHandshake: wire(start.Add(time.Minute))},
			{Name: "site", State: "ESTABLISHED", Up: "2 of 3", Message: "TS_UNACCEPTABLE", Since: wire(start), RekeyAt: wire(start.Add(time.Hour)), BytesIn: 1<<63 - 1, BytesOut: 7},
		},
	}
	if diff := cmp.Diff(want, gateway); diff != "" {
		t.Errorf("gateway (-want +got)\n%s", diff)
	}
	var peer vpnv1alpha1.VPNPeerStatus
	api.status(t, "vpnpeers", "site", &peer)
	if diff := cmp.Diff(vpnv1alpha1.VPNPeerStatus{
		State: "ESTABLISHED", Up: "2 of 3", Message: "TS_UNACCEPTABLE", Since: wire(start), RekeyAt: wire(start.Add(time.Hour)),
		BytesIn: 1<<63 - 1, BytesOut: 7, Conditions: ready,
	}, peer); diff != "" {
		t.Errorf("peer (-want +got)\n%s", diff)
	}
	api.expected(t)
}

func TestIPsecGatewayStatus(t *testing.T) {
	api := serve(t, fast, ipsecGateway, "east", "west", "site")
	if err := api.report(t, ipsecGateway, site, down("east", "no answer"), report.Peer{Name: "west", State: report.StateUnknown, Expected: 1}); err != nil {
		t.Error(err)
	}
	want := ipsecv1alpha1.IPsecGatewayStatus{
		TunnelsUp: "0 of 3, 1 unknown", Conditions: ready,
		Tunnels: []ipsecv1alpha1.TunnelStatus{
			{Name: "site", State: "ESTABLISHED", Up: "2 of 3", Message: "TS_UNACCEPTABLE", Since: wire(start), RekeyAt: wire(start.Add(time.Hour)), BytesIn: 1<<63 - 1, BytesOut: 7},
			{Name: "east", State: "DOWN", Up: "0 of 1", Message: "no answer", Since: wire(start)},
			{Name: "west", State: "UNKNOWN"},
		},
	}
	eventually(t, func() (string, bool) {
		var got ipsecv1alpha1.IPsecGatewayStatus
		api.status(t, "ipsecgateways", "dc1", &got)
		diff := cmp.Diff(want, got)
		return diff, diff == ""
	})
	for _, r := range api.Requests() {
		if r.Resource != "ipsecgateways/status" {
			t.Errorf("%s %s %s: a tunnel has no object of its own", r.Verb, r.Resource, r.Name)
		}
	}
	api.expected(t)
}

// The API server accepts what is written, by its own code.
func TestStatusIsAdmitted(t *testing.T) {
	server, err := admission.New()
	if err != nil {
		t.Fatal(err)
	}
	api := serve(t, fast, vpnGateway, "ina")
	var checked atomic.Int32
	api.Admit(func(_, object map[string]any) error {
		checked.Add(1)
		only := map[string]any{"kind": object["kind"], "metadata": object["metadata"], "status": maps.Clone(object["status"].(map[string]any))}
		delete(only["status"].(map[string]any), "conditions") // the controller's
		for _, e := range server.Check(only, only) {
			if strings.HasPrefix(e.Field, "status") {
				return e
			}
		}
		return nil
	})
	if err := api.report(t, vpnGateway, up("ina")); err != nil {
		t.Error(err)
	}
	api.shows(t, "ina=ESTABLISHED")
	eventually(t, func() (string, bool) { return fmt.Sprint(checked.Load()), checked.Load() == 2 })
}

// What a peer no longer has is taken away.
func TestFieldsEnd(t *testing.T) {
	api := serve(t, fast, vpnGateway, "ina")
	full := site
	full.Name, full.LastHandshake = "ina", start
	api.report(t, vpnGateway, full)
	api.shows(t, "ina=ESTABLISHED")
	api.report(t, vpnGateway, report.Peer{Name: "ina", State: report.StateUnknown})
	api.shows(t, "ina=UNKNOWN")
	var got vpnv1alpha1.VPNPeerStatus
	api.status(t, "vpnpeers", "ina", &got)
	if diff := cmp.Diff(vpnv1alpha1.VPNPeerStatus{State: "UNKNOWN", Conditions: ready}, got); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
}

// A public key that isn't known at the moment stays published.
func TestPublicKeyStays(t *testing.T) {
	api := serve(t, fast, vpnGateway)
	for _, c := range []struct{ reported, want string }{{"one", "one"}, {"", "one"}, {"two", "two"}} {
		api.client.Report(t.Context(), report.Report{Gateway: vpnGateway, PublicKey: c.reported, Peers: []report.Peer{{Name: "p" + c.reported}}})
		eventually(t, func() (string, bool) {
			var got vpnv1alpha1.VPNGatewayStatus
			api.status(t, "vpngateways", "dc1", &got)
			return fmt.Sprint(got), got.WireGuardPublicKey == c.want && len(got.Peers) == 1 && got.Peers[0].Name == "p"+c.reported
		})
	}
}

// What the API shows already is not written, neither at the start nor later.
func TestNothingNewIsNotWritten(t *testing.T) {
	api := serve(t, fast, vpnGateway, "ina")
	api.report(t, vpnGateway, up("ina"))
	api.shows(t, "ina=ESTABLISHED")
	eventually(t, func() (string, bool) { return "patches", api.made("patch") == 2 })
	api.stop()
	patches := api.made("patch")
	again, err := report.Kubernetes(report.Server{URL: api.URL(), Directory: mount(t, api)}, fast)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	go again.Run(ctx)
	reads := api.made("get")
	for range 20 {
		again.Report(ctx, report.Report{Gateway: vpnGateway, PublicKey: "gateway's", Peers: []report.Peer{up("ina")}})
		time.Sleep(5 * time.Millisecond)
	}
	eventually(t, func() (string, bool) { return fmt.Sprint(api.made("get") - reads), api.made("get")-reads == 2 })
	if n := api.made("patch") - patches; n != 0 {
		t.Errorf("%d patches of what was there", n)
	}
}

func mount(t *testing.T, api *cluster) string {
	t.Helper()
	dir := t.TempDir()
	if err := api.account.Mount(dir); err != nil {
		t.Fatal(err)
	}
	return dir
}

// Counters alone wait for their time; a state takes the newest counters along.
func TestFiguresWait(t *testing.T) {
	pace := fast
	pace.Figures = 300 * time.Millisecond
	api := serve(t, pace, ipsecGateway, "ina")
	begin := time.Now()
	for i := 0; time.Since(begin) < 4*pace.Figures || api.made("patch") < 2; i++ {
		p := up("ina")
		p.BytesIn, p.RekeyAt = uint64(i), start.Add(time.Duration(i%5)*time.Second)
		api.report(t, ipsecGateway, p)
		time.Sleep(2 * time.Millisecond)
	}
	if got, most := api.made("patch"), int(time.Since(begin)/pace.Figures)+1; got > most {
		t.Errorf("%d patches in %s", got, time.Since(begin))
	}
	p := down("ina", "no answer")
	p.BytesIn = 99999
	api.report(t, ipsecGateway, p)
	eventually(t, func() (string, bool) {
		var got ipsecv1alpha1.IPsecGatewayStatus
		api.status(t, "ipsecgateways", "dc1", &got)
		return fmt.Sprint(got), len(got.Tunnels) == 1 && got.Tunnels[0].State == "DOWN" && got.Tunnels[0].BytesIn == 99999
	})
}

// A time that is computed anew each second is one time.
func TestJitterIsNotWritten(t *testing.T) {
	pace := fast
	pace.Figures = 10 * time.Millisecond
	api := serve(t, pace, ipsecGateway, "ina")
	for i := range 50 {
		p := up("ina")
		p.RekeyAt, p.Since = start.Add(time.Duration(i%3)*time.Second), start.Add(-time.Duration(i%3)*time.Second)
		api.report(t, ipsecGateway, p)
		time.Sleep(2 * time.Millisecond)
	}
	eventually(t, func() (string, bool) { return "not written", api.made("patch") > 0 })
	if got := api.made("patch"); got != 1 {
		t.Errorf("%d patches", got)
	}
}

// Reports come and go faster than they can be written: the last one is what counts,
// and one object isn't written more often than it may.
func TestStatesAreWrittenAtOnceButNotTooOften(t *testing.T) {
	pace := fast
	pace.Gap = 100 * time.Millisecond
	api := serve(t, pace, ipsecGateway, "ina")
	begin := time.Now()
	api.report(t, ipsecGateway, down("ina", ""))
	eventually(t, func() (string, bool) { return "not written", api.made("patch") == 1 })
	for i := range 100 {
		api.report(t, ipsecGateway, down("ina", fmt.Sprint(i)))
		time.Sleep(2 * time.Millisecond)
	}
	api.report(t, ipsecGateway, up("ina"))
	eventually(t, func() (string, bool) {
		var got ipsecv1alpha1.IPsecGatewayStatus
		api.status(t, "ipsecgateways", "dc1", &got)
		return fmt.Sprint(got), got.Tunnels[0].State == "ESTABLISHED"
	})
	if n, most := api.made("patch"), int(time.Since(begin)/pace.Gap)+1; n > most {
		t.Errorf("%d patches, at most %d fit", n, most)
	}
}

// An API that hangs holds up nobody who reports, and Run ends when it is told.
func TestReportNeverWaits(t *testing.T) {
	pace := fast
	pace.Call = time.Hour
	api := serve(t, pace, vpnGateway, "ina")
	api.Hang()
	for range 100 {
		begin := time.Now()
		api.report(t, vpnGateway, up("ina"))
		if took := time.Since(begin); took > time.Second {
			t.Fatalf("a report took %s", took)
		}
	}
	api.stop()
	if n := len(api.Requests()); n > 1 {
		t.Errorf("%d calls at a time", n)
	}
}

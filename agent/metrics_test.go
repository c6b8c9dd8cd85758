package agent

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/prometheus/client_golang/prometheus"

	"github.com/vpnctl/vpnctl/agent/vici/fakecharon"
	"github.com/vpnctl/vpnctl/agent/volume"
)

// metrics is a scrape.
func (r *rig) metrics() string {
	r.Helper()
	w := httptest.NewRecorder()
	r.loop.Handler().ServeHTTP(w, httptest.NewRequest(http.MethodGet, "/metrics", nil))
	if w.Code != http.StatusOK {
		r.Fatalf("the scrape: %d %s", w.Code, w.Body)
	}
	return w.Body.String()
}

// series are the lines of a scrape that begin like this.
func (r *rig) series(begin string) []string {
	r.Helper()
	var all []string
	for line := range strings.Lines(r.metrics()) {
		if strings.HasPrefix(line, begin) {
			all = append(all, strings.TrimSpace(line))
		}
	}
	return all
}

func TestProbes(t *testing.T) {
	r := newRig(t)
	get := func(path string) int {
		w := httptest.NewRecorder()
		r.loop.Handler().ServeHTTP(w, httptest.NewRequest(http.MethodGet, path, nil))
		return w.Code
	}
	expect := func(when string, health, ready int) {
		t.Helper()
		if h, d := get("/healthz"), get("/readyz"); h != health || d != ready {
			t.Errorf("%s: /healthz %d, /readyz %d, want %d, %d", when, h, d, health, ready)
		}
	}
	expect("at the start", 200, 503)
	r.tick()
	expect("without files", 200, 503)
	r.peer("ina")
	r.tick()
	expect("with files and charon", 200, 200)
	r.charon.Kill()
	r.tick()
	expect("without charon", 200, 503)
	r.now = r.now.Add(2 * r.loop.Stuck)
	expect("stuck", 503, 503)
}

func (r *rig) shows(begin string, want ...string) {
	r.Helper()
	if diff := cmp.Diff(want, r.series(begin)); diff != "" {
		r.Errorf("(-want +got)\n%s", diff)
	}
}

func TestASeriesForEveryExpectedTunnel(t *testing.T) {
	r := newRig(t)
	r.peer("ina", "ben")
	r.charon.Behave("ben", fakecharon.Peer{Notify: "NO_PROPOSAL_CHOSEN"})
	r.ticks(5)
	up := func(peer, tunnel, value string) string {
		return `vpnctl_tunnel_up{gateway="dc1",namespace="acme",peer="` + peer + `",tunnel="` + peer + "-" + tunnel + `"} ` + value
	}
	all := []string{
		up("ben", "10-0-2-0-24", "0"), up("ben", "10-0-3-0-24", "0"), up("ina", "10-0-0-0-24", "1"), up("ina", "10-0-1-0-24", "1"),
	}
	r.shows("vpnctl_tunnel_up{", all...)
	r.charon.Kill()
	r.ticks(11)
	r.shows("vpnctl_tunnel_up{", all...) // the last values, for a minute
	if n := len(r.series("vpnctl_tunnel_known{")); n != 4 {
		t.Errorf("%d tunnels are known or not", n)
	}
	for _, line := range r.series("vpnctl_tunnel_known{") {
		if !strings.HasSuffix(line, " 0") {
			t.Errorf("without charon: %s", line)
		}
	}
	r.ticks(3)
	r.shows("vpnctl_tunnel_up{")
	r.shows("strongswan_")
	r.must(r.charon.Start())
	r.ticks(5)
	r.shows("vpnctl_tunnel_up{", all...)
	r.shows("vpnctl_charon_reconnects_total", `vpnctl_charon_reconnects_total{gateway="dc1",namespace="acme"} 1`)
	r.drop("ben")
	r.tick()
	r.shows("vpnctl_tunnel_up{", all[2:]...)
}

// TestStrongswanSeries are named, labelled and valued as the exporter does it for which
// alerts were written.
func TestStrongswanSeries(t *testing.T) {
	r := newRig(t)
	r.peer("ina")
	r.settled()
	r.charon.Change(func(sas []fakecharon.SA) []fakecharon.SA {
		sas[0].Children[0].BytesIn, sas[0].Children[1].State = 1200, "REKEYING"
		return append(sas, fakecharon.SA{Connection: "ina", State: "CONNECTING"}, sas[0])
	})
	r.tick()
	labels := func(child, id, subnet string) string {
		return `child_id="` + id + `",child_name="` + child + `",ike_id="1",ike_name="ina",local_ts="100.64.3.0/24",remote_ts="` + subnet + `"} `
	}
	r.shows("strongswan_sa_status{",
		`strongswan_sa_status{`+labels("ina-10-0-0-0-24", "2", "10.0.0.0/24")+"0", `strongswan_sa_status{`+labels("ina-10-0-1-0-24", "3", "10.0.1.0/24")+"0")
	r.shows("strongswan_sa_inbound_bytes{",
		`strongswan_sa_inbound_bytes{`+labels("ina-10-0-0-0-24", "2", "10.0.0.0/24")+"1200", `strongswan_sa_inbound_bytes{`+labels("ina-10-0-1-0-24", "3", "10.0.1.0/24")+"0")
	r.shows("strongswan_ike_status{", `strongswan_ike_status{ike_id="1",ike_name="ina"} 1`, `strongswan_ike_status{ike_id="4",ike_name="ina"} 3`)
}

// TestWhatIsInForce: hashes and times of what is in force, and what stands in the way.
func TestWhatIsInForce(t *testing.T) {
	r := newRig(t)
	r.peer("ina")
	r.settled()
	of := `{gateway="dc1",namespace="acme"} `
	r.shows("vpnctl_config_in_force{", "vpnctl_config_in_force"+of+"1")
	r.shows("vpnctl_ruleset_info{", `vpnctl_ruleset_info{gateway="dc1",hash="abc",namespace="acme"} 1`)
	r.shows("vpnctl_reload_errors_total", errorsOf("dataplane", 0), errorsOf("status", 0))
	r.shows("vpnctl_peer_grants{", `vpnctl_peer_grants{direction="exposure",gateway="dc1",namespace="acme",peer="ina"} 1`,
		`vpnctl_peer_grants{direction="reverse",gateway="dc1",namespace="acme",peer="ina"} 0`)
	before, loaded := r.loop.want.hash, r.ids("ina")
	r.charon.Refuse("load-conn", "invalid value for: proposals, config discarded")
	r.edit("ina", mutations[4].edit)
	r.ticks(3)
	r.shows("vpnctl_config_in_force{", "vpnctl_config_in_force"+of+"0")
	r.shows("vpnctl_reload_errors_total", errorsOf("dataplane", 0), errorsOf("status", 1))
	r.shows(`vpnctl_problems{gateway="dc1",namespace="acme",part="charon"}`, `vpnctl_problems{gateway="dc1",namespace="acme",part="charon"} 1`)
	r.says("ina", "ESTABLISHED", 2, "invalid value for: proposals")
	if r.loop.want.hash == before || r.ids("ina") != loaded {
		t.Errorf("hash %s, SAs %s, were %s", r.loop.want.hash, r.ids("ina"), loaded)
	}
	r.charon.Refuse("load-conn", "")
	r.ticks(12)
	r.shows("vpnctl_config_in_force{", "vpnctl_config_in_force"+of+"1")
	r.mount(map[string]string{"agent.json": "{", "swanctl.conf": ""})
	r.ticks(3)
	r.says("ina", "ESTABLISHED", 2, "")
	r.shows("vpnctl_reload_errors_total", errorsOf("dataplane", 0), errorsOf("status", 2))
	r.shows(`vpnctl_problems{gateway="dc1",namespace="acme",part="config"}`, `vpnctl_problems{gateway="dc1",namespace="acme",part="config"} 1`)
}

// TestEveryMetricIsDescribed and keeps its kind, which a registry that is pedantic
// checks.
func TestEveryMetricIsDescribed(t *testing.T) {
	r := newRig(t)
	r.peer("ina")
	r.settled()
	registry := prometheus.NewPedanticRegistry()
	registry.MustRegister(Metrics{r.loop})
	families, err := registry.Gather()
	if err != nil {
		t.Fatal(err)
	}
	if len(families) < 25 {
		t.Errorf("only %d metrics", len(families))
	}
}

// errorsOf is the series of one half's failures.
func errorsOf(half string, n int) string {
	return fmt.Sprintf(`vpnctl_reload_errors_total{gateway="dc1",half="%s",namespace="acme"} %d`, half, n)
}

// A counter falls to nothing or not at all: one half's start takes nothing off what the
// other has counted, and neither does a moment without dataplane.json.
func TestReloadErrorsOfEachHalf(t *testing.T) {
	r := newRig(t)
	r.peer("ina")
	r.settled()
	r.must(r.loop.Volume.WriteDataplane(volume.Dataplane{Written: r.now, Ruleset: "abc", ReloadErrors: 3}))
	r.mount(map[string]string{"agent.json": "{", "swanctl.conf": ""})
	r.tick()
	r.shows("vpnctl_reload_errors_total", errorsOf("dataplane", 3), errorsOf("status", 1))
	r.restart()
	r.swap()
	r.ticks(2)
	r.shows("vpnctl_reload_errors_total", errorsOf("dataplane", 3), errorsOf("status", 0))
	r.must(os.Remove(filepath.Join(r.loop.Volume.Dir, "dataplane.json")))
	r.tick()
	r.shows("vpnctl_reload_errors_total", errorsOf("status", 0))
}

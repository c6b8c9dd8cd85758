package alerts

import (
	"encoding/json"
	"os"
	"strings"
	"testing"

	"github.com/prometheus/prometheus/promql/parser"
	"github.com/prometheus/prometheus/promql/promqltest"
)

// dashboard is what is checked of examples/monitoring/dashboard.json.
type dashboard struct {
	Panels []struct {
		ID      int
		Title   string
		Type    string
		GridPos struct{ X, Y, W, H int }
		Targets []struct{ Expr, LegendFormat string }
	}
}

// variables of Grafana, as it fills them in when everything is chosen.
var variables = strings.NewReplacer("$__rate_interval", "5m", "$namespace", ".*", "$gateway", ".*", "$peer", ".*")

// TestDashboard: every panel's query can be read, and shows something of a gateway with
// which not all is well.
func TestDashboard(t *testing.T) {
	data, err := os.ReadFile("../../examples/monitoring/dashboard.json")
	if err != nil {
		t.Fatal(err)
	}
	var d dashboard
	if err := json.Unmarshal(data, &d); err != nil {
		t.Fatal(err)
	}
	if len(d.Panels) < 10 {
		t.Fatalf("only %d panels", len(d.Panels))
	}
	from := promqltest.LoadedStorage(t, well(
		"vpnctl_problems 2x60", "vpnctl_peer_secret_missing 1x60", "vpnctl_initiates_total 0+1x60", "vpnctl_peer_received_bytes_total 0+9x60",
		"vpnctl_peer_rekey_seconds 60x60", "vpnctl_peer_handshake_age_seconds 60x60", "vpnctl_peer_established_seconds 60x60",
		"vpnctl_ruleset_info 1x60", "vpnctl_peer_grants 1x60", "vpnctl_peer_pending 1x60"))
	engine := promqltest.NewTestEngine(t, false, 0, 1e6)
	ids := map[int]bool{}
	for i, p := range d.Panels {
		if ids[p.ID] || p.GridPos.X+p.GridPos.W > 24 || len(p.Targets) == 0 {
			t.Errorf("%s: ID %d twice, or it doesn't fit %+v, or asks for nothing", p.Title, p.ID, p.GridPos)
		}
		ids[p.ID] = true
		for _, q := range d.Panels[:i] {
			a, b := p.GridPos, q.GridPos
			if a.X < b.X+b.W && b.X < a.X+a.W && a.Y < b.Y+b.H && b.Y < a.Y+a.H {
				t.Errorf("%s lies on %s", p.Title, q.Title)
			}
		}
		for _, target := range p.Targets {
			expr := variables.Replace(target.Expr)
			if _, err := parser.NewParser(parser.Options{}).ParseExpr(expr); err != nil || strings.Contains(expr, "$") {
				t.Errorf("%s: %s: %v", p.Title, target.Expr, err)
				continue
			}
			r := rule{Alert: p.Title, Expr: expr, For: "0s", Labels: map[string]string{"severity": "warning"}}
			if len(firing(t, engine, from, r, 30)) == 0 {
				t.Errorf("%s shows nothing: %s", p.Title, target.Expr)
			}
		}
	}
}

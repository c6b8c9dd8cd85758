package roster

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

var noon = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

func ago(d time.Duration) time.Time { return noon.Add(-d) }

// TestTunnel: a report is believed as long as it can be, and unknown is not down.
func TestTunnel(t *testing.T) {
	established := Report{State: "ESTABLISHED", Up: 1, Expected: 1, Since: ago(time.Hour), At: ago(30 * time.Minute)}
	with := func(r Report, edit func(*Report)) Report {
		edit(&r)
		return r
	}
	unavailable := func(since time.Time) Gateway {
		return Gateway{Manifest: Manifest{Conditions: []Condition{{Type: "DeploymentReady", Status: False, Reason: "DeploymentUnavailable", Since: since}}}}
	}
	for sentence, c := range map[string]struct {
		gateway Gateway
		report  Report
		want    Tunnel
	}{
		"all child SAs":                     {Gateway{}, established, Tunnel{Word: TunnelUp, Since: ago(time.Hour)}},
		"while it is rekeyed":               {Gateway{}, with(established, func(r *Report) { r.State = "REKEYING" }), Tunnel{Word: TunnelUp, Since: ago(time.Hour)}},
		"some of them":                      {Gateway{}, with(established, func(r *Report) { r.Expected = 3 }), Tunnel{Word: TunnelPart, Since: ago(time.Hour)}},
		"an IKE SA without any":             {Gateway{}, with(established, func(r *Report) { r.Up = 0 }), Tunnel{Word: TunnelDown, Since: ago(time.Hour)}},
		"nothing is expected, and it's up":  {Gateway{}, Report{State: "ESTABLISHED"}, Tunnel{Word: TunnelUp}},
		"nothing is expected, and it isn't": {Gateway{}, Report{State: "DOWN"}, Tunnel{Word: TunnelDown}},
		"it negotiates":                     {Gateway{}, Report{State: "CONNECTING", Expected: 1}, Tunnel{Word: TunnelConnecting}},
		"nothing was reported":              {Gateway{}, Report{}, Tunnel{Word: NotKnown, Message: "its pod has reported nothing yet"}},
		"the data plane doesn't answer": {Gateway{}, Report{State: "UNKNOWN", Message: "charon doesn't answer", Since: ago(time.Minute)},
			Tunnel{Word: NotKnown, Message: "charon doesn't answer", Since: ago(time.Minute)}},
		"the pod isn't available since": {unavailable(ago(20 * time.Minute)), established,
			Tunnel{Word: NotKnown, Since: ago(30 * time.Minute), Stale: true, Message: "no report since its pod isn't available; the last report said up"}},
		"the pod isn't available, and reports": {unavailable(ago(40 * time.Minute)), established, Tunnel{Word: TunnelUp, Since: ago(time.Hour)}},
		"the pod reports of others":            {func() Gateway { g := unavailable(ago(20 * time.Minute)); g.Reported = ago(time.Minute); return g }(), established, Tunnel{Word: TunnelUp, Since: ago(time.Hour)}},
		"its gateway is being deleted": {Gateway{Manifest: Manifest{Deleting: ago(time.Minute)}}, with(established, func(r *Report) { r.Up = 0 }),
			Tunnel{Word: NotKnown, Since: ago(30 * time.Minute), Stale: true, Message: "no report since its gateway is being deleted; the last report said down"}},
		"a rekey is just due":           {Gateway{}, with(established, func(r *Report) { r.RekeyAt = ago(9 * time.Minute) }), Tunnel{Word: TunnelUp, Since: ago(time.Hour)}},
		"a rekey is long due":           {Gateway{}, with(established, func(r *Report) { r.RekeyAt = ago(11 * time.Minute) }), Tunnel{Word: NotKnown, Since: ago(30 * time.Minute), Stale: true, Message: "no report since a rekey was due; the last report said up"}},
		"a rekey is long due, and down": {Gateway{}, with(established, func(r *Report) { r.Up, r.RekeyAt = 0, ago(time.Hour) }), Tunnel{Word: TunnelDown, Since: ago(time.Hour)}},
		"a handshake is long due":       {Gateway{}, with(established, func(r *Report) { r.LastHandshake = ago(14 * time.Minute) }), Tunnel{Word: NotKnown, Since: ago(30 * time.Minute), Stale: true, Message: "no report since a handshake was due; the last report said up"}},
		"but the pod has written since": {Gateway{Reported: ago(30 * time.Second)}, with(established, func(r *Report) { r.LastHandshake = ago(14 * time.Minute) }), Tunnel{Word: TunnelUp, Since: ago(time.Hour)}},
		"a handshake is still young":    {Gateway{}, with(established, func(r *Report) { r.LastHandshake = ago(12 * time.Minute) }), Tunnel{Word: TunnelUp, Since: ago(time.Hour)}},
	} {
		if diff := cmp.Diff(c.want, c.gateway.Tunnel(Peer{Report: c.report}, noon)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", sentence, diff)
		}
	}
}

// TestNewer: of a peer's own status and its gateway's the later counts, in whichever
// order they were written.
func TestNewer(t *testing.T) {
	up := Report{State: "ESTABLISHED", Since: ago(time.Hour), In: 5, At: ago(time.Minute)}
	down := Report{State: "DOWN", Since: ago(time.Second), At: ago(time.Second)}
	calm := Report{State: "ESTABLISHED", Since: ago(time.Hour), At: ago(time.Second)}
	for sentence, c := range map[string]struct{ own, gateways, want Report }{
		"the gateway's is later":        {up, down, down},
		"its own is later":              {down, up, down},
		"both say one state":            {up, calm, Report{State: "ESTABLISHED", Since: ago(time.Hour), In: 5, At: ago(time.Second)}},
		"only the gateway's is there":   {Report{}, up, up},
		"only its own is there":         {up, Report{At: ago(2 * time.Hour)}, up},
		"neither is there, but touched": {Report{}, Report{At: ago(time.Hour)}, Report{At: ago(time.Hour)}},
	} {
		if diff := cmp.Diff(c.want, Newer(c.own, c.gateways)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", sentence, diff)
		}
	}
}

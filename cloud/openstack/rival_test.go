package openstack

import (
	"context"
	"errors"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/vpnctl/vpnctl/cloud"
	"github.com/vpnctl/vpnctl/cloud/simulator"
	"github.com/vpnctl/vpnctl/plan"
	"github.com/vpnctl/vpnctl/plan/resource"
	"github.com/vpnctl/vpnctl/state"
)

// Runs that no lock keeps apart make one port and attach one, whether their ports
// are of one second or of several.
func TestRunsWithoutALockMakeOnePort(t *testing.T) {
	for name, step := range map[string]int64{"of one second": 0, "of several": 1} {
		t.Run(name, func(t *testing.T) {
			for round := range 20 {
				var seconds atomic.Int64
				l := newLab(t, simulator.Options{Clock: func() time.Time { return time.Unix(1_800_000_000+seconds.Add(step), 0) }})
				w := newWish(l)
				o := l.look(keep, w)
				errs := make([]error, 3)
				var all sync.WaitGroup
				ready := l.ready(t, w, len(errs))
				for i := range errs {
					all.Go(func() {
						_, errs[i] = ready[i].Apply(t.Context(), change(o, w, resource.KindPort, plan.Create))
					})
				}
				all.Wait()
				for _, err := range errs {
					if err != nil && !errors.Is(err, cloud.ErrConflict) {
						t.Errorf("round %d: %v", round, err)
					}
				}
				ports, attached := l.madePorts()
				if ports != 1 || attached > 1 {
					t.Fatalf("round %d: %d ports, %d attached, errors %v", round, ports, attached, errs)
				}
				l.settle(keep, w)
				if ports, attached := l.madePorts(); ports != 1 || attached != 1 {
					t.Fatalf("round %d: %d ports, %d attached in the end", round, ports, attached)
				}
			}
		})
	}
}

// ready are drivers that have seen the estate, with the gateway's group in place.
// A second is a hundredth for them.
func (l *lab) ready(t *testing.T, w wish, n int) []*Driver {
	t.Helper()
	claim(t, l.connect("operator"), w)
	var all []*Driver
	for range n {
		d := l.connect("operator")
		if _, err := d.Observe(t.Context(), estate(w), keep); err != nil {
			t.Fatal(err)
		}
		d.clock.Sleep = func(ctx context.Context, d time.Duration) error { // long enough for the others to be seen
			time.Sleep(d / 100)
			return ctx.Err()
		}
		all = append(all, d)
	}
	return all
}

// madePorts counts the ports of gateways.
func (l *lab) madePorts() (all, attached int) {
	for _, p := range l.of("port") {
		if strings.HasPrefix(p.Text("name"), "vpnctl-acme") {
			all++
			if p.Text("device_id") != "" {
				attached++
			}
		}
	}
	return all, attached
}

// The younger of two ports goes, also while the older one has no tags yet, and its
// run says so.
func TestTheYoungerPortGivesWay(t *testing.T) {
	var seconds atomic.Int64
	l := newLab(t, simulator.Options{Clock: func() time.Time { return time.Unix(1_800_000_000+seconds.Add(1), 0) }})
	w := newWish(l)
	o := l.look(keep, w)
	d, h := l.ready(t, w, 1)[0], l.hand()
	elder := ""
	l.fault = func(_ int, r *http.Request) simulator.Fault {
		if elder == "" && r.Method == http.MethodPost && strings.HasSuffix(r.URL.Path, "/ports") {
			elder = "being made"
			seconds.Add(-100) // this call has begun, and was given its time
			elder = h.post("port", portsPath, map[string]any{"network_id": o.Facts.NetworkID, "name": state.Name(w.owner),
				"description": state.Description("prod", w.owner)})
			seconds.Add(100)
		}
		return simulator.Fault{}
	}
	_, err := d.Apply(t.Context(), change(o, w, resource.KindPort, plan.Create))
	if !errors.Is(err, cloud.ErrConflict) || !strings.Contains(err.Error(), "another run made port "+elder) {
		t.Errorf("error %v", err)
	}
	if ports, attached := l.madePorts(); ports != 1 || attached != 0 {
		t.Errorf("%d ports, %d attached; want the older one", ports, attached)
	}
}

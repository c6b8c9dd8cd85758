package openstack

import (
	"context"
	"errors"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/vpnctl/vpnctl/cloud"
	"github.com/vpnctl/vpnctl/cloud/simulator"
	"github.com/vpnctl/vpnctl/plan"
	"github.com/vpnctl/vpnctl/plan/resource"
)

// The ways of attaching that don't go straight.
func TestAttachmentFindsItsWay(t *testing.T) {
	attaching := func(r *http.Request) bool {
		return r.Method == http.MethodPost && strings.HasSuffix(r.URL.Path, "/os-interface")
	}
	for name, fault := range map[string]func(n int, r *http.Request) simulator.Fault{
		"the new server busy for a while":                failing(3, attaching, simulator.Fault{Do: simulator.Fail, Status: 409}),
		"the old server busy for a while":                failing(3, detaching, simulator.Fault{Do: simulator.Fail, Status: 409}),
		"done, and answered with an error":               failing(1, attaching, simulator.Fault{Do: simulator.Drop}),
		"a server that does not exist any more holds it": failing(1, detaching, simulator.Fault{Do: simulator.Fail, Status: 404}),
	} {
		t.Run(name, func(t *testing.T) {
			l, _, _ := built(t)
			w := gatewayWish("dc1", "100.64.3.0/24", l.node("worker-2"))
			d := l.connect("operator")
			l.fault = fault
			if _, err := runWith(t.Context(), d, keep, w); err != nil {
				t.Fatal(err)
			}
			l.heal()
			if got := l.look(keep, w).Graph[idOf(resource.KindPort, w.owner)].Port.Server; got != w.server {
				t.Errorf("on %s, want %s", got, w.server)
			}
		})
	}
}

// A server that the Estate names and the project doesn't have is told with the field
// that names it, and is no reason to try again.
func TestAttachingToNoServerNamesTheField(t *testing.T) {
	l := newLab(t, simulator.Options{})
	w := gatewayWish("dc1", "100.64.3.0/24", "11111111-2222-3333-4444-555555555555")
	_, err := runWith(t.Context(), l.connect("operator"), keep, w)
	if !errors.Is(err, cloud.ErrUnresolved) || !strings.Contains(err.Error(), "spec.kubernetes.nodes: ") || !strings.Contains(err.Error(), w.server) {
		t.Errorf("error %v", err)
	}
	w.server = l.node("worker-1")
	if _, err := runWith(t.Context(), l.connect("operator"), keep, w); err != nil {
		t.Errorf("with a server that is there: %v", err)
	}
}

// Before a gateway that runs is taken from its server, the one that it is to go to
// is looked for: a plan refuses what isn't there, and so does the driver.
func TestAGatewayIsNotDetachedForAServerThatIsNotThere(t *testing.T) {
	l, _, w := built(t)
	standing := l.snapshot()
	there, missing := w, w
	there.server, missing.server = l.node("worker-2"), "11111111-2222-3333-4444-555555555555"
	d := l.connect("operator")
	o, err := d.Observe(t.Context(), estate(w), keep)
	if err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		to       wish
		calls    int
		refusals int
	}{
		"where it is":          {w, 0, 0},
		"a server that is":     {there, 1, 0},
		"a server that is not": {missing, 1, 1},
	} {
		desired := resource.Graph{}
		desired.Add(c.to.desired(o.Facts)...)
		l.Reset()
		got, err := d.Obstacles(t.Context(), desired, o.Graph)
		if err != nil || len(got) != c.refusals || len(l.Calls()) != c.calls {
			t.Errorf("%s: refusals %v, error %v, %d calls", name, got, err, len(l.Calls()))
		}
		for _, r := range got {
			if r.Owner != w.owner || !strings.Contains(r.Message, "spec.kubernetes.nodes: ") || !strings.Contains(r.Message, missing.server) {
				t.Errorf("%s: %+v", name, r)
			}
		}
	}
	missing.ledger.ServiceCIDR = cidr("100.64.9.0/24") // its pairs are to change as well
	for _, a := range []plan.Action{plan.Update, plan.Replace} {
		if _, err := d.Apply(t.Context(), change(o, missing, resource.KindPort, a)); !errors.Is(err, cloud.ErrUnresolved) {
			t.Errorf("%s: error %v", a, err)
		}
	}
	if diff := cmp.Diff(standing, l.snapshot()); diff != "" {
		t.Errorf("(-before +after):\n%s", diff)
	}
}

// failing disturbs the first calls of one kind; -1: all of them.
func failing(times int, which func(*http.Request) bool, f simulator.Fault) func(int, *http.Request) simulator.Fault {
	return func(_ int, r *http.Request) simulator.Fault {
		if !which(r) || times == 0 {
			return simulator.Fault{}
		}
		times--
		return f
	}
}

func detaching(r *http.Request) bool {
	return r.Method == http.MethodDelete && strings.Contains(r.URL.Path, "/os-interface/")
}

func TestDetachingEndsWithPatience(t *testing.T) {
	for name, c := range map[string]struct {
		cloud simulator.Options
		fault simulator.Fault
		says  string
	}{
		"a server that is locked says so": {simulator.Options{},
			simulator.Fault{Do: simulator.Fail, Status: 409, Message: "Instance worker-1 is locked"}, "409 conflictingRequest: Instance worker-1 is locked"},
		"a server that never lets go": {simulator.Options{DetachDelay: time.Hour}, simulator.Fault{}, "still attached after 2m0s"},
	} {
		t.Run(name, func(t *testing.T) {
			l := newLab(t, c.cloud)
			w := gatewayWish("dc1", "100.64.3.0/24", l.node("worker-1"))
			l.settle(keep, w)
			d := l.connect("operator")
			l.fault = failing(-1, detaching, c.fault)
			_, err := runWith(t.Context(), d, keep, gatewayWish("dc1", "100.64.3.0/24", l.node("worker-2")))
			if err == nil || !strings.Contains(err.Error(), c.says) {
				t.Errorf("error %v, want %q", err, c.says)
			}
			if got := l.look(keep, w).Graph[idOf(resource.KindPort, w.owner)].Port.Server; got != w.server {
				t.Errorf("on %s, want still %s", got, w.server)
			}
		})
	}
}

// A stop during the wait for Nova ends it after one more look; what Nova was asked
// for is not asked for again, and the next run goes on from there.
func TestAStopEndsTheWaitForNova(t *testing.T) {
	attaching := func(r *http.Request) bool {
		return r.Method == http.MethodPost && strings.HasSuffix(r.URL.Path, "/os-interface")
	}
	busy := simulator.Fault{Do: simulator.Fail, Status: 409, Message: "Instance worker-1 is locked"}
	for name, c := range map[string]struct {
		cloud simulator.Options
		fault func(int, *http.Request) simulator.Fault
		asked func(*http.Request) bool
		last  string // what Nova said last
	}{
		"for a server that lets go":         {simulator.Options{DetachDelay: time.Hour}, nil, detaching, "still attached"},
		"for a server that can't yet":       {simulator.Options{}, failing(-1, detaching, busy), detaching, "Instance worker-1 is locked"},
		"for a server that takes it, later": {simulator.Options{}, failing(-1, attaching, busy), attaching, "Instance worker-1 is locked"},
	} {
		t.Run(name, func(t *testing.T) {
			l := newLab(t, c.cloud)
			w := gatewayWish("dc1", "100.64.3.0/24", l.node("worker-1"))
			l.settle(keep, w)
			d, stop, asked := l.connect("operator"), make(chan struct{}), 0
			d.http.stop = stop
			d.http.clock.Sleep = func(ctx context.Context, _ time.Duration) error {
				close(stop) // a second wait would close it again
				<-ctx.Done()
				return ctx.Err()
			}
			l.fault = func(n int, r *http.Request) simulator.Fault {
				if c.asked(r) {
					asked++
				}
				if c.fault == nil {
					return simulator.Fault{}
				}
				return c.fault(n, r)
			}
			w.server = l.node("worker-2")
			_, err := runWith(t.Context(), d, keep, w)
			if !errors.Is(err, errStopping) || !strings.Contains(err.Error(), c.last) {
				t.Errorf("error %v, want the stop after %q", err, c.last)
			}
			if asked > 2 {
				t.Errorf("Nova was asked %d times", asked)
			}
		})
	}
}

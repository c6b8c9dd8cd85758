package cloud

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/vpnctl/vpnctl/plan"
	"github.com/vpnctl/vpnctl/plan/resource"
	"github.com/vpnctl/vpnctl/plan/vpn"
)

// recorder is a driver that notes what it is asked to do and fails on request.
type recorder struct {
	mu    sync.Mutex
	done  []string
	fail  map[string]error
	hook  func(id string)
	facts map[string]resource.GatewayFacts
	saw   map[string]plan.Change
}

func (r *recorder) Observe(context.Context, vpn.Estate, Scope) (*Observation, error) {
	return nil, errors.New("not asked")
}

func (r *recorder) Handles(resource.Kind) bool { return true }

func (r *recorder) Apply(_ context.Context, c plan.Change) (resource.GatewayFacts, error) {
	if r.hook != nil {
		r.hook(c.ID.String())
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if err := r.fail[c.ID.String()]; err != nil {
		return resource.GatewayFacts{}, err
	}
	r.done = append(r.done, c.ID.String())
	if r.saw != nil {
		r.saw[c.ID.String()] = c
	}
	return r.facts[c.ID.String()], nil
}

func id(kind resource.Kind, name string) resource.ID {
	return resource.ID{Kind: kind, Namespace: "acme", Name: name}
}

// chain is a gateway built from nothing: group, port, route.
func chain(name string, extra ...resource.ID) []plan.Change {
	owner := vpn.Owner{Kind: vpn.KindVPNGateway, Namespace: "acme", Name: name}
	sg := plan.Change{ID: id(resource.KindSecurityGroup, name), Owner: owner, Action: plan.Create, Needs: extra,
		After: &resource.Resource{ID: id(resource.KindSecurityGroup, name), SecurityGroup: &resource.SecurityGroup{}}}
	port := plan.Change{ID: id(resource.KindPort, name), Owner: owner, Action: plan.Create, Needs: []resource.ID{sg.ID},
		After: &resource.Resource{ID: id(resource.KindPort, name), Port: &resource.Port{}}}
	route := plan.Change{ID: id(resource.KindRoute, name), Owner: owner, Action: plan.Create, Needs: []resource.ID{port.ID},
		After: &resource.Resource{ID: id(resource.KindRoute, name), Route: &resource.Route{NextHop: resource.Unknown}}}
	return []plan.Change{sg, port, route}
}

func TestLedgersComeBeforeAllElse(t *testing.T) {
	p := plan.Plan{Changes: slices.Concat(chain("a"), chain("b"), chain("c"))}
	for parallelism := 1; parallelism <= 4; parallelism++ {
		d := &recorder{}
		report := Apply(t.Context(), p, Execution{Drivers: []Driver{d}, Parallelism: parallelism})
		if err := report.Err(); err != nil {
			t.Fatal(err)
		}
		if len(d.done) != 9 {
			t.Fatalf("did %d changes, want 9: %v", len(d.done), d.done)
		}
		for i, what := range d.done {
			if group := strings.HasPrefix(what, string(resource.KindSecurityGroup)); group != (i < 3) {
				t.Errorf("parallelism %d: %s was done as number %d", parallelism, what, i)
			}
		}
	}
}

func TestOneAtATimeFollowsThePlan(t *testing.T) {
	d := &recorder{}
	Apply(t.Context(), plan.Plan{Changes: slices.Concat(chain("a"), chain("b"))}, Execution{Drivers: []Driver{d}, Parallelism: 1})
	want := []string{
		"openstack.security-group/acme/a", "openstack.security-group/acme/b",
		"openstack.port/acme/a", "openstack.route/acme/a", "openstack.port/acme/b", "openstack.route/acme/b",
	}
	if !slices.Equal(d.done, want) {
		t.Errorf("order %v, want %v", d.done, want)
	}
}

func TestAFailureBlocksOnlyWhatNeedsIt(t *testing.T) {
	boom := errors.New("boom")
	d := &recorder{fail: map[string]error{"openstack.port/acme/a": boom}}
	report := Apply(t.Context(), plan.Plan{Changes: slices.Concat(chain("a"), chain("b"))}, Execution{Drivers: []Driver{d}})
	if !errors.Is(report.Err(), boom) {
		t.Errorf("error %v, want boom", report.Err())
	}
	if len(report.With(Done)) != 4 || len(report.With(Failed)) != 1 || len(report.With(Skipped)) != 1 {
		t.Errorf("done %d, failed %d, skipped %d; want 4, 1, 1", len(report.With(Done)), len(report.With(Failed)), len(report.With(Skipped)))
	}
	if slices.Contains(d.done, "openstack.route/acme/a") {
		t.Error("the route was made although its port was not")
	}
}

func TestASuccessorWaitsForItsPredecessor(t *testing.T) {
	old := chain("old")
	for i := range old {
		old[i].Action, old[i].Needs = plan.Delete, nil
		old[i].Before, old[i].After = old[i].After, nil
	}
	next := chain("a-next", old[0].ID) // sorts first, yet has to wait
	for range 20 {
		d := &recorder{}
		report := Apply(t.Context(), plan.Plan{Changes: slices.Concat(next, old)}, Execution{Drivers: []Driver{d}, Parallelism: 2})
		if err := report.Err(); err != nil {
			t.Fatal(err)
		}
		if slices.Index(d.done, "openstack.security-group/acme/a-next") < slices.Index(d.done, "openstack.security-group/acme/old") {
			t.Fatalf("the successor came first: %v", d.done)
		}
	}
}

func TestWhatIsLearntIsRendered(t *testing.T) {
	d := &recorder{saw: map[string]plan.Change{}, facts: map[string]resource.GatewayFacts{"openstack.port/acme/a": {PortID: "p1"}}}
	report := Apply(t.Context(), plan.Plan{Changes: chain("a")}, Execution{Drivers: []Driver{d},
		Render: func(_ vpn.Owner, news resource.GatewayFacts) (resource.Graph, error) {
			g := resource.Graph{}
			g.Add(resource.Resource{ID: id(resource.KindRoute, "a"), Route: &resource.Route{NextHop: news.PortID}})
			return g, nil
		}})
	if err := report.Err(); err != nil {
		t.Fatal(err)
	}
	if hop := d.saw["openstack.route/acme/a"].After.Route.NextHop; hop != "p1" {
		t.Errorf("the route was made with next hop %q, want what the port's create returned", hop)
	}
	if learnt := report.Learnt[chain("a")[0].Owner].PortID; learnt != "p1" {
		t.Errorf("the report has learnt port %q", learnt)
	}
}

func TestStopFinishesWhatIsInFlight(t *testing.T) {
	stop := make(chan struct{})
	d := &recorder{}
	d.hook = func(id string) {
		if id == "openstack.port/acme/a" {
			close(stop)
		}
	}
	report := Apply(t.Context(), plan.Plan{Changes: chain("a")}, Execution{Drivers: []Driver{d}, Stop: stop})
	if !errors.Is(report.Err(), ErrStopped) {
		t.Errorf("error %v, want ErrStopped", report.Err())
	}
	if want := []string{"openstack.security-group/acme/a", "openstack.port/acme/a"}; !slices.Equal(d.done, want) {
		t.Errorf("done %v, want %v", d.done, want)
	}
}

func TestALostClaimStopsItsOwnerAlone(t *testing.T) {
	d := &recorder{}
	p := plan.Plan{Changes: slices.Concat(chain("a"), chain("b"))}
	report := Apply(t.Context(), p, Execution{Drivers: []Driver{d},
		Recheck: func(_ context.Context, owners []vpn.Owner) (map[vpn.Owner]string, error) {
			if len(owners) != 2 {
				return nil, fmt.Errorf("asked for %v", owners)
			}
			return map[vpn.Owner]string{owners[0]: "100.64.0.0/24 was claimed by other/x before"}, nil
		}})
	if !errors.Is(report.Err(), ErrConflict) {
		t.Errorf("error %v, want ErrConflict", report.Err())
	}
	want := []string{"openstack.security-group/acme/a", "openstack.security-group/acme/b", "openstack.port/acme/b", "openstack.route/acme/b"}
	if slices.Sort(d.done); !slices.Equal(d.done, slices.Sorted(slices.Values(want))) {
		t.Errorf("done %v, want %v", d.done, want)
	}
}

func TestACancelledRunSaysWhy(t *testing.T) {
	lost := errors.New("the lock was lost")
	ctx, cancel := context.WithCancelCause(t.Context())
	d := &recorder{}
	d.hook = func(string) { cancel(lost) }
	report := Apply(ctx, plan.Plan{Changes: chain("a")}, Execution{Drivers: []Driver{d}})
	if !errors.Is(report.Err(), lost) {
		t.Errorf("error %v, want the cause", report.Err())
	}
}

package openstack

import (
	"net/http"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/vpnctl/vpnctl/cloud/simulator"
	"github.com/vpnctl/vpnctl/plan/resource"
	"github.com/vpnctl/vpnctl/state"
)

// unfiltered asks for every project's objects, whatever project was asked for.
type unfiltered struct{ next http.RoundTripper }

func (u unfiltered) RoundTrip(r *http.Request) (*http.Response, error) {
	r = r.Clone(r.Context())
	q := r.URL.Query()
	q.Del("project_id")
	r.URL.RawQuery = q.Encode()
	return u.next.RoundTrip(r)
}

// everywhere logs in with a credential that sees all projects, to a cloud whose
// lists show all that it sees.
func (l *lab) everywhere() *Driver {
	l.t.Helper()
	c, err := l.Credentials("http://simulator.invalid", "operator-admin")
	if err != nil {
		l.t.Fatal(err)
	}
	d, err := Connect(l.t.Context(), Options{
		Env:       func(key string) string { return c.Env[key] },
		Transport: unfiltered{simulator.Transport(l.Server)},
		Clock:     hasty(),
	})
	if err != nil {
		l.t.Fatal(err)
	}
	return d
}

// imitate has a customer make in the customer's project what carries all our
// marks: tags, names and descriptions.
func (l *lab) imitate(w wish) {
	customer := hand{l, l.connect("customer")}
	name, description := state.Name(w.owner), state.Description("prod", w.owner)
	pools, err := customer.networksNamed(l.t.Context(), []string{"public"})
	if err != nil {
		l.t.Fatal(err)
	}
	network := customer.post("network", "networks", map[string]any{"name": "theirs"})
	customer.post("subnet", "subnets", map[string]any{"network_id": network, "ip_version": 4, "cidr": "192.168.50.0/24"})
	for _, tagged := range []bool{true, false} {
		group := customer.post("security_group", groupsPath, map[string]any{"name": name, "description": description})
		port := customer.post("port", portsPath, map[string]any{"name": name, "description": description, "network_id": network, "security_groups": []string{group}})
		float := customer.post("floatingip", floatsPath, map[string]any{"floating_network_id": pools[0].ID, "description": description})
		router := customer.post("router", routersPath, map[string]any{"name": "gateway-router"})
		if tagged {
			customer.retag(groupsPath, group, state.LedgerTags(w.ledger)...)
			for path, id := range map[string]string{portsPath: port, floatsPath: float, routersPath: router} {
				customer.retag(path, id, state.Tags("prod", w.owner)...)
			}
		}
	}
}

// Ours are our tags and our project: what carries our marks in another project is
// neither seen nor touched, also with a credential that sees it.
func TestOurMarksInAnotherProject(t *testing.T) {
	w := func(l *lab) wish { return gatewayWish("dc1", "100.64.3.0/24", l.node("worker-1")) }
	live := func(t *testing.T, others bool) (*lab, []simulator.Object) {
		l := newLab(t, simulator.Options{})
		if others {
			l.imitate(w(l))
		}
		return l, l.theirs()
	}
	seen := func(l *lab) []string {
		o, err := l.everywhere().Observe(t.Context(), estate(w(l)), prune)
		if err != nil {
			t.Fatal(err)
		}
		var all []string
		for _, id := range o.Graph.IDs() {
			all = append(all, id.String())
		}
		for _, c := range o.Claims {
			all = append(all, c.By)
		}
		for _, p := range o.Problems {
			all = append(all, p.Message)
		}
		return all
	}
	l, before := live(t, true)
	alone, _ := live(t, false)
	if diff := cmp.Diff(seen(alone), seen(l)); diff != "" {
		t.Errorf("observed before anything is made (-alone +beside others):\n%s", diff)
	}
	for _, on := range []*lab{alone, l} {
		for _, wishes := range [][]wish{{w(on)}, {gatewayWish("dc1", "100.64.9.0/24", on.node("worker-2"))}, {w(on)}} {
			if _, err := runWith(t.Context(), on.everywhere(), prune, wishes...); err != nil {
				t.Fatal(err)
			}
		}
	}
	if diff := cmp.Diff(seen(alone), seen(l)); diff != "" {
		t.Errorf("observed of what was made (-alone +beside others):\n%s", diff)
	}
	for range 2 {
		if _, err := runWith(t.Context(), l.everywhere(), prune); err != nil {
			t.Fatal(err)
		}
	}
	if diff := cmp.Diff(before, l.theirs()); diff != "" {
		t.Errorf("the customer's objects (-before +after):\n%s", diff)
	}
	if o := l.look(prune); len(o.Graph) > 0 {
		t.Errorf("left over: %v", o.Graph.IDs())
	}
}

// The same tags on a port of the customer's that stands in our network are not
// our port: it is neither deleted nor led to.
func TestVerbsLookAtTheProject(t *testing.T) {
	l, _, w := built(t)
	l.imitate(w)
	var theirs string
	for _, p := range l.theirs() {
		if p.Kind == "port" && len(p.Tags()) > 0 {
			theirs = p.ID
		}
	}
	d := l.everywhere()
	o, err := d.Observe(t.Context(), estate(w), keep)
	if err != nil {
		t.Fatal(err)
	}
	c := change(o, w, resource.KindPort, "delete")
	c.Before.Ref = theirs
	before := l.snapshot()
	if _, err := d.Apply(t.Context(), c); err == nil {
		t.Error("a port of another project was deleted")
	}
	if diff := cmp.Diff(before, l.snapshot()); diff != "" {
		t.Errorf("(-before +after):\n%s", diff)
	}
}

// theirs are the customer's objects.
func (l *lab) theirs() []simulator.Object {
	l.t.Helper()
	c, err := l.Credentials("http://simulator.invalid", "customer")
	if err != nil {
		l.t.Fatal(err)
	}
	s, err := l.Snapshot()
	if err != nil {
		l.t.Fatal(err)
	}
	return s.Only(func(o simulator.Object) bool { return o.Text("project_id") == c.ProjectID })
}

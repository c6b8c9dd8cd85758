package kube_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/vpnctl/vpnctl/cloud/simulator"
	"github.com/vpnctl/vpnctl/plan"
	"github.com/vpnctl/vpnctl/plan/vpn"
	"github.com/vpnctl/vpnctl/state"
)

// hand is somebody with the operator's login at the simulated cloud.
type hand struct {
	*world
	token string
}

const networking = "http://simulator.invalid/network/v2.0/"

func newHand(w *world) hand {
	w.t.Helper()
	c, err := w.sim.Credentials("http://simulator.invalid", "operator")
	if err != nil {
		w.t.Fatal(err)
	}
	answer := hand{world: w}.send(http.MethodPost, c.AuthURL+"/auth/tokens", fmt.Sprintf(
		`{"auth": {"identity": {"methods": ["application_credential"], "application_credential": {"id": %q, "secret": %q}}}}`, c.CredentialID, c.Secret))
	return hand{w, answer.Header.Get("X-Subject-Token")}
}

func (h hand) send(method, url, body string) *http.Response {
	h.t.Helper()
	r, err := http.NewRequestWithContext(h.t.Context(), method, url, bytes.NewReader([]byte(body)))
	if err != nil {
		h.t.Fatal(err)
	}
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("X-Auth-Token", h.token)
	answer, err := simulator.Transport(h.sim).RoundTrip(r)
	if err != nil {
		h.t.Fatal(err)
	}
	if answer.Body.Close(); answer.StatusCode >= http.StatusBadRequest {
		h.t.Fatalf("%s %s: %s", method, url, answer.Status)
	}
	return answer
}

// handedOver is a world in which an operator has made both sides of the estate's only
// gateway, and told so in the status.
func handedOver(t *testing.T, e vpn.Estate, open opening) *world {
	t.Helper()
	w := operated(t, e, open)
	h, o := newHand(w), e.Gateways[0].Owner
	cr := w.on.Get(o.Kind, o.Namespace, o.Name)
	tags, err := json.Marshal(map[string]any{"tags": []string{"vpn.bnerd.net/uid=" + string(cr.GetUID())}})
	if err != nil {
		t.Fatal(err)
	}
	status := map[string]any{}
	seen, err := w.sim.Snapshot()
	if err != nil {
		t.Fatal(err)
	}
	for _, x := range seen {
		if _, owner, ours := state.ReadOwner(x.Tags()); !ours || owner != o {
			continue
		}
		switch x.Kind {
		case "security-group":
			l, _, err := state.ReadLedger(x.Tags())
			if err != nil {
				t.Fatal(err)
			}
			var virtual []any
			for name := range l.VirtualIPs {
				virtual = append(virtual, map[string]any{"name": name, "ip": l.VirtualIP(name).String()})
			}
			status["serviceCIDR"], status["virtualIPs"] = l.ServiceCIDR.String(), virtual
			h.send(http.MethodPut, networking+"security-groups/"+x.ID+"/tags", string(tags))
		case "port":
			h.send(http.MethodPut, networking+"ports/"+x.ID+"/tags", string(tags))
		case "floating-ip":
			status["floatingIP"] = x.Text("floating_ip_address")
			h.send(http.MethodPut, networking+"floatingips/"+x.ID+"/tags", string(tags))
		}
	}
	cr.Object["status"] = status
	w.on.PutAs(t, "operator", cr.Object)
	return w
}

// TestAdoptionOfBothSides: a cluster tells the cloud's side which gateways an operator
// made, and both are taken over in one run; nothing of either is, while the operator may
// be at work.
func TestAdoptionOfBothSides(t *testing.T) { takesOver(t, newWorld) }

func takesOver(t *testing.T, open opening) {
	e := estate(t, "acme")
	w := handedOver(t, e, open)
	w.stopped = false
	p := w.plan(e, plan.Options{})
	if len(p.Pending()) > 0 || !slices.ContainsFunc(p.Refusals, func(r plan.Refusal) bool {
		return strings.Contains(r.Message, "may be at work") && strings.Contains(r.Hint, "--operator-stopped")
	}) {
		t.Fatalf("pending %v, refusals %v", p.Pending(), p.Refusals)
	}
	w.stopped = true
	p = w.plan(e, plan.Options{Prune: true}) // which looks at all that is described as ours
	actions := map[plan.Action]int{}
	for _, c := range p.Pending() {
		if c.ID.Kind.Cloud() && c.After.Applied == nil {
			actions[c.Action]++
		}
	}
	if actions[plan.Adopt] != 3 || len(actions) != 1 {
		t.Errorf("in the cloud: %v, refusals %v", actions, p.Refusals)
	}
	before := addresses(w)
	w.apply(e, plan.Options{})
	w.settled(e, plan.Options{})
	w.noOwners()
	if after := addresses(w); !slices.Equal(before, after) {
		t.Errorf("addresses: before %v, after %v", before, after)
	}
}

// addresses are those that the cloud has given.
func addresses(w *world) []string {
	w.t.Helper()
	seen, err := w.sim.Snapshot()
	if err != nil {
		w.t.Fatal(err)
	}
	var all []string
	for _, x := range seen {
		all = append(all, x.ID+" "+x.Text("floating_ip_address")+" "+fmt.Sprint(x.Attributes["fixed_ips"], x.Attributes["routes"]))
	}
	return slices.DeleteFunc(all, func(s string) bool { return strings.HasSuffix(s, "  <nil> <nil>") })
}

// TestAnOperatorOnlyInTheCluster: where nothing in the project carries the manifest's UID,
// its port and address are not made a second time.
func TestAnOperatorOnlyInTheCluster(t *testing.T) {
	e := estate(t, "acme")
	start := newWorld(t)
	w := handedOver(t, e, func(testing.TB) *world { return start.copy(t) })
	w.sim = newCloud(t)
	p := w.plan(e, plan.Options{})
	if len(p.Pending()) > 0 || len(p.Refusals) != 1 || !strings.Contains(p.Refusals[0].Message, "nothing in this project carries the UID") {
		t.Errorf("pending %v, refusals %v", p.Pending(), p.Refusals)
	}
}

// TestADeletedManifestOutlivesWhatAnOperatorMade: a gateway that was never taken over is
// the operator's to remove, and its manifest is not let go before that.
func TestADeletedManifestOutlivesWhatAnOperatorMade(t *testing.T) {
	e := estate(t, "acme")
	w := handedOver(t, e, newWorld)
	o := e.Gateways[0].Owner
	cr := w.on.Get(o.Kind, o.Namespace, o.Name)
	cr.SetFinalizers([]string{"vpn.bnerd.net/cleanup"})
	w.on.PutAs(t, "operator", cr.Object)
	w.on.Remove(t, o.Kind, o.Namespace, o.Name)
	without := e
	without.Gateways = nil
	r, err := w.prepareWith(t.Context(), without, plan.Options{Prune: true, AllowEmpty: true}, map[vpn.Owner]bool{o: true})
	if err != nil {
		t.Fatal(err)
	}
	if !r.Remaining()[o] || len(r.Plan.Refusals) == 0 || !strings.Contains(r.Plan.Refusals[0].Message, "it was never taken over: security group ") {
		t.Errorf("remaining %v, refusals %v", r.Remaining(), r.Plan.Refusals)
	}
	w.sim = newCloud(t) // the operator has removed it
	if r, err = w.prepareWith(t.Context(), without, plan.Options{Prune: true, AllowEmpty: true}, map[vpn.Owner]bool{o: true}); err != nil || r.Remaining()[o] {
		t.Errorf("remaining %v, %v", r.Remaining(), err)
	}
}

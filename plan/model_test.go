package plan

import (
	"bytes"
	"fmt"
	"maps"
	"math/rand/v2"
	"net/netip"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/vpnctl/vpnctl/plan/resource"
	"github.com/vpnctl/vpnctl/plan/vpn"
)

// TestModel plans from random worlds to random wishes and does what the plan
// says: what exists then is what was desired, with what others added, and
// planning again finds nothing.
func TestModel(t *testing.T) {
	for seed := range uint64(150) {
		w := randomWorld(rand.New(rand.NewPCG(seed, 1)))
		w.converge(t, seed)
	}
}

// TestModelCutOff is the same after runs that were cut off anywhere, of both
// sides or one.
func TestModelCutOff(t *testing.T) {
	for seed := range uint64(150) {
		r := rand.New(rand.NewPCG(seed, 4))
		w := randomWorld(r)
		for range 3 {
			w.Options.Only = []string{"", OnlyCloud, OnlyKubernetes}[r.IntN(3)]
			p := Make(w.Input)
			sound(t, seed, w, p)
			pending := p.Pending()
			for _, c := range pending[:r.IntN(len(pending)+1)] {
				w.step(c)
			}
			w.Now = w.Now.Add(time.Minute)
		}
		w.Options.Only = ""
		w.converge(t, seed)
	}
}

// converge carries out plans until the world is as it was desired.
func (w *world) converge(t *testing.T, seed uint64) {
	t.Helper()
	p := Make(w.Input)
	if len(p.Refusals) > 0 {
		t.Fatalf("seed %d: refused: %v", seed, p.Refusals)
	}
	sound(t, seed, w, p)
	others := foreignOf(w.Observed)
	w.carry(p)
	for w.draining() {
		w.Now = w.Now.Add(DefaultHold)
		p = Make(w.Input)
		sound(t, seed, w, p)
		w.carry(p)
	}
	if diff := cmp.Diff(bare(w.Desired), bare(w.Observed), cmpopts.EquateEmpty(), cmpopts.IgnoreFields(resource.Rule{}, "Why"), addresses); diff != "" {
		t.Fatalf("seed %d: afterwards (-want +got):\n%s", seed, diff)
	}
	if diff := cmp.Diff(survivors(others, w.Observed), foreignOf(w.Observed), addresses); diff != "" {
		t.Fatalf("seed %d: foreign parts (-want +got):\n%s", seed, diff)
	}
	if again := Make(w.Input); len(again.Changes) > 0 || len(again.Refusals) > 0 {
		t.Fatalf("seed %d: planned again: %v %v", seed, outline(again), again.Refusals)
	}
}

// draining tells whether a gateway's cloud side waits for its pods.
func (w *world) draining() bool {
	for _, r := range w.Observed {
		if !body(&r, sg).Draining.IsZero() {
			return true
		}
	}
	return false
}

var addresses = cmp.Options{
	cmp.Comparer(func(a, b netip.Prefix) bool { return a == b }),
	cmp.Comparer(func(a, b netip.Addr) bool { return a == b }),
}

// sound checks what holds for every plan.
func sound(t *testing.T, seed uint64, w *world, p Plan) {
	t.Helper()
	if err := p.check(); err != nil {
		t.Fatalf("seed %d: %v", seed, err)
	}
	come := map[resource.ID]bool{}
	planned := map[resource.ID]Action{}
	for _, c := range p.Changes {
		planned[c.ID] = c.Action
	}
	for _, c := range p.Changes {
		if c.Reason == "" {
			t.Errorf("seed %d: %s %s has no reason", seed, c.Action, c.ID)
		}
		if (c.Action == Delete || c.Action == Release || c.Action == Replace) && c.Proof == "" {
			t.Errorf("seed %d: %s %s has no proof", seed, c.Action, c.ID)
		}
		for _, id := range w.Desired[c.ID].Needs {
			if a, ok := planned[id]; ok && a != Delete && c.Action != Delete && !come[id] {
				t.Errorf("seed %d: %s comes before %s", seed, c.ID, id)
			}
		}
		come[c.ID] = true
	}
	var b, again bytes.Buffer
	if err := p.Encode(&b); err != nil {
		t.Fatal(err)
	}
	read, err := Decode(bytes.NewReader(b.Bytes()))
	if err != nil {
		t.Fatalf("seed %d: %v", seed, err)
	}
	if diff := cmp.Diff(p, read, addresses, cmpopts.EquateEmpty()); diff != "" {
		t.Fatalf("seed %d: read back (-want +got):\n%s", seed, diff)
	}
	shuffled := Make(shuffle(w.Input, seed))
	if err := shuffled.Encode(&again); err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(b.Bytes(), again.Bytes()) {
		t.Fatalf("seed %d: another order of the input gives another plan:\n%s\n%s", seed, &b, &again)
	}
	if stale := Compare(p, shuffled); len(stale) > 0 {
		t.Fatalf("seed %d: differs from itself: %v", seed, stale)
	}
}

// shuffle gives lists without a meaningful order another one. Maps have a random
// order of their own.
func shuffle(in Input, seed uint64) Input {
	r := rand.New(rand.NewPCG(seed, 2))
	in.Estate.Gateways = slices.Clone(in.Estate.Gateways)
	in.Ledgers = slices.Clone(in.Ledgers)
	r.Shuffle(len(in.Estate.Gateways), func(i, j int) {
		in.Estate.Gateways[i], in.Estate.Gateways[j] = in.Estate.Gateways[j], in.Estate.Gateways[i]
	})
	r.Shuffle(len(in.Ledgers), func(i, j int) { in.Ledgers[i], in.Ledgers[j] = in.Ledgers[j], in.Ledgers[i] })
	in.Desired, in.Observed = maps.Clone(in.Desired), maps.Clone(in.Observed)
	return in
}

func randomWorld(r *rand.Rand) *world {
	var before, after []site
	for i := range 1 + r.IntN(6) {
		s := randomSite(r, i)
		switch r.IntN(5) {
		case 0:
			after = append(after, s)
		case 1:
			before = append(before, s)
		default:
			before = append(before, s)
			after = append(after, changed(r, s))
		}
	}
	w := between(before, after)
	w.Options.Prune, w.Options.MaxDeletes, w.Options.AllowEmpty = true, 1000, true
	if r.IntN(2) == 0 {
		w.Estate.Kubernetes.Target = vpn.TargetDirectory
	}
	for range r.IntN(8) {
		w.harm(r)
	}
	return w
}

func randomSite(r *rand.Rand, i int) site {
	s := site{
		owner: fmt.Sprintf("VPNGateway/ns%d/gw%d", i%2, i), peers: map[string]string{}, grants: map[string][]string{},
		cidr: fmt.Sprintf("100.64.%d.0/24", i), web: 10, server: "worker-1",
		address: fmt.Sprintf("203.0.113.%d", i), hop: fmt.Sprintf("10.254.0.%d", i+10), image: "vpnctl:1",
	}
	if r.IntN(2) == 0 {
		s.plc = 200
	}
	for n := range 1 + r.IntN(3) {
		name := fmt.Sprintf("peer%d", n)
		s.peers[name], s.grants[name] = fmt.Sprintf("198.51.%d.%d", i, n), []string{"web"}
	}
	return s
}

// changed is the site after edits of its manifests.
func changed(r *rand.Rand, s site) site {
	s.peers, s.grants = maps.Clone(s.peers), maps.Clone(s.grants)
	for range r.IntN(4) {
		switch r.IntN(9) {
		case 0:
			s.image = "vpnctl:2"
		case 1:
			s.server = "worker-2"
		case 2:
			s.plc = 200 - s.plc
		case 3:
			s.web = 20
		case 4:
			s.peers["peer0"] = "198.51.100.250"
		case 5:
			s.peers["new"], s.grants["new"] = "198.51.100.251", nil
		case 6:
			delete(s.peers, "peer1")
			delete(s.grants, "peer1")
		case 7:
			s.cidr = fmt.Sprintf("100.%d.%s", 65+r.IntN(3), strings.SplitN(s.cidr, ".", 3)[2]) // nobody else's
		case 8:
			s.pinned = true
		}
	}
	return s
}

// harm lets another hand change what exists.
func (w *world) harm(r *rand.Rand) {
	ids := w.Observed.IDs()
	if len(ids) == 0 {
		return
	}
	id := ids[r.IntN(len(ids))]
	have := w.Observed[id]
	if r.IntN(3) == 0 && have.SecurityGroup == nil { // without its group there is no ledger either
		delete(w.Observed, id)
		w.forget(have)
		return
	}
	switch {
	case have.SecurityGroup != nil:
		g := *have.SecurityGroup
		extra := resource.Rule{Direction: "ingress", Ether: "IPv4", Protocol: "tcp", From: 22, To: 22}
		if r.IntN(2) == 0 {
			g.Foreign = []resource.Rule{extra}
		} else {
			g.Rules = g.Rules[1:]
		}
		have.SecurityGroup = &g
	case have.Port != nil:
		p := *have.Port
		p.Foreign, p.Server, p.Pairs = []string{"10.9.9.9/32"}, "", nil
		have.Port = &p
	case have.FloatingIP != nil:
		f := *have.FloatingIP
		f.Port = resource.ID{}
		have.FloatingIP = &f
	case have.Route != nil:
		x := *have.Route
		x.NextHop, x.Stale, x.Foreign = "10.254.0.250", []string{"10.254.0.251"}, []string{"10.254.0.252"}
		have.Route = &x
	case have.Object != nil:
		o := *have.Object
		o.Content += "tampered: yes\n"
		have.Object = &o
	}
	w.Observed[id] = have
}

// forget takes the record of what was applied off the ledger as well.
func (w *world) forget(have resource.Resource) {
	if have.Applied == nil {
		return
	}
	for i := range w.Ledgers {
		if w.Ledgers[i].Owner.String() == have.Owner {
			w.Ledgers[i].Applied = ""
		}
	}
}

// bare is a graph as both sides can have it.
func bare(g resource.Graph) resource.Graph {
	all := resource.Graph{}
	for id, r := range g {
		if r.Route != nil && absent(&r) {
			continue
		}
		r.Needs, r.Ref, r.Proof = nil, "", ""
		switch {
		case r.SecurityGroup != nil:
			x := *r.SecurityGroup
			x.Foreign = nil
			r.SecurityGroup = &x
		case r.Port != nil:
			x := *r.Port
			x.Foreign, x.Node = nil, ""
			r.Port = &x
		case r.Route != nil:
			x := *r.Route
			x.Foreign = nil
			r.Route = &x
		}
		all[id] = r
	}
	return all
}

// foreignOf is what others added, by resource.
func foreignOf(g resource.Graph) map[resource.ID][]string {
	all := map[resource.ID][]string{}
	for id, r := range g {
		for _, x := range body(&r, sg).Foreign {
			all[id] = append(all[id], x.String())
		}
		all[id] = append(all[id], body(&r, port).Foreign...)
		all[id] = append(all[id], body(&r, route).Foreign...)
		if len(all[id]) == 0 {
			delete(all, id)
		}
	}
	return all
}

// survivors are the foreign parts whose resource is still there.
func survivors(foreign map[resource.ID][]string, g resource.Graph) map[resource.ID][]string {
	maps.DeleteFunc(foreign, func(id resource.ID, _ []string) bool { _, ok := g[id]; return !ok })
	return foreign
}

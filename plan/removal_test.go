package plan

import (
	"net/netip"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/vpnctl/vpnctl/plan/resource"
	"github.com/vpnctl/vpnctl/plan/vpn"
)

// gone is an estate whose only gateway has no manifest any more.
func gone(edit func(*world)) *world {
	w := between([]site{dc1()}, nil)
	w.Options.Prune = true
	if edit != nil {
		edit(w)
	}
	return w
}

// tree puts the Kubernetes side into a directory.
func tree(w *world) { w.Estate.Kubernetes.Target = vpn.TargetDirectory }

// bareCloud takes the files away.
func bareCloud(w *world) {
	tree(w)
	for id := range w.Observed {
		if !id.Kind.Cloud() {
			delete(w.Observed, id)
		}
	}
}

// drainingSince marks the group.
func drainingSince(w *world, since time.Time) {
	bareCloud(w)
	w.Ledgers[0].Draining = since
	w.edit(dc1().id(resource.KindSecurityGroup), func(r *resource.Resource) {
		g := *r.SecurityGroup
		g.Draining = since
		r.SecurityGroup = &g
	})
}

func TestRemoval(t *testing.T) {
	files := []string{
		"- kubernetes.deployment/acme/dc1 customer",
		"- kubernetes.kustomization/acme/dc1",
		"- kubernetes.networkattachmentdefinition/acme/dc1",
		"- kubernetes.configmap/acme/dc1-nat",
		"- kubernetes.configmap/acme/dc1-swanctl",
	}
	cloudSide := []string{
		"- openstack.route/acme/dc1",
		"- openstack.floating-ip/acme/dc1",
		"- openstack.port/acme/dc1",
		"- openstack.security-group/acme/dc1",
	}
	held := func(lines []string) []string {
		var all []string
		for _, l := range lines {
			all = append(all, l+" held")
		}
		return all
	}
	start := []string{"~ openstack.security-group/acme/dc1"}
	join := func(lists ...[]string) (all []string) {
		for _, l := range lists {
			all = append(all, l...)
		}
		return all
	}
	for name, test := range map[string]struct {
		edit func(*world)
		want []string
	}{
		"a cluster needs no hold": {nil, join(files, cloudSide)},
		"a manifest in a cluster goes last": {func(w *world) {
			w.Observed.Add(manifestOf(dc1()))
		}, join(files, cloudSide, []string{"- kubernetes.vpngateway/acme/dc1"})},
		"one side's manifest goes with it": {func(w *world) {
			w.Observed.Add(manifestOf(dc1()))
			w.Options.Only = OnlyKubernetes
		}, join(files, []string{"- kubernetes.vpngateway/acme/dc1"})},
		"files go first, the rest is held":            {tree, join(files, start, held(cloudSide[:3]))},
		"the files were taken away by hand":           {bareCloud, join(start, held(cloudSide[:3]))},
		"the hold is not over":                        {func(w *world) { drainingSince(w, noon.Add(-9*time.Minute)) }, held(cloudSide)},
		"the hold is over":                            {func(w *world) { drainingSince(w, noon.Add(-10*time.Minute)) }, cloudSide},
		"a shorter hold is over":                      {func(w *world) { drainingSince(w, noon.Add(-time.Minute)); w.Options.Hold = time.Minute }, cloudSide},
		"a hold that begins in the future begins now": {func(w *world) { drainingSince(w, noon.Add(10*365*24*time.Hour)) }, join(start, held(cloudSide[:3]))},
		"clocks that differ a little":                 {func(w *world) { drainingSince(w, noon.Add(30*time.Second)) }, held(cloudSide)},
		"no hold at all":                              {func(w *world) { tree(w); w.Options.Hold = -1 }, join(files, cloudSide)},
		"the pods are known to be gone":               {func(w *world) { drainingSince(w, noon); w.Options.PodsGone = true }, cloudSide},
		"the pods are gone, their files are not":      {func(w *world) { tree(w); w.Options.PodsGone = true }, join(files, start, held(cloudSide[:3]))},
		"files that came back while it was draining": {func(w *world) {
			o := w.Observed
			w.Observed = dc1().observed()
			drainingSince(w, noon.Add(-time.Hour))
			w.Observed = merged(w.Observed, o)
		}, join(files, start, held(cloudSide[:3]))},
		"a pod whose files stand elsewhere may be behind an address that leads to its port": {func(w *world) {
			bareCloud(w)
			w.Ledgers[0].Applied = ""
			delete(w.Observed, dc1().id(resource.KindApplied))
		}, join(start, held(cloudSide[:3]))},
		"a deployment that was cut off before its address is not held": {func(w *world) {
			bareCloud(w)
			w.Ledgers[0].Applied = ""
			delete(w.Observed, dc1().id(resource.KindApplied))
			delete(w.Observed, dc1().id(resource.KindFloatingIP))
		}, join(cloudSide[:1], cloudSide[2:])},
		"a customer's floating IP stays": {func(w *world) { w.pin(true) }, join(files, cloudSide[:1], []string{"< openstack.floating-ip/acme/dc1"}, cloudSide[2:])},
		"a group that somebody deleted ends nothing less": {func(w *world) {
			bareCloud(w)
			w.Ledgers = nil
			delete(w.Observed, dc1().id(resource.KindSecurityGroup))
			delete(w.Observed, dc1().id(resource.KindApplied))
		}, cloudSide[:3]},
	} {
		t.Run(name, func(t *testing.T) {
			p := Make(gone(test.edit).Input)
			if len(p.Refusals) > 0 {
				t.Errorf("refused: %v", p.Refusals)
			}
			if diff := cmp.Diff(test.want, withoutDetachedImpact(outline(p))); diff != "" {
				t.Errorf("changes (-want +got):\n%s", diff)
			}
			for _, c := range p.Changes {
				if c.Action != Update && c.Proof == "" {
					t.Errorf("%s %s has no proof", c.Action, c.ID)
				}
				if c.Held != "" && !strings.Contains(c.Held, "--pods-gone") {
					t.Errorf("%s is held without a way out: %q", c.ID, c.Held)
				}
			}
		})
	}
}

// withoutDetachedImpact leaves out the impact of cloud lines: where no Deployment
// is in sight the end of port and address counts.
func withoutDetachedImpact(lines []string) []string {
	for i, l := range lines {
		if strings.Contains(l, "openstack.") {
			lines[i] = strings.Replace(l, " customer", "", 1)
		}
	}
	return lines
}

func merged(a, b resource.Graph) resource.Graph {
	all := resource.Graph{}
	all.Merge(b)
	all.Merge(a)
	return all
}

// pin makes the observed floating IP the customer's.
func (w *world) pin(pinned bool) {
	w.edit(dc1().id(resource.KindFloatingIP), func(r *resource.Resource) {
		f := *r.FloatingIP
		f.Pinned = pinned
		r.FloatingIP = &f
	})
}

func TestRemovalInterrupts(t *testing.T) {
	for name, edit := range map[string]func(*world){
		"with the pod":             nil,
		"without a pod to be seen": func(w *world) { bareCloud(w); w.Options.PodsGone = true },
	} {
		t.Run(name, func(t *testing.T) {
			s := Make(gone(edit).Input).Summary()
			want := []PeerRef{{dc1().name(), "plant1"}}
			if diff := cmp.Diff(want, s.Interrupted) + cmp.Diff(want, s.Customers); diff != "" || s.Worst != ImpactCustomer {
				t.Errorf("worst %s, interrupted and customers (-want +got):\n%s", s.Worst, diff)
			}
		})
	}
	t.Run("nobody once it is drained, but what the customer has to change goes for good", func(t *testing.T) {
		p := Make(gone(func(w *world) { drainingSince(w, noon.Add(-time.Hour)) }).Input)
		if s := p.Summary(); s.Worst != ImpactCustomer || len(s.Interrupted) > 0 || s.Deletes != 4 {
			t.Errorf("worst %s of %v, interrupts %v", s.Worst, outline(p), s.Interrupted)
		}
	})
}

func TestRemovalRefused(t *testing.T) {
	for name, test := range map[string]struct {
		edit func(*resource.Resource)
		id   resource.ID
	}{
		"a port without a mark":                      {func(r *resource.Resource) { r.Proof = "" }, dc1().id(resource.KindPort)},
		"an object without a mark":                   {func(r *resource.Resource) { r.Proof = "" }, dc1().id("kubernetes.deployment")},
		"our floating IP under somebody else's port": {func(r *resource.Resource) { r.FloatingIP = &resource.FloatingIP{Address: "203.0.113.3", Holder: "lb"} }, dc1().id(resource.KindFloatingIP)},
	} {
		t.Run(name, func(t *testing.T) {
			p := Make(gone(func(w *world) { w.edit(test.id, test.edit) }).Input)
			if len(p.Changes) > 0 || len(p.Refusals) != 1 || p.Refusals[0].ID != test.id {
				t.Errorf("changes %v, refusals %v", outline(p), p.Refusals)
			}
		})
	}
}

func TestReturnWhileDraining(t *testing.T) {
	w := between([]site{dc1()}, []site{dc1()})
	drainingSince(w, noon.Add(-time.Minute))
	p := Make(w.Input)
	want := []string{
		"~ openstack.security-group/acme/dc1",
		"+ kubernetes.networkattachmentdefinition/acme/dc1",
		"+ kubernetes.configmap/acme/dc1-nat",
		"+ kubernetes.configmap/acme/dc1-swanctl",
		"+ kubernetes.deployment/acme/dc1",
		"+ kubernetes.kustomization/acme/dc1",
	}
	if diff := cmp.Diff(want, outline(p)); diff != "" {
		t.Errorf("changes (-want +got):\n%s", diff)
	}
	if !p.Changes[0].After.SecurityGroup.Draining.IsZero() {
		t.Error("the group still drains")
	}
}

func TestOrderOfRemoval(t *testing.T) {
	p := Make(gone(nil).Input)
	at := map[resource.ID]int{}
	for i, c := range p.Changes {
		at[c.ID] = i
	}
	order := []resource.ID{
		dc1().id("kubernetes.deployment"), dc1().id(resource.KindRoute), dc1().id(resource.KindFloatingIP),
		dc1().id(resource.KindPort), dc1().id(resource.KindSecurityGroup),
	}
	for i, id := range order[1:] {
		needs := p.Changes[at[id]].Needs
		if len(needs) == 0 || at[id] < at[order[i]] {
			t.Errorf("%s at %d needs %v", id, at[id], needs)
		}
	}
}

// An address that another takes the place of is told what becomes of it, and is
// let go where a manifest pins it, whichever gateways are selected.
func TestTheAddressThatIsLeft(t *testing.T) {
	elsewhere := dc1().with(func(s *site) { s.address, s.pinned = "203.0.113.8", true })
	for name, test := range map[string]struct {
		after     []site
		customers bool // before
		released  bool // the driver lets it go
		says      string
	}{
		"ours":              {[]site{elsewhere}, false, false, "203.0.113.3 goes back to its pool and may never be had again"},
		"the customer's":    {[]site{elsewhere}, true, true, "203.0.113.3 stays the customer's"},
		"what another pins": {[]site{elsewhere, heir(pinsAddress)}, false, true, "203.0.113.3 is let go: zeta/heir pins it"},
	} {
		for _, selected := range [][]string{nil, {"acme/dc1"}} {
			t.Run(name+" "+strings.Join(selected, ""), func(t *testing.T) {
				before := dc1()
				before.pinned = test.customers
				w := between([]site{before}, test.after)
				w.Options.Gateways = selected
				for _, c := range Make(w.Input).Changes {
					if c.ID != dc1().id(resource.KindFloatingIP) {
						continue
					}
					if c.Action != Replace || c.Before.FloatingIP.Pinned != test.released || !strings.Contains(c.Consequence, test.says) {
						t.Errorf("%s, the customer's before: %v, %q", c.Action, c.Before.FloatingIP.Pinned, c.Consequence)
					}
					return
				}
				t.Error("it is not replaced")
			})
		}
	}
}

// One more address of a gateway, left by a run that died, is let go where a
// manifest pins it.
func TestALeftAddressThatIsPinnedIsLetGo(t *testing.T) {
	for _, pinned := range []bool{true, false} {
		after := []site{dc1()}
		if pinned {
			after = append(after, heir(func(s *site) { s.address, s.pinned = "203.0.113.50", true }))
		}
		w := between([]site{dc1()}, after)
		left := w.Observed[dc1().id(resource.KindFloatingIP)]
		left.ID.Name += "@left"
		left.FloatingIP = &resource.FloatingIP{Address: "203.0.113.50"}
		w.Observed.Add(left)
		want := map[bool]Action{true: Release, false: Delete}[pinned]
		found := false
		for _, c := range Make(w.Input).Changes {
			if found = found || c.ID == left.ID; c.ID == left.ID && (c.Action != want || c.Proof == "") {
				t.Errorf("pinned %v: %s, proof %q, want %s", pinned, c.Action, c.Proof, want)
			}
		}
		if !found {
			t.Errorf("pinned %v: it is not given up", pinned)
		}
	}
}

// A route of another hand through the port of a gateway that goes is said to be one.
func TestARouteOfOthersGoesWithItsNextHop(t *testing.T) {
	w := gone(func(w *world) {
		more := w.Observed[dc1().id(resource.KindRoute)]
		more.ID.Name += "@r1:192.168.0.0/16"
		r := *more.Route
		r.Destination, r.Others = netip.MustParsePrefix("192.168.0.0/16"), true
		more.Route, more.Proof = &r, "next hop is the gateway's port"
		w.Observed.Add(more)
	})
	found := 0
	for _, c := range Make(w.Input).Changes {
		if c.ID.Kind != resource.KindRoute {
			continue
		}
		found++
		if said := strings.Contains(c.Reason, "added by someone else"); said != c.Before.Route.Others || c.Action != Delete {
			t.Errorf("%s %s: %q", c.Action, c.ID, c.Reason)
		}
	}
	if found != 2 {
		t.Errorf("%d routes go, want both", found)
	}
}

// manifestOf is a gateway's own manifest in a cluster, as it is seen.
func manifestOf(s site) resource.Resource {
	r := resource.Resource{ID: s.id("kubernetes.vpngateway"), Owner: s.owner, Object: &resource.Object{Kind: "VPNGateway", Content: "a: b"}}
	return seen(r)
}

// TestAManifestInAClusterComesFirst: its status tells of what fails, the ledger included.
func TestAManifestInAClusterComesFirst(t *testing.T) {
	for target, want := range map[string]int{vpn.TargetCluster: 0, vpn.TargetDirectory: 1} {
		w := between(nil, []site{dc1()})
		w.Estate.Kubernetes.Target = target
		m := manifestOf(dc1())
		m.Ref, m.Proof = "", ""
		w.Desired.Add(m)
		p := Make(w.Input)
		i := slices.IndexFunc(p.Changes, func(c Change) bool { return c.ID == m.ID })
		if i < 0 || len(p.Changes[i].Needs) != want {
			t.Errorf("target %s: %v", target, p.Changes[max(i, 0)])
		}
	}
}

// TestWhatAPodUsesGoesAfterIt: in a cluster the removal of a Deployment may fail.
func TestWhatAPodUsesGoesAfterIt(t *testing.T) {
	w := gone(nil)
	w.Estate.Kubernetes.Target = vpn.TargetCluster
	deployment, n := dc1().id("kubernetes.deployment"), 0
	for _, c := range Make(w.Input).Changes {
		if c.ID.Kind.Cloud() || c.ID == deployment {
			continue
		}
		if n++; !slices.Contains(c.Needs, deployment) {
			t.Errorf("%s needs %v", c.ID, c.Needs)
		}
	}
	if n == 0 {
		t.Error("nothing else goes")
	}
}

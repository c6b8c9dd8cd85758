package loop_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/vpnctl/vpnctl/cloud/reconcile/world"
	"github.com/vpnctl/vpnctl/plan/resource"
)

// nobodys is the ID of a server that doesn't exist.
const nobodys = "dead0000-0000-4000-8000-000000000000"

// setNodes makes these the cluster's nodes, and says so.
func (f *field) setNodes(nodes ...resource.Node) {
	f.cluster.mu.Lock()
	f.nodes = nodes
	f.cluster.mu.Unlock()
	f.wake()
}

// TestANodeWhoseServerDoesNotExist: gateways go to other nodes, whether they are new or
// lose theirs, and are told where there is none.
func TestANodeWhoseServerDoesNotExist(t *testing.T) {
	bubble(t, func(t *testing.T, f *field) {
		good := f.nodes
		ghost := resource.Node{Name: "a-ghost", ServerID: nobodys, Ready: true}
		f.setNodes(ghost)
		f.write(manifestsOf(t, "acme/dc1")...)
		f.running(f.controller(), func() {
			time.Sleep(10 * time.Second)
			got := f.ready(acme)
			if !strings.HasPrefix(got, "False NodeSelectionFailed: PortAttached: ") || !strings.Contains(got, "a-ghost: the project has no server "+nobodys) {
				t.Fatalf("with no other node: %s", got)
			}
			f.setNodes(ghost, good[0], good[1])
			time.Sleep(10 * time.Second)
			f.wantReady(acme)
			home := f.field(acme, "nodeName")
			lost := good[0]
			if home == good[1].Name {
				lost = good[1]
			}
			lost.Ready, lost.Problem = false, "is not Ready"
			rest := good[0]
			if rest.Name == lost.Name {
				rest = good[1]
			}
			f.setNodes(ghost, lost, rest)
			time.Sleep(10 * time.Second)
			f.wantReady(acme)
			if now := f.field(acme, "nodeName"); now != rest.Name {
				t.Errorf("its node was lost, and it is on %s, want %s", now, rest.Name)
			}
			if want := acme + " Normal Moved"; !slices.Contains(f.events, want) {
				t.Errorf("no event %q among %q", want, f.events)
			}
		})
	})
}

// TestNodesThatNameNoServer: that is told apart from nodes that are full or away.
func TestNodesThatNameNoServer(t *testing.T) {
	bubble(t, func(t *testing.T, f *field) {
		f.setNodes(resource.Node{Name: "worker-1", Problem: `its providerID "aws:///x" is not openstack:///<server ID>`})
		f.write(manifestsOf(t, "acme/dc1")...)
		f.running(f.controller(), func() {
			time.Sleep(10 * time.Second)
			if got := f.ready(acme); !strings.HasPrefix(got, "False ProviderIDUnparseable: PortAttached: ") {
				t.Errorf("%s", got)
			}
		})
	})
}

// TestTwoNodesOfOneServer: a gateway there stays on the node that its Deployment names,
// whatever the other one's name is, and the page names both.
func TestTwoNodesOfOneServer(t *testing.T) {
	for _, twin := range []string{"a-twin", "z-twin"} {
		t.Run(twin, func(t *testing.T) {
			f := newFieldOverAPI(t)
			f.put(manifestsOf(t, "acme/dc1")...)
			f.turns(2)
			told := func() string {
				name, _, _ := unstructured.NestedString(f.api.Get("Deployment", "acme", "dc1").Object, "spec", "template", "spec", "nodeName")
				return name
			}
			said := func() string {
				name, _, _ := unstructured.NestedString(f.api.Get("VPNGateway", "acme", "dc1").Object, "status", "nodeName")
				return name
			}
			home := told()
			var server string
			for _, n := range world.Nodes(t) {
				if n.Name == home {
					server = n.ServerID
				}
			}
			if server == "" || said() != home {
				t.Fatalf("its Deployment names %q on server %q, its status %q", home, server, said())
			}
			f.api.Put(t, world.Node(twin, server, "True"))
			before := f.Look()
			f.turns(3)
			if told() != home || said() != home {
				t.Errorf("it was on %s; now its Deployment names %s, its status %s", home, told(), said())
			}
			if f.Look() != before {
				t.Error("something was changed in the cloud")
			}
			for _, o := range f.api.All() {
				if reason, _, _ := unstructured.NestedString(o.Object, "reason"); o.GetKind() == "Event" && reason == "Moved" {
					t.Errorf("it is told that it moved: %v", o.Object)
				}
			}
			names := []string{home, twin}
			slices.Sort(names)
			if page, want := get(t, f.c, "/"), "nodes "+strings.Join(names, ", ")+" name the same server "+server; !strings.Contains(page, want) {
				t.Errorf("the page doesn't say %q:\n%s", want, page)
			}

			f.api.Put(t, world.Node(home, server, "False"))
			f.turns(3)
			if told() != twin || said() != twin {
				t.Errorf("%s isn't Ready any more; its Deployment names %s, its status %s", home, told(), said())
			}
		})
	}
}

package view

import (
	"io"
	"strings"
	"testing"

	"github.com/vpnctl/vpnctl/plan"
)

// TestObjectsOfAClusterHaveNoPath: several at once are those of a namespace, and of a tree
// those of a folder.
func TestObjectsOfAClusterHaveNoPath(t *testing.T) {
	p := plan.Plan{Version: plan.Version, Estate: "prod", Owners: []plan.Owner{{Owner: dc1, New: true}}}
	for _, name := range []string{"dc1-nat", "dc1-swanctl"} {
		id, r := object(dc1, "ConfigMap", name)
		p.Changes = append(p.Changes, plan.Change{ID: id, Owner: dc1, Action: plan.Create, After: r, Reason: "new gateway"})
	}
	for want, h := range map[string]Header{
		"+ 2 Kubernetes objects in namespace acme":  {Target: "cluster https://192.0.2.1", Cluster: true},
		"+ 2 Kubernetes objects in deploy/acme/dc1": header,
	} {
		var b strings.Builder
		if err := Text(&b, p, Options{Header: h}); err != nil {
			t.Fatal(err)
		}
		if !strings.Contains(b.String(), want+"\n") {
			t.Errorf("no %q:\n%s", want, b.String())
		}
	}
}

// TestWhatIsNotKnownOfACluster: nobody looks for files there.
func TestWhatIsNotKnownOfACluster(t *testing.T) {
	p := plan.Plan{Version: plan.Version, Estate: "prod", Owners: []plan.Owner{{Owner: dc1}},
		Access: []plan.Access{{Gateway: dc1, Peer: "plant1", Exposure: "web", BeforeUnknown: true}}}
	for want, h := range map[string]Header{
		"? not known: the ConfigMaps that say": {Cluster: true}, "? not known: the files that say": header,
	} {
		for _, form := range []func(io.Writer, plan.Plan, Options) error{Text, Markdown} {
			var b strings.Builder
			if err := form(&b, p, Options{Header: h, Verbose: true}); err != nil {
				t.Fatal(err)
			}
			if !strings.Contains(b.String(), want) {
				t.Errorf("no %q:\n%s", want, b.String())
			}
		}
	}
}

// TestASecretThatGoesIsNamed, whatever goes with it.
func TestASecretThatGoesIsNamed(t *testing.T) {
	p := plan.Plan{Version: plan.Version, Estate: "prod", Owners: []plan.Owner{{Owner: dc1}}}
	for _, of := range [][2]string{{"ConfigMap", "dc1-nat"}, {"Secret", "dc1-wg-key"}, {"ConfigMap", "dc1-wireguard"}} {
		id, r := object(dc1, of[0], of[1])
		p.Changes = append(p.Changes, plan.Change{ID: id, Owner: dc1, Action: plan.Delete, Before: r, Reason: plan.NoManifest})
	}
	var b strings.Builder
	if err := Text(&b, p, Options{Header: Header{Target: "cluster https://192.0.2.1", Cluster: true}}); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"- 2 Kubernetes objects in namespace acme", "- kubernetes.secret/acme/dc1-wg-key"} {
		if !strings.Contains(b.String(), want) {
			t.Errorf("no %q:\n%s", want, b.String())
		}
	}
}

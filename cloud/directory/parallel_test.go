package directory

import (
	"context"
	"fmt"
	"sync"
	"testing"

	"github.com/vpnctl/vpnctl/cloud"
	"github.com/vpnctl/vpnctl/plan"
	"github.com/vpnctl/vpnctl/plan/resource"
	"github.com/vpnctl/vpnctl/plan/vpn"
	"github.com/vpnctl/vpnctl/state"
)

// gateway is one file of gateway n.
func gateway(n int) resource.Resource {
	owner := vpn.Owner{Kind: vpn.KindVPNGateway, Namespace: fmt.Sprintf("ns-%d", n%2), Name: fmt.Sprintf("gw-%d", n)}
	id := resource.ID{Kind: resource.KubernetesKind("ConfigMap"), Namespace: owner.Namespace, Name: owner.Name + "-nat"}
	return resource.Resource{ID: id, Owner: owner.String(), Object: &resource.Object{
		APIVersion: "v1", Kind: "ConfigMap", Namespace: owner.Namespace, Name: id.Name, Path: resource.TreePath(owner.Path(), id),
		Content: state.Marker("prod", owner) + "\napiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: " + id.Name + "\n  namespace: " + owner.Namespace + "\n",
	}}
}

// TestFoldersComeAndGoAtOnce: one gateway's last file is deleted, and the folder
// with it, while another gateway's first is written beside it.
func TestFoldersComeAndGoAtOnce(t *testing.T) {
	root := t.TempDir()
	d := New(root)
	var all sync.WaitGroup
	for n := range 8 {
		all.Go(func() {
			r := gateway(n)
			for range 15 {
				for _, c := range []plan.Change{change(plan.Create, nil, &r), change(plan.Delete, &r, nil)} {
					if _, err := d.Apply(context.Background(), c); err != nil {
						t.Error(err)
						return
					}
				}
			}
		})
	}
	all.Wait()
	if left := everything(t, root); len(left) != 0 {
		t.Errorf("left over: %v", left)
	}
}

// BenchmarkObserve reads the tree of 1,000 gateways, 13 files each.
func BenchmarkObserve(b *testing.B) {
	root := b.TempDir()
	d := New(root)
	for n := range 1000 {
		r := gateway(n)
		for f := range 13 {
			o := *r.Object
			o.Path = fmt.Sprintf("%s/gw-%d/configmap-gw-%d-%d.yaml", o.Namespace, n, n, f)
			o.Content += fmt.Sprintf("data:\n  text: |\n%s", lorem)
			dir, err := d.make()
			if err != nil {
				b.Fatal(err)
			}
			if err := dir.MkdirAll(fmt.Sprintf("%s/gw-%d", o.Namespace, n), folderMode); err != nil {
				b.Fatal(err)
			}
			if err := dir.WriteFile(o.Path, []byte(o.Content), fileMode); err != nil {
				b.Fatal(err)
			}
			dir.Close()
		}
	}
	for b.Loop() {
		o, err := d.Observe(context.Background(), estate, cloud.Scope{})
		if err != nil || len(o.Graph) != 13000 {
			b.Fatal(len(o.Graph), err)
		}
	}
}

var lorem = func() string {
	text := ""
	for i := range 60 {
		text += fmt.Sprintf("    line %d of a text of some length\n", i)
	}
	return text
}()

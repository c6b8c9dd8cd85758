package manifest_test

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/sys/unix"

	"github.com/vpnctl/vpnctl/plan"
	"github.com/vpnctl/vpnctl/plan/alloc"
	"github.com/vpnctl/vpnctl/plan/manifest"
	"github.com/vpnctl/vpnctl/plan/resource"
	"github.com/vpnctl/vpnctl/plan/vpn"
)

// grove is a random tree of manifests, and what is in it.
type grove struct {
	*rand.Rand
	files   []string // below the Estate's folder
	folders []string
	owners  map[vpn.Owner][]string // and their peers
}

// plant writes an Estate, gateways and peers into the folder estate of the working
// directory: several in one file, peers apart from their gateways, at any depth.
func plant(t *testing.T, r *rand.Rand) *grove {
	t.Helper()
	g := &grove{Rand: r, folders: []string{"."}, owners: map[vpn.Owner][]string{}}
	put(t, "estate/vpnctl.yaml", sound.Replace("ESTATE\n"))
	for range 1 + r.IntN(4) {
		g.folders = append(g.folders, filepath.Join(g.pick(g.folders), string(rune('a'+len(g.folders)))))
	}
	for _, dir := range g.folders {
		if err := os.MkdirAll(filepath.Join("estate", dir), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	texts := map[string][]string{}
	add := func(text string) {
		name := filepath.Join(g.pick(g.folders), fmt.Sprintf("%d.yaml", r.IntN(4)))
		texts[name] = append(texts[name], text)
	}
	for i := range 1 + r.IntN(4) {
		o := vpn.Owner{Kind: vpn.KindVPNGateway, Namespace: "acme", Name: fmt.Sprintf("gw-%d", i)}
		add(strings.Replace(sound.Replace("GATEWAY\n"), "dc1", o.Name, 1))
		g.owners[o] = nil
		for n := range r.IntN(3) {
			peer := fmt.Sprintf("peer-%d-%d", i, n)
			add(strings.NewReplacer("plant1", peer, "dc1", o.Name, "100.7", fmt.Sprintf("100.%d", 10*i+n+1), "10.0/24", fmt.Sprintf("%d.0/24", 10*i+n+1)).Replace(sound.Replace("PEER\n")))
			g.owners[o] = append(g.owners[o], peer)
		}
	}
	for name, list := range texts {
		put(t, filepath.Join("estate", name), strings.Join(list, "---\n"))
		g.files = append(g.files, name)
	}
	slices.Sort(g.files)
	return g
}

func (g *grove) pick(list []string) string { return list[g.IntN(len(list))] }

// place is a file, or a folder with a file in it, that something is done to.
func (g *grove) place() string {
	p := g.pick(g.files)
	for filepath.Dir(p) != "." && g.IntN(2) == 0 {
		p = filepath.Dir(p)
	}
	return filepath.Join("estate", p)
}

// TestWhatIsLeftOutIsNotGone: whatever one element of a tree is made into, and whichever
// paths are named, a gateway or a peer whose manifest was in the tree is read, known to
// stand in a file that was not, or may stand in something that can't be read. Nobody is
// deleted then.
func TestWhatIsLeftOutIsNotGone(t *testing.T) {
	for sentence, hide := range hidings {
		t.Run(sentence, func(t *testing.T) {
			for seed := range uint64(15) {
				t.Chdir(t.TempDir())
				g := plant(t, rand.New(rand.NewPCG(seed, uint64(len(sentence)))))
				p := g.place()
				hide(t, g, p)
				paths := []string{"estate"}
				if g.IntN(4) > 0 {
					paths = []string{filepath.Join("estate", g.pick(g.folders[1:])), "estate/vpnctl.yaml"}
				}
				if _, err := os.Stat(paths[0]); err != nil {
					continue // refused by name
				}
				asOwner(t, func() {
					loaded, found := manifest.Load(paths, manifest.Options{Survey: true})
					if found.Errors() == 0 {
						g.nobodyGone(t, loaded, fmt.Sprintf("seed %d, %s, reading %v", seed, p, paths))
					}
				})
			}
		})
	}
}

// TestWhatIsReadIsAllThereIs: where a tree is read whole, nothing that usually stands
// beside manifests keeps a run from deleting who is gone.
func TestWhatIsReadIsAllThereIs(t *testing.T) {
	for sentence, add := range bystanders {
		t.Run(sentence, func(t *testing.T) {
			for seed := range uint64(10) {
				t.Chdir(t.TempDir())
				g := plant(t, rand.New(rand.NewPCG(seed, uint64(len(sentence)))))
				add(t, g, filepath.Join("estate", g.pick(g.folders)))
				loaded, found := manifest.Load([]string{"estate"}, manifest.Options{Survey: true})
				if found.Errors() > 0 || len(loaded.Estate.Gateways) != len(g.owners) {
					t.Fatalf("seed %d: read %d gateways of %d: %v", seed, len(loaded.Estate.Gateways), len(g.owners), found)
				}
				g.owners[vpn.Owner{Kind: vpn.KindVPNGateway, Namespace: "acme", Name: "gone"}] = nil
				if diff := cmp.Diff([]string{"acme/gone"}, g.deleted(loaded)); diff != "" {
					t.Errorf("seed %d: deleted (-want +got):\n%s", seed, diff)
				}
				if len(loaded.Obscure)+len(loaded.Unread)+len(loaded.UnreadPeers) > 0 {
					t.Errorf("seed %d: unread %v %v, obscure %v", seed, loaded.Unread, loaded.UnreadPeers, loaded.Obscure)
				}
			}
		})
	}
}

// nobodyGone fails for whoever would be deleted.
func (g *grove) nobodyGone(t *testing.T, loaded *manifest.Loaded, what string) {
	t.Helper()
	for _, o := range g.deleted(loaded) {
		t.Errorf("%s: %s is deleted", what, o)
	}
	if len(loaded.Obscure) > 0 {
		return
	}
	for o, peers := range g.owners {
		gateway, _ := loaded.Estate.Gateway(o.Path())
		for _, name := range peers {
			_, has := gateway.Peer(name)
			if !has && loaded.UnreadPeers[o.Path()+"/"+name] == "" {
				t.Errorf("%s: peer %s of %s is gone", what, name, o)
			}
		}
	}
}

// deleted are the gateways that a run with --prune would delete, were all of the tree's
// standing, sorted.
func (g *grove) deleted(loaded *manifest.Loaded) []string {
	in := plan.Input{Estate: loaded.Estate, Desired: resource.Graph{}, Observed: resource.Graph{}, Now: time.Now(), Manifests: 1,
		Options: plan.Options{Prune: true, PodsGone: true, MaxDeletes: 100},
		Survey:  plan.Survey{Unread: loaded.Unread, UnreadPeers: loaded.UnreadPeers, Obscure: loaded.Obscure}}
	for o, peers := range g.owners {
		in.Ledgers = append(in.Ledgers, alloc.Ledger{Estate: "prod", Owner: o, Protocol: vpn.IPsec, Peers: peers, Ref: o.Name})
		r := resource.Resource{ID: resource.ID{Kind: resource.KindSecurityGroup, Namespace: o.Namespace, Name: o.Name}, Owner: o.String(),
			Ref: o.Name, Proof: "tag", SecurityGroup: &resource.SecurityGroup{}}
		in.Observed.Add(r)
		if _, read := loaded.Estate.Gateway(o.Path()); read {
			in.Desired.Add(r)
		}
	}
	var out []string
	for _, c := range plan.Make(in).Changes {
		if c.Action == plan.Delete {
			out = append(out, c.Owner.Path())
		}
	}
	slices.Sort(out)
	return out
}

// asOwner runs something without the right to read what modes forbid, which root has.
func asOwner(t *testing.T, do func()) {
	t.Helper()
	runtime.LockOSThread() // rights are a thread's
	defer runtime.UnlockOSThread()
	header := unix.CapUserHeader{Version: unix.LINUX_CAPABILITY_VERSION_3}
	var before [2]unix.CapUserData
	if err := unix.Capget(&header, &before[0]); err != nil {
		t.Fatal(err)
	}
	less := before
	less[0].Effective &^= 1<<unix.CAP_DAC_OVERRIDE | 1<<unix.CAP_DAC_READ_SEARCH
	if err := unix.Capset(&header, &less[0]); err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := unix.Capset(&header, &before[0]); err != nil {
			t.Error(err)
		}
	}()
	do()
}

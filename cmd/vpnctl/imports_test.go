package main

import (
	"encoding/json"
	"errors"
	"io"
	"os/exec"
	"slices"
	"strings"
	"testing"
)

const module = "github.com/vpnctl/vpnctl/"

// forbidden says what a package, and all below it, must not import. Test files
// don't count.
var forbidden = []struct{ from, to, why string }{
	{"crds", module + "plan", "wire types are what users write; nothing decides there"},
	{"plan", module + "render", "plan decides from values; what they look like is handed in"},
	{"plan", module + "state", "a plan knows ledgers, not the tags they are written on"},
	{"plan", module + "cloud", "computing a plan touches nothing"},
	{"plan", module + "agent", "computing a plan touches nothing"},
	{"render", module + "cloud", "rendering is a function from values to values"},
	{"render", module + "agent", "rendering is a function from values to values"},
	{"state", module + "cloud", "marks are defined once, for every driver"},
	{"agent", module + "cloud", "the gateway pod has no cloud credential"},
	{"agent", module + "state", "the gateway pod knows its own files, and no tags"},
	{"agent", module + "plan/manifest", "the gateway pod reads what was rendered, never what was written"},
	{"cloud/openstack", module + "cloud/directory", "drivers don't know each other"},
	{"cloud/openstack", module + "cloud/kube", "drivers don't know each other"},
	{"cloud/openstack", module + "render", "drivers carry out, they don't decide"},
	{"cloud/directory", module + "cloud/openstack", "drivers don't know each other"},
	{"cloud/directory", module + "render", "drivers carry out, they don't decide"},
	{"cloud/kube", module + "cloud/reconcile", "drivers carry out, they don't decide"},
	{"cloud/reconcile/board", module + "cloud/reconcile/loop", "what is shown asks nobody"},
	{"cloud/reconcile/standing", module + "cloud/kube", "how gateways stand follows from what a run saw and did"},
	{"cloud/reconcile/loop", module + "cloud/reconcile/world", "what is shipped doesn't need what tests happen in"},
	{"cmd", module + "cloud/reconcile/world", "what is shipped doesn't need what tests happen in"},
	{"cloud/simulator", module + "plan", "the simulator stands for a cloud that knows nothing of vpnctl"},
	{"cloud/simulator", module + "state", "the simulator stands for a cloud that knows nothing of vpnctl"},
}

// aside are the parts of the agent. They meet in the loops, and share what is handed
// from one container to the other.
var aside = []string{"agent/vici", "agent/report", "agent/wireguard", "agent/firewall", "agent/routing", "agent/resolve"}

// homes says where a large library may be imported, and nowhere else.
var homes = []struct {
	library string
	homes   []string
}{
	{"github.com/alecthomas/kong", []string{"cmd/vpnctl"}},
	{"github.com/gophercloud/gophercloud", []string{"cloud/openstack"}},
	{"k8s.io/client-go", []string{"cloud/kube", "agent/report"}},
	{"sigs.k8s.io/kustomize", []string{"render/overlay", "plan/manifest"}},
	{"github.com/strongswan/govici", []string{"agent/vici"}},
	{"golang.zx2c4.com/wireguard", []string{"agent/wireguard"}},
	{"github.com/vishvananda/netlink", []string{"agent/routing", "agent/firewall", "agent/wireguard"}},
	{"github.com/miekg/dns", []string{"agent/resolve"}},
	{"github.com/prometheus/client_golang", []string{"agent", "cloud/reconcile/board"}},
}

// pure are the packages that import the standard library only.
var pure = []string{"plan/vpn", "plan/resource"}

type listed struct {
	ImportPath string
	Imports    []string
}

func TestImportsPointOneWay(t *testing.T) {
	for _, p := range packages(t) {
		at := strings.TrimPrefix(p.ImportPath, module)
		for _, to := range p.Imports {
			for _, f := range forbidden {
				if below(at, f.from) && below(to, f.to) {
					t.Errorf("%s imports %s: %s", at, to, f.why)
				}
			}
			for _, h := range homes {
				if below(to, h.library) && !slices.ContainsFunc(h.homes, func(home string) bool { return below(at, home) }) {
					t.Errorf("%s imports %s, whose home is %v", at, to, h.homes)
				}
			}
			for _, a := range aside {
				if below(at, a) && below(to, module+"agent") && !below(to, module+a) && to != module+"agent/volume" {
					t.Errorf("%s imports %s: parts of the agent don't know each other", at, to)
				}
			}
			if slices.Contains(pure, at) && strings.Contains(to, ".") {
				t.Errorf("%s imports %s: it imports the standard library only", at, to)
			}
		}
	}
}

func below(path, root string) bool { return path == root || strings.HasPrefix(path, root+"/") }

func packages(t *testing.T) []listed {
	t.Helper()
	out, err := exec.Command("go", "list", "-json=ImportPath,Imports", module+"...").Output()
	if err != nil {
		t.Fatal(err)
	}
	var all []listed
	for d := json.NewDecoder(strings.NewReader(string(out))); ; {
		var p listed
		if err := d.Decode(&p); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			t.Fatal(err)
		}
		all = append(all, p)
	}
	if len(all) < 10 {
		t.Fatalf("only %d packages were listed", len(all))
	}
	return all
}

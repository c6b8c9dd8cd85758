package manifest_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// bystanders are what may stand in an Estate's folder without holding manifests that
// aren't read.
var bystanders = map[string]func(t *testing.T, g *grove, folder string){
	"a link to another folder": func(t *testing.T, g *grove, folder string) {
		to, _ := filepath.Abs(filepath.Join("estate", g.pick(g.folders)))
		symlink(t, to, filepath.Join(folder, "lnk"))
	},
	"a link to a file of no interest": func(t *testing.T, g *grove, folder string) {
		symlink(t, "/dev/null", filepath.Join(folder, "null"))
	},
	"an editor's lock": func(t *testing.T, g *grove, folder string) {
		symlink(t, "me@here.1", filepath.Join(folder, ".#0.yaml"))
	},
	"hidden rubbish": func(t *testing.T, g *grove, folder string) {
		put(t, filepath.Join(folder, ".cache/x.yaml"), "kind: VPNGateway\nx: [")
		symlink(t, "/", filepath.Join(folder, ".cache/root"))
	},
	"a repository": func(t *testing.T, g *grove, folder string) {
		put(t, filepath.Join(folder, ".git/x.yaml"), sound.Replace("GATEWAY\n"))
		put(t, filepath.Join(folder, ".gitmodules"), "[submodule \"x\"]\n\tpath = there\n")
		put(t, filepath.Join(folder, "there/README"), "x")
	},
	"a rendered tree with a kustomization of it": func(t *testing.T, g *grove, folder string) {
		put(t, filepath.Join(folder, "tree/kustomization.yaml"), "# Written by vpnctl. estate=prod\nresources: [x.yaml]\n")
		put(t, filepath.Join(folder, "tree/x.yaml"), "# Written by vpnctl. estate=prod\n"+sound.Replace("GATEWAY\n"))
		put(t, filepath.Join(folder, "sync/kustomization.yaml"), "resources: [../tree]\n")
	},
	"a kustomization of something else": func(t *testing.T, g *grove, folder string) {
		put(t, filepath.Join(folder, "site/kustomization.yaml"), "apiVersion: kustomize.toolkit.fluxcd.io/v1\nkind: Kustomization\nspec: {path: ./site}\n")
	},
	"the Estate's output": func(t *testing.T, g *grove, _ string) {
		put(t, "elsewhere/x.yaml", sound.Replace("GATEWAY\n"))
		symlink(t, "../elsewhere", "estate/deploy")
	},
	"a saved plan": func(t *testing.T, g *grove, folder string) {
		put(t, filepath.Join(folder, "plan.json"), `{"version": "vpnctl.bnerd.net/plan/v1", "x": "VPNGateway"}`+strings.Repeat(" ", 9<<20))
	},
}

// hidings are the ways in which manifests come to be left out. Each is done to a file or
// a folder of the tree.
var hidings = map[string]func(t *testing.T, g *grove, p string){
	"a link to where it was moved": func(t *testing.T, g *grove, p string) {
		move(t, p, "elsewhere/x"+filepath.Ext(p))
		to, _ := filepath.Abs("elsewhere/x" + filepath.Ext(p))
		symlink(t, to, p)
	},
	"a link to where it was moved, of another name": func(t *testing.T, g *grove, p string) {
		move(t, p, "elsewhere/x")
		to, _ := filepath.Abs("elsewhere/x")
		symlink(t, to, strings.TrimSuffix(p, ".yaml")+"-lnk"+filepath.Ext(p))
	},
	"a link to nowhere": func(t *testing.T, g *grove, p string) { move(t, p, "elsewhere/x"); symlink(t, "nowhere", p) },
	"a link to itself":  func(t *testing.T, g *grove, p string) { move(t, p, "elsewhere/x"); symlink(t, filepath.Base(p), p) },
	"a hidden name": func(t *testing.T, g *grove, p string) {
		move(t, p, filepath.Join(filepath.Dir(p), "."+filepath.Base(p)))
	},
	"a kustomization":     func(t *testing.T, g *grove, p string) { kustomized(t, p, filepath.Join(filepath.Dir(p), "k", "in")) },
	"a kustomization far": func(t *testing.T, g *grove, p string) { kustomized(t, p, "elsewhere/in") },
	"a kustomization by other names": func(t *testing.T, g *grove, p string) {
		name := kustomized(t, p, "elsewhere/in")
		text, _ := os.ReadFile(name)
		put(t, name, strings.NewReplacer("resources:", "RESOURCES:").Replace(string(text)))
	},
	"a kustomization that lacks something": func(t *testing.T, g *grove, p string) {
		name := kustomized(t, p, "elsewhere/in")
		text, _ := os.ReadFile(name)
		put(t, name, strings.Replace(string(text), "]", ", gone.yaml]", 1))
		if err := os.RemoveAll("elsewhere"); err != nil {
			t.Fatal(err)
		}
	},
	"a pipe": func(t *testing.T, g *grove, p string) {
		move(t, p, "elsewhere/x")
		if err := syscall.Mkfifo(strings.TrimSuffix(p, ".yaml")+".yaml", 0o600); err != nil {
			t.Fatal(err)
		}
	},
	"no permission": func(t *testing.T, g *grove, p string) {
		if err := os.Chmod(p, 0); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { os.Chmod(p, 0o700) })
	},
	"a size beyond measure": func(t *testing.T, g *grove, p string) {
		each(t, p, func(s string) string { return s + strings.Repeat("#\n", 5<<20) })
	},
	"half a file": func(t *testing.T, g *grove, p string) {
		each(t, p, func(s string) string { return s + "---\nkind: VPNGateway\nx: [" })
	},
	"the mark of what vpnctl wrote": func(t *testing.T, g *grove, p string) {
		each(t, p, func(s string) string { return "# Written by vpnctl. estate=prod\n" + s })
	},
	"a pointer of Git LFS": func(t *testing.T, g *grove, p string) {
		each(t, p, func(string) string { return "version https://git-lfs.github.com/spec/v1\noid sha256:00\nsize 1\n" })
	},
	"a repository of its own": func(t *testing.T, g *grove, p string) {
		move(t, p, "elsewhere/x")
		put(t, "estate/.gitmodules", "[submodule \"x\"]\n\tpath = "+strings.TrimPrefix(p, "estate/")+"\n")
	},
	"nothing": func(*testing.T, *grove, string) {},
}

func move(t *testing.T, from, to string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(to), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.Rename(from, to); err != nil {
		t.Fatal(err)
	}
}

func symlink(t *testing.T, to, name string) {
	t.Helper()
	if err := os.Symlink(to, name); err != nil {
		t.Fatal(err)
	}
}

// kustomized moves a file or the files of a folder into a base, and puts a kustomization
// in the place, which it returns.
func kustomized(t *testing.T, p, base string) string {
	t.Helper()
	var names []string
	for i, name := range filesIn(t, p) {
		to := fmt.Sprintf("%d.yaml", i)
		move(t, name, filepath.Join(base, to))
		names = append(names, to)
	}
	put(t, filepath.Join(base, "kustomization.yaml"), "resources: ["+strings.Join(names, ", ")+"]\n")
	overlay := strings.TrimSuffix(p, ".yaml") + "-k"
	rel, err := filepath.Rel(overlay, base)
	if err != nil {
		t.Fatal(err)
	}
	put(t, filepath.Join(overlay, "kustomization.yaml"), "resources: ["+rel+"]\n")
	return filepath.Join(overlay, "kustomization.yaml")
}

func filesIn(t *testing.T, p string) []string {
	t.Helper()
	var out []string
	if err := filepath.WalkDir(p, func(p string, d os.DirEntry, err error) error {
		if err == nil && !d.IsDir() {
			out = append(out, p)
		}
		return err
	}); err != nil {
		t.Fatal(err)
	}
	return out
}

func each(t *testing.T, p string, edit func(string) string) {
	t.Helper()
	for _, name := range filesIn(t, p) {
		text, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		put(t, name, edit(string(text)))
	}
}

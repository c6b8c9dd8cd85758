package main

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/vpnctl/vpnctl/plan"
	"github.com/vpnctl/vpnctl/plan/manifest"
	"github.com/vpnctl/vpnctl/plan/vpn"
)

// job is what to plan: manifests that were read, or a saved plan.
type job struct {
	estate    vpn.Estate
	manifests int
	options   plan.Options
	survey    plan.Survey // what stands beside the manifests that were read
	base      string      // relative folders of the estate count from here
	saved     *plan.Plan  // nil: made from manifests
	file      string      // of the saved plan
}

// job reads what the paths name.
func (g *Globals) job(s *streams, paths []string, f selection) (*job, error) {
	if saved, ok, err := openSaved(paths); err != nil || ok {
		return g.savedJob(saved, paths, f, err)
	}
	return g.manifests(s, paths, f)
}

// manifests is the job of what stands in manifests.
func (g *Globals) manifests(s *streams, paths []string, f selection) (*job, error) {
	loaded, err := g.load(s, paths)
	if err != nil {
		return nil, err
	}
	options := f.options()
	if options.Operated, err = exported(s, f.AdoptFrom); err != nil {
		return nil, err
	}
	return &job{estate: loaded.Estate, manifests: written(loaded.Estate), options: options, base: loaded.Root,
		survey: plan.Survey{Unread: loaded.Unread, UnreadPeers: loaded.UnreadPeers, Obscure: loaded.Obscure}}, nil
}

func (g *Globals) savedJob(saved *plan.Plan, paths []string, f selection, err error) (*job, error) {
	switch {
	case err != nil:
		return nil, err
	case f.given():
		return nil, fmt.Errorf("%s was made with its own options: --gateway, --link, --only, --prune and the like can't be given again", paths[0])
	case saved.Input == nil:
		return nil, fmt.Errorf("%s: without the estate it was made from; save a plan with -o", paths[0])
	}
	home, err := g.home(saved.Estate, paths[0])
	if err != nil {
		return nil, err
	}
	j := &job{estate: *saved.Input, options: saved.Options, base: home, saved: saved, file: paths[0],
		manifests: written(*saved.Input)}
	if saved.Survey != nil {
		j.survey = *saved.Survey
	}
	return j, nil
}

// home is the folder of the Estate that a saved plan was made for, which its
// files are relative to: never that of another one which happens to be near.
func (g *Globals) home(estate, plan string) (string, error) {
	file := g.estateFile()
	if file == "" {
		return "", fmt.Errorf("%s is for estate %s, whose vpnctl.yaml does not stand here: go to its folder, or name it with --estate", plan, estate)
	}
	loaded, found := manifest.Load([]string{file}, manifest.Options{EstateFile: file})
	if found.Errors() > 0 {
		return "", fmt.Errorf("%s is not a valid Estate: see vpnctl validate %s", file, file)
	}
	if loaded.Estate.Name != estate {
		return "", fmt.Errorf("%s is for estate %s, but %s is that of %s: go to its folder, or name it with --estate", plan, estate, file, loaded.Estate.Name)
	}
	return filepath.Dir(file), nil
}

// real refuses a saved plan of a simulated cloud without --sim, before a real one is
// looked for.
func (j *job) real(g *Globals) error {
	if j.saved == nil || g.Sim.On || !strings.HasPrefix(j.saved.Cloud, simulatedIn) {
		return nil
	}
	return fmt.Errorf("nothing was changed: %s was made on a simulated cloud (%s): apply it with --sim", j.file, j.saved.Cloud)
}

// belongs refuses a saved plan for another cloud: nothing in it would be found.
func (j *job) belongs(at *site) error {
	if j.saved == nil || j.saved.Cloud == "" || j.saved.Cloud == at.identity {
		return nil
	}
	return fmt.Errorf("nothing was changed: %s was made against another cloud (%s), and this one is %s", j.file, j.saved.Cloud, at.identity)
}

// written counts the manifests that an estate was read from.
func written(e vpn.Estate) int {
	n := len(e.Links)
	for _, g := range e.Gateways {
		n += len(g.Manifests)
	}
	return n
}

// openSaved tells whether the only path is a saved plan, and reads it.
func openSaved(paths []string) (*plan.Plan, bool, error) {
	if len(paths) != 1 {
		return nil, false, nil
	}
	if info, err := os.Stat(paths[0]); err != nil || !info.Mode().IsRegular() {
		return nil, false, nil // the reader of manifests says why
	}
	f, err := os.Open(paths[0])
	if err != nil {
		return nil, false, nil // and so it does here
	}
	defer f.Close()
	head := make([]byte, 4096)
	n, _ := io.ReadFull(f, head)
	if !bytes.Contains(head[:n], []byte(`"vpnctl.bnerd.net/plan/`)) {
		return nil, false, nil
	}
	if _, err := f.Seek(0, io.SeekStart); err != nil {
		return nil, false, err
	}
	p, err := plan.Decode(f)
	if err != nil {
		return nil, false, fmt.Errorf("reading %s: %w", paths[0], err)
	}
	return &p, true, nil
}

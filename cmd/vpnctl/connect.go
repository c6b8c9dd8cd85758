package main

import (
	"cmp"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"

	"github.com/vpnctl/vpnctl/cloud"
	"github.com/vpnctl/vpnctl/cloud/directory"
	"github.com/vpnctl/vpnctl/cloud/openstack"
	"github.com/vpnctl/vpnctl/cloud/simulator"
	"github.com/vpnctl/vpnctl/plan/view"
	"github.com/vpnctl/vpnctl/plan/vpn"
)

// site is where an estate lives: its cloud and its Kubernetes side.
type site struct {
	estate   vpn.Estate
	cloud    *openstack.Driver
	drivers  []cloud.Driver
	header   view.Header
	identity string // of the cloud: the same wherever it is reached from
	log      *slog.Logger
	close    func() error
}

// Close lets go of a simulated cloud.
func (at *site) Close() error { return at.close() }

// connect reaches the estate's cloud and its Kubernetes side, or with --sim the
// simulated ones. A relative folder of the estate counts from base.
func (g *Globals) connect(stop *interrupts, s *streams, e vpn.Estate, base string) (*site, error) {
	if g.Sim.On {
		return g.connectSimulated(stop, s, e, base)
	}
	if e.Kubernetes.Target != vpn.TargetDirectory {
		return nil, fmt.Errorf("spec.kubernetes.target: %s is not supported by this version; use %s, or --sim", e.Kubernetes.Target, vpn.TargetDirectory)
	}
	driver, err := openstack.Connect(stop.ctx, openstack.Options{Cloud: e.OpenStack.Cloud, Stop: stop.stop, Log: g.log(s), UserAgent: "vpnctl/" + Version()})
	if err != nil {
		return nil, err
	}
	root := e.Kubernetes.Directory
	if !filepath.IsAbs(root) {
		root = filepath.Join(base, root)
	}
	name := cmp.Or(e.OpenStack.Cloud, os.Getenv("OS_CLOUD"), "of the environment")
	at := newSite(e, driver, root, name)
	at.identity = "project " + driver.Project()
	at.logTo(g.log(s))
	return at, nil
}

// connectSimulated makes the simulated cloud of --sim, with the Kubernetes side
// beside its state. A cluster is simulated by files, too.
func (g *Globals) connectSimulated(stop *interrupts, s *streams, e vpn.Estate, base string) (*site, error) {
	dir, err := g.Sim.folder(base)
	if err != nil {
		return nil, err
	}
	server, err := simulator.New(simulator.Options{Dir: dir, Seed: seedOf(e)})
	if err != nil {
		return nil, err
	}
	access, err := server.Credentials(simulated, "operator")
	if err != nil {
		return nil, err
	}
	driver, err := openstack.Connect(stop.ctx, openstack.Options{
		Env:       func(key string) string { return access.Env[key] },
		Transport: simulator.Transport(server),
		Stop:      stop.stop,
		Log:       g.log(s),
		UserAgent: "vpnctl/" + Version(),
	})
	if err != nil {
		return nil, err
	}
	e.Kubernetes = vpn.Kubernetes{Target: vpn.TargetDirectory, Directory: e.Kubernetes.Directory, Nodes: simulatedNodes(e)}
	at := newSite(e, driver, filepath.Join(dir, "kubernetes"), "simulated in "+tidy(dir))
	at.close = server.Close
	if dir, err = filepath.Abs(dir); err != nil {
		return nil, err
	}
	at.identity = simulatedIn + dir
	at.logTo(g.log(s))
	return at, nil
}

// simulatedIn begins the identity of a simulated cloud.
const simulatedIn = "simulated in "

// logTo begins a log of what is done here.
func (at *site) logTo(log *slog.Logger) {
	at.log = log
	log.Info("connected", "estate", at.estate.Name, "cloud", at.identity, "kubernetes", at.header.Target)
}

func newSite(e vpn.Estate, driver *openstack.Driver, root, name string) *site {
	return &site{
		estate:  e,
		cloud:   driver,
		drivers: []cloud.Driver{driver, directory.New(root)},
		header:  view.Header{Cloud: name, Target: "directory " + tidy(root), Directory: tidy(root)},
		close:   func() error { return nil },
	}
}

// tidy shows a folder as seen from here, where that is shorter.
func tidy(path string) string {
	abs, err := filepath.Abs(path)
	if err != nil {
		return path
	}
	here, err := filepath.Abs(".")
	if err != nil {
		return path
	}
	if rel, err := filepath.Rel(here, abs); err == nil && len(rel) < len(abs) {
		return rel
	}
	return abs
}

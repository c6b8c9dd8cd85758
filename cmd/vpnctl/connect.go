package main

import (
	"cmp"
	"log/slog"
	"os"
	"path/filepath"

	"github.com/vpnctl/vpnctl/cloud"
	"github.com/vpnctl/vpnctl/cloud/directory"
	"github.com/vpnctl/vpnctl/cloud/kube"
	"github.com/vpnctl/vpnctl/cloud/openstack"
	"github.com/vpnctl/vpnctl/cloud/simulator"
	"github.com/vpnctl/vpnctl/plan/view"
	"github.com/vpnctl/vpnctl/plan/vpn"
)

// site is where an estate lives: its cloud and its Kubernetes side.
type site struct {
	estate   vpn.Estate
	cloud    *openstack.Driver
	cluster  *kube.Driver // nil: the Kubernetes side is files
	drivers  []cloud.Driver
	header   view.Header
	identity string // of the cloud, the same wherever it is reached from, and the address of the cluster
	log      *slog.Logger
	close    func() error
}

// Close lets go of a simulated cloud.
func (at *site) Close() error { return at.close() }

// connect reaches the estate's cloud and its Kubernetes side, or with --sim the
// simulated ones. A relative folder of the estate counts from base.
func (g *Globals) connect(stop *interrupts, s *streams, e vpn.Estate, base string, to clusterSide) (*site, error) {
	if err := to.idle(g.Sim.On, e); err != nil {
		return nil, err
	}
	if g.Sim.On {
		return g.connectSimulated(stop, s, e, base)
	}
	at := newSite(e, cmp.Or(e.OpenStack.Cloud, os.Getenv("OS_CLOUD"), "of the environment"))
	if err := at.kubernetes(stop, base, to); err != nil { // asks nobody anything yet
		return nil, err
	}
	o := openstack.Options{Stop: stop.stop, Log: g.log(s), UserAgent: userAgent()}
	find := customersOfClouds(o)
	if at.cluster != nil {
		find = customersOfSecrets(at.cluster, o)
	}
	o.Cloud, o.Customer = e.OpenStack.Cloud, find
	driver, err := openstack.Connect(stop.ctx, o)
	if err != nil {
		return nil, err
	}
	at.on(driver, "project "+driver.Project())
	if at.cluster != nil {
		at.identity += ", " + at.header.Target
	}
	at.logTo(g.log(s))
	return at, nil
}

// userAgent is what calls say that they come from.
func userAgent() string { return "vpnctl/" + Version() }

// kubernetes reaches the Kubernetes side: a cluster, or a folder of files.
func (at *site) kubernetes(stop *interrupts, base string, to clusterSide) error {
	if at.estate.Kubernetes.Target == vpn.TargetDirectory {
		root := at.estate.Kubernetes.Directory
		if !filepath.IsAbs(root) {
			root = filepath.Join(base, root)
		}
		at.into(root)
		return nil
	}
	driver, address, err := to.connect(kube.Options{Stop: stop.stop, OperatorStopped: to.OperatorStopped})
	if err != nil {
		return err
	}
	at.cluster = driver
	at.drivers = append(at.drivers, driver)
	at.header.Target, at.header.Cluster = "cluster "+address, true
	return nil
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
	o := openstack.Options{Transport: simulator.Transport(server), Stop: stop.stop, Log: g.log(s), UserAgent: userAgent()}
	o.Customer = simulatedCustomer(server, o)
	o.Env = func(key string) string { return access.Env[key] }
	driver, err := openstack.Connect(stop.ctx, o)
	if err != nil {
		return nil, err
	}
	e.Kubernetes = vpn.Kubernetes{Target: vpn.TargetDirectory, Directory: e.Kubernetes.Directory, Nodes: simulatedNodes(e)}
	at := newSite(e, simulatedIn+tidy(dir))
	at.into(filepath.Join(dir, "kubernetes"))
	at.close = server.Close
	if dir, err = filepath.Abs(dir); err != nil {
		return nil, err
	}
	at.on(driver, simulatedIn+dir)
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

func newSite(e vpn.Estate, name string) *site {
	return &site{estate: e, header: view.Header{Cloud: name}, close: func() error { return nil }}
}

// on puts the cloud side into an OpenStack project.
func (at *site) on(driver *openstack.Driver, identity string) {
	at.cloud, at.identity = driver, identity
	at.drivers = append([]cloud.Driver{driver}, at.drivers...)
}

// into puts the Kubernetes side into a folder.
func (at *site) into(root string) {
	at.drivers = append(at.drivers, directory.New(root))
	at.header.Target, at.header.Directory = "directory "+tidy(root), tidy(root)
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

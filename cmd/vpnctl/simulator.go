package main

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/vpnctl/vpnctl/cloud/simulator"
	"github.com/vpnctl/vpnctl/plan/manifest"
	"github.com/vpnctl/vpnctl/plan/vpn"
)

type simulatorCommand struct {
	Serve   simulatorServe   `cmd:"" default:"withargs" help:"Serve it until Ctrl-C."`
	Request simulatorRequest `cmd:"" help:"Make one API call, as another client would."`
}

type simulatorServe struct {
	Listen string `default:"127.0.0.1:0" placeholder:"ADDR" help:"Loopback address and port. Default: ${default}, any free port."`
	State  string `placeholder:"DIR" help:"Keep the state in DIR; --sim=DIR uses the same one. Default: in memory."`
	Faults string `placeholder:"FILE" help:"Inject faults: JSON lines such as {\"call\": 7, \"do\": \"drop\"}."`
	Clouds string `placeholder:"FILE" help:"Write the clouds.yaml into FILE, once it serves. Default: to stdout."`
}

// Help is what --help adds.
func (simulatorServe) Help() string {
	return `Answers as Keystone, Neutron and Nova do, on loopback only. It starts with the network, router, pool and nodes that the Estate names, and prints a clouds.yaml with the logins operator (the project of the gateways), operator-admin (the same as an administrator) and customer (another project). A fourth one, admin (of the cloud: quotas, say), is for simulator request --cloud admin alone.

Examples:

    vpnctl simulator --clouds clouds.yaml &
    OS_CLIENT_CONFIG_FILE=clouds.yaml OS_CLOUD=operator vpnctl plan gateways/`
}

func (c simulatorServe) Run(g *Globals, s *streams, stop *interrupts) error {
	seed, err := g.seed()
	if err != nil {
		return err
	}
	if c.Clouds != "" {
		if err := replaceable(c.Clouds, isSimulated); err != nil {
			return fmt.Errorf("--clouds: %w", err)
		}
	}
	o := simulator.Options{Dir: c.State, Seed: seed, Log: g.log(s)}
	if c.Faults != "" {
		f, err := os.Open(c.Faults)
		if err != nil {
			return fmt.Errorf("reading faults: %w", err)
		}
		defer f.Close()
		o.Faults = f
	}
	server, err := simulator.New(o)
	if err != nil {
		return err
	}
	defer server.Close()
	url, closed, err := server.Listen(c.Listen)
	if err != nil {
		return err
	}
	if err := c.tell(s, server, url); err != nil {
		return err
	}
	<-stop.stop
	return closed()
}

func (c simulatorServe) tell(s *streams, server *simulator.Server, url string) error {
	access, err := server.Credentials(url, "operator")
	if err != nil {
		return err
	}
	fmt.Fprintf(s.stderr, "Serving on %s until Ctrl-C.\n", url)
	if c.Clouds == "" {
		_, err := io.WriteString(s.stdout, access.CloudsYAML)
		return err
	}
	if err := replace(c.Clouds, []byte(cloudsHead+access.CloudsYAML), isSimulated); err != nil {
		return fmt.Errorf("writing clouds.yaml: %w", err)
	}
	return nil
}

// cloudsHead tells the file from the one that people log in to real clouds with.
const cloudsHead = "# Logins of a simulated cloud of vpnctl.\n"

func isSimulated(head []byte) bool { return bytes.HasPrefix(head, []byte(cloudsHead)) }

// seed is what a new simulated cloud starts with: what the Estate names, or the
// simulator's own defaults where there is no Estate.
func (g *Globals) seed() (simulator.Seed, error) {
	file := g.estateFile()
	if file == "" {
		return simulator.Seed{}, nil
	}
	loaded, found := manifest.Load([]string{file}, manifest.Options{EstateFile: file})
	if found.Errors() > 0 {
		return simulator.Seed{}, fmt.Errorf("%s is not a valid Estate: see vpnctl validate %s", file, file)
	}
	return seedOf(loaded.Estate), nil
}

// estateFile is the Estate's, where no manifest shows the way to it: the one that
// was given, or the nearest from here; empty: there is none.
func (g *Globals) estateFile() string {
	if g.Estate != "" {
		return g.Estate
	}
	return nearest("vpnctl.yaml")
}

func seedOf(e vpn.Estate) simulator.Seed {
	seed := simulator.Seed{Network: e.OpenStack.Network, Router: e.OpenStack.Router, FloatingIPPool: e.OpenStack.FloatingIPPool}
	for _, n := range simulatedNodes(e) {
		seed.Nodes = append(seed.Nodes, simulator.Node{Name: n.Name, ServerID: n.ServerID})
	}
	return seed
}

// simulatedNodes are the Estate's, or three where a cluster would be asked.
func simulatedNodes(e vpn.Estate) []vpn.Node {
	if len(e.Kubernetes.Nodes) > 0 {
		return e.Kubernetes.Nodes
	}
	var nodes []vpn.Node
	for i := 1; i <= 3; i++ {
		nodes = append(nodes, vpn.Node{Name: fmt.Sprintf("worker-%d", i), ServerID: fmt.Sprintf("51a7ed00-0000-4000-8000-00000000000%d", i)})
	}
	return nodes
}

// nearest finds a file here or in the folders above; empty: nowhere.
func nearest(name string) string {
	dir, err := filepath.Abs(".")
	if err != nil {
		return ""
	}
	for {
		path := filepath.Join(dir, name)
		if _, err := os.Stat(path); err == nil {
			return path
		}
		if dir == filepath.Dir(dir) {
			return ""
		}
		dir = filepath.Dir(dir)
	}
}

//go:build unix

package main

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/vpnctl/vpnctl/cloud/simulator"
)

// BenchmarkUnchanged is vpnctl plan and vpnctl render as whole processes, from
// start to exit, over an estate of so many gateways with four peers each that was
// applied before. The cloud is vpnctl simulator, another process on loopback.
//
//	s/run      from start to exit
//	cpu-s/run  the processor time of it
//	max-MiB    the most memory that it held
//	API-calls  without the login
func BenchmarkUnchanged(b *testing.B) {
	for _, n := range []int{2, 200, 1000} {
		b.Run(fmt.Sprintf("gateways=%d", n), func(b *testing.B) {
			f := newFleet(b, n)
			f.run(b, "apply", "--auto-approve")
			for _, args := range [][]string{{"plan", "--detailed-exitcode"}, {"render", "--out", "deploy"}} {
				b.Run(args[0], func(b *testing.B) {
					var spent spending
					for b.Loop() {
						spent.add(f.run(b, args...))
					}
					spent.report(b)
				})
			}
		})
	}
}

// fleet is a checkout of many gateways, with a simulated cloud that has room for
// them.
type fleet struct {
	b   *testing.B
	dir string
	env []string
}

// nodesOf is how many nodes so many gateways need, at twenty each.
func nodesOf(gateways int) int { return gateways/20 + 1 }

func newFleet(b *testing.B, gateways int) *fleet {
	b.Helper()
	f := &fleet{b: b, dir: b.TempDir()}
	f.write(gateways)
	state := filepath.Join(b.TempDir(), "cloud")
	seed := simulator.Seed{SubnetCIDR: "10.128.0.0/16", FloatingIPCIDR: "11.0.0.0/16"}
	for i := range nodesOf(gateways) {
		seed.Nodes = append(seed.Nodes, simulator.Node{Name: nodeName(i), ServerID: serverID(i)})
	}
	s, err := simulator.New(simulator.Options{Dir: state, Seed: seed})
	f.must(err)
	f.must(s.Close())
	f.serve(state)
	return f
}

func (f *fleet) must(err error) {
	if err != nil {
		f.b.Helper()
		f.b.Fatal(err)
	}
}

// serve starts the cloud and waits until it serves.
func (f *fleet) serve(state string) {
	f.b.Helper()
	clouds := filepath.Join(f.b.TempDir(), "clouds.yaml")
	cmd := exec.Command("vpnctl", "simulator", "--state", state, "--clouds", clouds)
	cmd.Dir = f.dir
	f.must(cmd.Start())
	ended := make(chan error, 1)
	go func() { ended <- cmd.Wait() }()
	f.b.Cleanup(func() {
		_ = cmd.Process.Signal(os.Interrupt) // it may have ended already
		<-ended
	})
	f.env = append(os.Environ(), "OS_CLIENT_CONFIG_FILE="+clouds, "OS_CLOUD=operator", "NO_COLOR=1")
	for end := time.Now().Add(time.Minute); ; time.Sleep(10 * time.Millisecond) {
		if _, err := os.Stat(clouds); err == nil {
			return
		} else if !errors.Is(err, os.ErrNotExist) || time.Now().After(end) {
			f.b.Fatalf("the simulator does not serve: %v", err)
		}
	}
}

func nodeName(i int) string { return fmt.Sprintf("worker-%03d", i) }

func serverID(i int) string { return fmt.Sprintf("51a7ed00-0000-4000-8000-%012d", i) }

const fleetEstate = `apiVersion: vpnctl.bnerd.net/v1alpha1
kind: Estate
metadata: {name: fleet}
spec:
  openstack: {network: vpn-transit, router: gateway-router, floatingIPPool: public}
  serviceCIDRPool: 100.64.0.0/10
  internalSourceCIDRs: [10.96.0.0/16]
  kubernetes:
    target: directory
    directory: deploy
    nodes:
`

const fleetGateway = `apiVersion: vpn.bnerd.net/v1alpha1
kind: VPNGateway
metadata: {name: dc1, namespace: customer-%[1]d}
spec:
  protocol: ipsec
  ipsec: {ike: {version: 2, proposals: [aes256gcm16-prfsha384-ecp384]}}
  exposures:
  - {name: web, target: {address: 10.20.0.1, ports: [443]}}
  - {name: ldap, target: {address: 10.20.0.2, ports: [636]}}
`

const fleetPeer = `---
apiVersion: vpn.bnerd.net/v1alpha1
kind: VPNPeer
metadata: {name: plant%[2]d, namespace: customer-%[1]d}
spec:
  gatewayRef: dc1
  ipsec:
    peer: {address: 198.51.100.1%[2]d, id: plant%[2]d.example}
    remoteSubnets: [192.168.1%[2]d.0/24]
    esp: {proposals: [aes256gcm16-prfsha384-ecp384]}
    pskSecretRef: {name: plant%[2]d-psk, key: psk}
  authorization: {exposures: [web]}
`

// write writes one file a gateway, its peers in it.
func (f *fleet) write(gateways int) {
	f.b.Helper()
	var estate bytes.Buffer
	estate.WriteString(fleetEstate)
	for i := range nodesOf(gateways) {
		fmt.Fprintf(&estate, "    - {name: %s, serverID: %s}\n", nodeName(i), serverID(i))
	}
	f.must(os.WriteFile(filepath.Join(f.dir, "vpnctl.yaml"), estate.Bytes(), 0o644))
	f.must(os.Mkdir(filepath.Join(f.dir, "gateways"), 0o755))
	for i := range gateways {
		var text bytes.Buffer
		fmt.Fprintf(&text, fleetGateway, i)
		for p := range 4 {
			fmt.Fprintf(&text, fleetPeer, i, p)
		}
		f.must(os.WriteFile(filepath.Join(f.dir, "gateways", fmt.Sprintf("customer-%d.yaml", i)), text.Bytes(), 0o644))
	}
}

// ran is what a process took, and what it said on stderr.
type ran struct {
	took   time.Duration
	state  *os.ProcessState
	stderr string
}

// run lets a vpnctl run over all manifests, which it has to do without an error
// and, for a plan, without a change.
func (f *fleet) run(b *testing.B, args ...string) ran {
	b.Helper()
	var stdout, stderr bytes.Buffer
	cmd := exec.Command("vpnctl", append(args, "gateways")...)
	cmd.Dir, cmd.Env, cmd.Stdout, cmd.Stderr = f.dir, f.env, &stdout, &stderr
	began := time.Now()
	if err := cmd.Run(); err != nil {
		out := stdout.String()
		b.Fatalf("vpnctl %s: %v\n%s\n%s", strings.Join(args, " "), err, &stderr, out[max(0, len(out)-4000):])
	}
	return ran{time.Since(began), cmd.ProcessState, stderr.String()}
}

// spending adds up what runs took.
type spending struct {
	n         int
	wall, cpu time.Duration
	peak      int64 // bytes
	calls     int
}

var callsSaid = regexp.MustCompile(`(\d+) API calls`)

func (u *spending) add(r ran) {
	u.n++
	u.wall += r.took
	u.cpu += r.state.UserTime() + r.state.SystemTime()
	if m := callsSaid.FindStringSubmatch(r.stderr); m != nil {
		u.calls, _ = strconv.Atoi(m[1])
	}
	if r, ok := r.state.SysUsage().(*syscall.Rusage); ok && runtime.GOOS == "linux" {
		u.peak = max(u.peak, int64(r.Maxrss)<<10)
	}
}

func (u *spending) report(b *testing.B) {
	b.ReportMetric(u.wall.Seconds()/float64(u.n), "s/run")
	b.ReportMetric(u.cpu.Seconds()/float64(u.n), "cpu-s/run")
	b.ReportMetric(float64(u.peak)/(1<<20), "max-MiB")
	b.ReportMetric(0, "ns/op")
	if u.calls > 0 {
		b.ReportMetric(float64(u.calls), "API-calls")
	}
}

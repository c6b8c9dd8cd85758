//go:build e2e

package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/vpnctl/vpnctl/cloud/kube/lab"
	"github.com/vpnctl/vpnctl/crds"
)

// stood is a namespace of a real cluster with a gateway, whose status the test writes.
type stood struct {
	t         *testing.T
	lab       *lab.Lab
	namespace string
	env       []string
}

func newStood(t *testing.T) *stood {
	t.Helper()
	t.Parallel()
	s := &stood{t: t, lab: lab.Start(t)}
	s.lab.Apply(t, crds.YAML())
	s.namespace = s.lab.Namespace(t)
	s.as(s.lab.Kubeconfig)
	s.apply("gateway.yaml")
	s.apply("plant1.yaml")
	return s
}

func (s *stood) as(kubeconfig string) {
	s.env = append(os.Environ(), "KUBECONFIG="+kubeconfig, "NO_COLOR=1")
}

// apply applies an example's manifest in the namespace, with something replaced in it.
func (s *stood) apply(file string, oldNew ...string) {
	s.t.Helper()
	edit := strings.NewReplacer(append(oldNew, "namespace: acme", "namespace: "+s.namespace)...)
	s.lab.Apply(s.t, []byte(edit.Replace(read(s.t, "examples/acme/"+file))))
}

// write puts something into a status, as some field manager.
func (s *stood) write(kind, name, manager, status string) {
	s.t.Helper()
	_, err := s.lab.Objects(s.t, "vpn.bnerd.net/v1alpha1", kind, s.namespace).Patch(s.t.Context(), name, types.MergePatchType,
		[]byte(`{"status": `+status+`}`), metav1.PatchOptions{FieldManager: manager}, "status")
	if err != nil {
		s.t.Fatal(err)
	}
}

// ready says of the gateway, as it is now, how it stands.
func (s *stood) ready(kind, status, reason, message string) {
	s.t.Helper()
	generation := s.lab.Get(s.t, "vpn.bnerd.net/v1alpha1", "VPNGateway", s.namespace, "dc1").GetGeneration()
	s.write("VPNGateway", "dc1", "vpnctl", fmt.Sprintf(`{"conditions": [{"type": %q, "status": %q, "reason": %q, "message": %q, "observedGeneration": %d, "lastTransitionTime": %q}]}`,
		kind, status, reason, message, generation, time.Now().UTC().Format(time.RFC3339)))
}

func (s *stood) command(args ...string) *exec.Cmd {
	cmd := exec.CommandContext(s.t.Context(), "vpnctl", args...)
	cmd.Env = s.env
	return cmd
}

// run ends with a code, and gives what it wrote.
func (s *stood) run(code int, args ...string) string {
	s.t.Helper()
	var out bytes.Buffer
	cmd := s.command(args...)
	cmd.Stdout, cmd.Stderr = &out, &out
	_ = cmd.Run()
	if got := cmd.ProcessState.ExitCode(); got != code {
		s.t.Errorf("vpnctl %s: exit %d, want %d:\n%s", strings.Join(args, " "), got, code, out.String())
	}
	return out.String()
}

func (s *stood) shows(text, want string) {
	s.t.Helper()
	if !strings.Contains(text, want) {
		s.t.Errorf("it doesn't say %q:\n%s", want, text)
	}
}

// TestKubeStatus: what a real API server keeps of statuses is shown, with list calls alone,
// by whoever may read one namespace, and through a restart of the server.
func TestKubeStatus(t *testing.T) {
	s := newStood(t)
	s.shows(s.run(exitDone, "status", "-n", s.namespace), "not looked at yet")
	s.ready("Ready", "True", "Ready", "")
	s.write("VPNGateway", "dc1", "vpnctl-agent", `{"peersUp": "0 of 1", "peers": [{"name": "plant1", "state": "DOWN", "up": "0 of 1", "message": "no answer"}]}`)
	mark := s.lab.Mark(t)
	s.shows(s.run(exitDone, "status", s.namespace+"/dc1"), "plant1  down  -  no answer")
	var calls []string
	for _, r := range s.lab.Requests(t, mark) {
		if strings.HasPrefix(r.Agent, "vpnctl/") {
			calls = append(calls, r.Verb+" "+r.Resource)
		}
	}
	if len(calls) != 3 || strings.Count(strings.Join(calls, " "), "list ") != 3 {
		t.Errorf("it made these calls: %v", calls)
	}
	s.reported()

	s.reader()
	s.shows(s.run(exitDone, "status", "-n", s.namespace), "plant1  down")
	s.shows(s.run(exitError, "status"), "forbidden")
	cmd := s.command("status", "--watch", "-n", s.namespace)
	out := listen(t, cmd)
	out.await("plant1 down: no answer")
	s.lab.Kill(t, lab.APIServer)
	out.await("cluster away since ")
	s.lab.Up(t)
	out.await("cluster is back")
	s.write("VPNGateway", "dc1", "vpnctl-agent", `{"peersUp": "1 of 1", "peers": [{"name": "plant1", "state": "ESTABLISHED", "up": "1 of 1"}]}`)
	out.await("plant1 up")
	out.interrupt(cmd, exitDone)
}

// reported wants the moment at which the pod wrote, which isn't that of other writers.
func (s *stood) reported() {
	s.t.Helper()
	time.Sleep(1100 * time.Millisecond) // the server's clock has seconds
	s.ready("Ready", "True", "Ready", "another word")
	var d struct {
		Gateways []struct {
			Reported   time.Time
			Conditions []struct{ Since time.Time }
		}
	}
	text := s.run(exitDone, "status", "-o", "json", s.namespace+"/dc1")
	if err := json.Unmarshal([]byte(text), &d); err != nil || len(d.Gateways) != 1 {
		s.t.Fatalf("%v: %s", err, text)
	}
	g := d.Gateways[0]
	if age := time.Since(g.Reported); age < time.Second || age > 2*time.Minute || !g.Conditions[0].Since.After(g.Reported) {
		s.t.Errorf("reported at %s, conditions written at %s", g.Reported, g.Conditions[0].Since)
	}
}

// reader goes on as somebody who may read this namespace alone.
func (s *stood) reader() {
	s.lab.Apply(s.t, []byte(strings.ReplaceAll(`
apiVersion: v1
kind: ServiceAccount
metadata: {name: reader, namespace: NS}
---
apiVersion: rbac.authorization.k8s.io/v1
kind: Role
metadata: {name: reader, namespace: NS}
rules:
- {apiGroups: [vpn.bnerd.net], resources: [vpngateways, vpnpeers], verbs: [list, watch]}
- {apiGroups: [ipsec.bnerd.net], resources: [ipsecgateways], verbs: [list, watch]}
---
apiVersion: rbac.authorization.k8s.io/v1
kind: RoleBinding
metadata: {name: reader, namespace: NS}
roleRef: {apiGroup: rbac.authorization.k8s.io, kind: Role, name: reader}
subjects: [{kind: ServiceAccount, name: reader, namespace: NS}]
`, "NS", s.namespace)))
	s.as(s.lab.ServiceAccount(s.t, s.namespace, "reader"))
	lab.Await(s.t, time.Minute, func(ctx context.Context) string { // rights take a moment
		cmd := s.command("status", "-n", s.namespace)
		if out, err := cmd.CombinedOutput(); err != nil {
			return string(out)
		}
		return ""
	})
}

// TestKubeStatusWait: every exit code of wait, on a real API server, which is away in between.
func TestKubeStatusWait(t *testing.T) {
	s := newStood(t)
	name := s.namespace + "/dc1"
	s.shows(s.run(exitTimedOut, "wait", "--timeout", "2s", name), "= "+name+"  not looked at yet")
	s.ready("Validated", "False", "InvalidSpec", "spec.serviceCIDR: overlaps")
	s.shows(s.run(exitStuck, "wait", name), "InvalidSpec: spec.serviceCIDR: overlaps")
	s.shows(s.run(exitError, "wait", "--kubeconfig", filepath.Join(t.TempDir(), "nowhere"), name), "nowhere")
	s.shows(s.run(exitError, "wait", "-n", "lab-nowhere"), "no gateways in namespace lab-nowhere")

	cmd := s.command("wait", "--keep-waiting", name)
	said, err := cmd.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	out := listen(t, cmd)
	lines := bufio.NewScanner(said)
	if !lines.Scan() || !strings.Contains(lines.Text(), "InvalidSpec") {
		t.Errorf("it waits for %q", lines.Text())
	}
	go func() {
		for lines.Scan() {
		}
	}()
	s.lab.Kill(t, lab.APIServer)
	s.lab.Up(t)
	s.write("VPNPeer", "plant1", "vpnctl", fmt.Sprintf(`{"conditions": [{"type": "Authorized", "status": "True", "reason": "DefaultAllow", "message": "", "observedGeneration": %d, "lastTransitionTime": %q}]}`,
		s.lab.Get(t, "vpn.bnerd.net/v1alpha1", "VPNPeer", s.namespace, "plant1").GetGeneration(), time.Now().UTC().Format(time.RFC3339)))
	s.ready("Ready", "True", "Ready", "")
	out.await("✓ " + name + "  ready")
	if err := cmd.Wait(); err != nil {
		t.Error(err)
	}
	s.apply("gateway.yaml", "ports: [636]", "ports: [389]")
	s.shows(s.run(exitTimedOut, "wait", "--timeout", "0", name), "status is of an older version of the manifest (generation 1, now 2)")
	cmd = s.command("wait", name)
	if said, err = cmd.StderrPipe(); err != nil {
		t.Fatal(err)
	}
	out = listen(t, cmd)
	if lines = bufio.NewScanner(said); !lines.Scan() {
		t.Error("it doesn't say what it waits for")
	}
	out.interrupt(cmd, exitInterrupted)
}

//go:build e2e

package lab

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"

	"github.com/vpnctl/vpnctl/agent/lab/configmap"
	"github.com/vpnctl/vpnctl/agent/lab/netns"
	"github.com/vpnctl/vpnctl/agent/report/fakeapi"
)

// pod is a gateway's pod.
type pod struct {
	namespace, name string
	ns, cluster     netns.Namespace
	dir             string // what the kubelet keeps of it
	rendered        rendered
	spec            corev1.PodSpec
	account         *fakeapi.Account
	eth0            string            // its address in the cluster
	mounted         map[string]string // ConfigMap to its folder
	memory          string            // folder of the memory volume
	containers      []*container
}

// understood are the fields of a pod template that the lab carries out, or knows not
// to matter here. Another one has to be thought about first.
var understood = []string{
	"metadata.labels", "metadata.annotations", "metadata.creationTimestamp",
	"spec.volumes.name", "spec.volumes.configMap.name", "spec.volumes.configMap.defaultMode",
	"spec.volumes.emptyDir.medium", "spec.volumes.emptyDir.sizeLimit", "spec.volumes.projected",
	"spec.volumes.hostPath.path", "spec.volumes.hostPath.type",
	"spec.containers.name", "spec.containers.image", "spec.containers.imagePullPolicy", "spec.containers.command", "spec.containers.args",
	"spec.containers.env.name", "spec.containers.env.value", "spec.containers.ports", "spec.containers.resources",
	"spec.containers.volumeMounts.name", "spec.containers.volumeMounts.readOnly", "spec.containers.volumeMounts.mountPath",
	"spec.containers.livenessProbe", "spec.containers.readinessProbe", "spec.containers.startupProbe",
	"spec.containers.terminationMessagePath", "spec.containers.terminationMessagePolicy",
	"spec.containers.securityContext.capabilities", "spec.containers.securityContext.privileged", "spec.containers.securityContext.runAsUser",
	"spec.containers.securityContext.readOnlyRootFilesystem", "spec.containers.securityContext.allowPrivilegeEscalation",
	"spec.restartPolicy", "spec.terminationGracePeriodSeconds", "spec.dnsPolicy", "spec.serviceAccountName", "spec.serviceAccount",
	"spec.automountServiceAccountToken", "spec.nodeName", "spec.securityContext.sysctls", "spec.securityContext.seccompProfile",
	"spec.schedulerName", "spec.tolerations", "spec.enableServiceLinks",
}

// foreignFields are those of the template that nobody thought about.
func foreignFields(template corev1.PodTemplateSpec) (foreign []string) {
	data, _ := json.Marshal(template)
	var tree any
	_ = json.Unmarshal(data, &tree)
	var walk func(path string, v any)
	walk = func(path string, v any) {
		if slices.Contains(understood, path) {
			return
		}
		switch v := v.(type) {
		case map[string]any:
			for key, below := range v {
				walk(strings.TrimPrefix(path+"."+key, "."), below)
			}
		case []any:
			for _, below := range v {
				walk(path, below)
			}
		default:
			foreign = append(foreign, path)
		}
	}
	walk("", tree)
	slices.Sort(foreign)
	return slices.Compact(foreign)
}

// newPod makes the pod's network and volumes. Nothing runs yet.
func newPod(t *testing.T, l *lab, namespace, name string) *pod {
	t.Helper()
	p := &pod{
		namespace: namespace, name: name, dir: labPath(t, "pods", name), mounted: map[string]string{},
		rendered: l.estate.read(t, namespace, name), ns: netns.New(t, name), cluster: l.cluster.ns,
	}
	template := p.rendered.template.Spec.Template
	if foreign := foreignFields(template); len(foreign) > 0 {
		t.Fatalf("the Deployment has fields that the lab doesn't know: %v", foreign)
	}
	p.spec = template.Spec
	l.cluster.join(t, p)
	for _, s := range p.spec.SecurityContext.Sysctls {
		p.ns.Sysctl(t, s.Name, s.Value)
	}
	attach(t, p.rendered.attachment, p.ns, func(mac string) { l.fabric.port(t, p, mac) })
	at := p.volumes(t)
	etc := filepath.Join(p.dir, "etc")
	if err := os.MkdirAll(etc, 0o755); err != nil {
		t.Fatal(err)
	}
	resolv := fmt.Sprintf("search %s.svc.cluster.local svc.cluster.local cluster.local\nnameserver %s\noptions ndots:5\n", namespace, dnsAddress)
	for file, text := range map[string]string{"resolv.conf": resolv, "hosts": "127.0.0.1 localhost\n"} {
		if err := os.WriteFile(filepath.Join(etc, file), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	for _, c := range p.spec.Containers {
		p.containers = append(p.containers, newContainer(t, p, c, l.estate.binary, etc, at))
	}
	return p
}

// start runs the pod's containers, and keeps them running until the test ends.
func (p *pod) start(t *testing.T) {
	t.Helper()
	for _, c := range p.containers {
		c.start(t)
	}
}

// container finds one by name.
func (p *pod) container(name string) *container {
	i := slices.IndexFunc(p.containers, func(c *container) bool { return c.spec.Name == name })
	if i < 0 {
		panic("no container " + name)
	}
	return p.containers[i]
}

// ready waits until every container is.
func (p *pod) ready() bool {
	return !slices.ContainsFunc(p.containers, func(c *container) bool { return !c.isReady() })
}

// sync gives the pod's mounted ConfigMaps what is rendered now, and its account the
// rendered Role. The pod itself must stay as it is.
func (p *pod) sync(t *testing.T, e *estate) {
	t.Helper()
	next := e.read(t, p.namespace, p.name)
	if !bytes.Equal(next.deployment, p.rendered.deployment) {
		t.Errorf("an edit of peers, exposures or grants changes the Deployment of %s", p.name)
	}
	p.rendered = next
	p.account.SetRules(next.rules...)
	for name, dir := range p.mounted {
		if err := configmap.Swap(dir, next.configs[name].Data); err != nil {
			t.Fatal(err)
		}
	}
}

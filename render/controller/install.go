package controller

import (
	"cmp"
	"fmt"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/vpnctl/vpnctl/crds"
	"github.com/vpnctl/vpnctl/plan/vpn"
	"github.com/vpnctl/vpnctl/render/pod"
	"github.com/vpnctl/vpnctl/render/yaml"
)

// Defaults of an Install.
const (
	Namespace = "vpnctl-system"
	Secret    = "vpnctl-openstack"
	Replicas  = 2
)

// Name is that of every object but those named after what they hold.
const Name = "vpnctl-controller"

// Install is what the manifests follow from. Empty fields have defaults, where there is
// one.
type Install struct {
	Namespace  string
	Image      string // default: that of the gateway pods, which holds the same binary
	Replicas   int32
	Secret     string  // in the namespace, with the login to OpenStack; people make it
	CloudPorts []int32 // of OpenStack's services, for the NetworkPolicy

	Estate     vpn.Estate
	EstateFile string // the text that Estate was read from

	OperatorStopped bool // no operator looks after the gateways: what it made is taken over

	CRDs, PodMonitor, PrometheusRule bool
}

// CloudPorts are those of Keystone, Neutron and Nova, and of clouds that serve all of
// them by HTTPS on one.
var CloudPorts = []int32{443, 5000, 8774, 9696}

func (i Install) complete() Install {
	i.Namespace = cmp.Or(i.Namespace, Namespace)
	i.Image = cmp.Or(i.Image, i.Estate.Pod.Image, pod.Image)
	i.Replicas = cmp.Or(i.Replicas, Replicas)
	i.Secret = cmp.Or(i.Secret, Secret)
	if len(i.CloudPorts) == 0 {
		i.CloudPorts = CloudPorts
	}
	return i
}

// object is one object, its body as package yaml writes it.
type object struct {
	apiVersion, kind, name string
	body                   any
}

// objects are all objects, each after what it needs.
func (i Install) objects() []object {
	all := []object{i.namespace(), i.account(), i.clusterRole(), i.clusterBinding(), i.role(), i.binding(), i.estate()}
	if i.Estate.NetworkPolicy {
		all = append(all, i.policy())
	}
	all = append(all, i.budget(), i.deployment())
	if i.PodMonitor || i.Estate.Monitoring.PodMonitor {
		all = append(all, i.podMonitor())
	}
	if i.PrometheusRule || i.Estate.Monitoring.PrometheusRule {
		all = append(all, i.prometheusRule())
	}
	return all
}

// Stream is everything as one stream of YAML documents, each after what it needs: the
// same Install, the same bytes.
func Stream(i Install) (string, error) {
	var b strings.Builder
	files, err := Files(i)
	if err != nil {
		return "", err
	}
	for _, f := range files {
		if f.Name == kustomization {
			continue
		}
		if b.Len() > 0 {
			b.WriteString("---\n")
		}
		b.WriteString(strings.TrimPrefix(f.Text, Marker))
	}
	return b.String(), nil
}

// A File is one of a folder's, by its name in it.
type File struct{ Name, Text string }

// Marker is the first line of every file: one without it is somebody else's.
const Marker = "# Written by vpnctl render controller.\n"

const kustomization = "kustomization.yaml"

// Files is everything as a folder that kustomize builds: one file an object, the
// definitions of the kinds in another, and the kustomization last.
func Files(i Install) ([]File, error) {
	i = i.complete()
	var files []File
	if i.CRDs {
		files = append(files, File{"crds.yaml", Marker + strings.TrimPrefix(string(crds.YAML()), "---\n")})
	}
	for _, o := range i.objects() {
		text, err := yaml.Object(o.apiVersion, o.kind, o.body)
		if err != nil {
			return nil, fmt.Errorf("writing %s %s: %w", o.kind, o.name, err)
		}
		files = append(files, File{strings.ToLower(o.kind) + "-" + o.name + ".yaml", Marker + text})
	}
	list := Marker + "apiVersion: kustomize.config.k8s.io/v1beta1\nkind: Kustomization\nresources:\n"
	for _, f := range files {
		list += "- " + f.Name + "\n"
	}
	return append(files, File{kustomization, list}), nil
}

// meta is the metadata of an object in the namespace. It has none of the marks by which
// vpnctl knows what is an estate's: nothing of this is a gateway's.
func (i Install) meta(name string) metav1.ObjectMeta {
	return metav1.ObjectMeta{Name: name, Namespace: i.Namespace, Labels: labels()}
}

// labels are what the pods are selected by, too.
func labels() map[string]string {
	return map[string]string{"app.kubernetes.io/name": Name, "app.kubernetes.io/part-of": "vpnctl"}
}

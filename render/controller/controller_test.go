package controller

import (
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	appsv1 "k8s.io/api/apps/v1"
	networkingv1 "k8s.io/api/networking/v1"
	"sigs.k8s.io/yaml"

	"github.com/vpnctl/vpnctl/plan/manifest"
	"github.com/vpnctl/vpnctl/plan/vpn"
	"github.com/vpnctl/vpnctl/render/pod"
	yamlwriter "github.com/vpnctl/vpnctl/render/yaml"
)

var update = flag.Bool("update", false, "rewrite what examples hold of it")

const example = "../../examples/in-cluster/"

// install is that of the example.
func install(t *testing.T) Install {
	t.Helper()
	text, err := os.ReadFile(example + "vpnctl.yaml")
	if err != nil {
		t.Fatal(err)
	}
	read, found := manifest.FromClusterText("vpnctl.yaml", text, nil)
	if len(found) > 0 {
		t.Fatal(found)
	}
	return Install{Estate: read.Estate, EstateFile: string(text)}
}

// TestExample is what stands in the example's folder, which has nothing else.
func TestExample(t *testing.T) {
	files, err := Files(install(t))
	if err != nil {
		t.Fatal(err)
	}
	want := map[string]string{}
	for _, f := range files {
		want[f.Name] = f.Text
		if *update {
			if err := os.WriteFile(filepath.Join(example, "controller", f.Name), []byte(f.Text), 0o644); err != nil {
				t.Fatal(err)
			}
		}
	}
	got := folder(t)
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("run with -update (-want +got)\n%s", diff)
	}
}

// folder is what stands in the example's, by name.
func folder(t *testing.T) map[string]string {
	t.Helper()
	got := map[string]string{}
	paths, err := filepath.Glob(filepath.Join(example, "controller", "*"))
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range paths {
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		got[filepath.Base(path)] = string(text)
	}
	return got
}

// TestAlerts stand beside those on gateways, for those who keep rules in one place.
func TestAlerts(t *testing.T) {
	const file = "../../examples/monitoring/controller.yaml"
	i := install(t).complete()
	o := i.prometheusRule()
	want, err := yamlwriter.Object(o.apiVersion, o.kind, o.body)
	if err != nil {
		t.Fatal(err)
	}
	want = "# Alerts on vpnctl reconcile, as vpnctl render controller --prometheus-rule prints them.\n" + want
	if *update {
		if err := os.WriteFile(file, []byte(want), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	got, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, string(got)); diff != "" {
		t.Errorf("run with -update (-want +got)\n%s", diff)
	}
}

// documents are those of a stream, by kind.
func documents(t *testing.T, i Install) map[string]string {
	t.Helper()
	stream, err := Stream(i)
	if err != nil {
		t.Fatal(err)
	}
	all := map[string]string{}
	for text := range strings.SplitSeq(stream, "---\n") {
		var o struct {
			APIVersion, Kind string
			Metadata         struct{ Name, Namespace string }
		}
		if err := yaml.Unmarshal([]byte(text), &o); err != nil || o.APIVersion == "" || o.Metadata.Name == "" {
			t.Fatalf("%v in:\n%s", err, text)
		}
		if all[o.Kind] == "" {
			all[o.Kind] = text
		}
	}
	return all
}

func read[T any](t *testing.T, text string) T {
	t.Helper()
	var o T
	if err := yaml.UnmarshalStrict([]byte(text), &o); err != nil {
		t.Fatalf("%v in:\n%s", err, text)
	}
	return o
}

func TestChoices(t *testing.T) {
	plain := func(edit func(*Install)) Install {
		i := install(t)
		i.Estate.Monitoring = vpn.Monitoring{}
		edit(&i)
		return i
	}
	for sentence, c := range map[string]struct {
		install Install
		check   func(map[string]string) any
		want    any
	}{
		"the image is the gateways'": {
			plain(func(i *Install) { i.Estate.Pod.Image = "images.example.org/gateway:7" }), image(t), "images.example.org/gateway:7"},
		"or that of this release": {
			plain(func(i *Install) { i.Estate.Pod.Image = "" }), image(t), pod.Image},
		"or another one": {
			plain(func(i *Install) { i.Image = "images.example.org/vpnctl:8" }), image(t), "images.example.org/vpnctl:8"},
		"monitoring comes where it is asked for": {
			plain(func(i *Install) { i.PodMonitor, i.PrometheusRule = true, true }), kinds("PodMonitor", "PrometheusRule"), "PodMonitor PrometheusRule "},
		"and where the Estate asks for it": {
			plain(func(i *Install) { i.Estate.Monitoring.PodMonitor = true }), kinds("PodMonitor", "PrometheusRule"), "PodMonitor "},
		"and else not": {
			plain(func(*Install) {}), kinds("PodMonitor", "PrometheusRule"), ""},
		"the definitions of the kinds come where they are asked for": {
			plain(func(i *Install) { i.CRDs = true }), kinds("CustomResourceDefinition", "Deployment"), "CustomResourceDefinition Deployment "},
		"there is a policy": {
			plain(func(*Install) {}), egress(t), []int32{443, 5000, 6443, 8774, 9696}},
		"for the cloud's own ports": {
			plain(func(i *Install) { i.CloudPorts = []int32{13000, 443} }), egress(t), []int32{443, 6443, 13000}},
		"and none where the Estate wants none": {
			plain(func(i *Install) { i.Estate.NetworkPolicy = false }), kinds("NetworkPolicy"), ""},
		"the login is a clouds.yaml": {
			plain(func(*Install) {}), login(t), "OS_CLIENT_CONFIG_FILE=/etc/openstack/clouds.yaml of vpnctl-openstack"},
		"or variables where the Estate names no entry of one": {
			plain(func(i *Install) { i.Estate.OpenStack.Cloud, i.Secret = "", "login" }), login(t), "variables of login"},
	} {
		t.Run(sentence, func(t *testing.T) {
			if diff := cmp.Diff(c.want, c.check(documents(t, c.install))); diff != "" {
				t.Errorf("(-want +got)\n%s", diff)
			}
		})
	}
}

func image(t *testing.T) func(map[string]string) any {
	return func(all map[string]string) any {
		return read[appsv1.Deployment](t, all["Deployment"]).Spec.Template.Spec.Containers[0].Image
	}
}

func kinds(of ...string) func(map[string]string) any {
	return func(all map[string]string) any {
		there := ""
		for _, kind := range of {
			if all[kind] != "" {
				there += kind + " "
			}
		}
		return there
	}
}

func egress(t *testing.T) func(map[string]string) any {
	return func(all map[string]string) any {
		var ports []int32
		for _, p := range read[networkingv1.NetworkPolicy](t, all["NetworkPolicy"]).Spec.Egress[1].Ports {
			ports = append(ports, p.Port.IntVal)
		}
		return ports
	}
}

func login(t *testing.T) func(map[string]string) any {
	return func(all map[string]string) any {
		spec := read[appsv1.Deployment](t, all["Deployment"]).Spec.Template.Spec
		c := spec.Containers[0]
		if len(c.EnvFrom) > 0 && len(spec.Volumes) == 1 && len(c.VolumeMounts) == 1 {
			return "variables of " + c.EnvFrom[0].SecretRef.Name
		}
		if len(c.Env) == 1 && len(spec.Volumes) == 2 && len(c.VolumeMounts) == 2 && strings.HasPrefix(c.Env[0].Value, c.VolumeMounts[1].MountPath+"/") {
			return c.Env[0].Name + "=" + c.Env[0].Value + " of " + spec.Volumes[1].Secret.SecretName
		}
		return c
	}
}

// TestDefaults: what is left out is what the constants say.
func TestDefaults(t *testing.T) {
	i := install(t)
	short, err := Stream(i)
	if err != nil {
		t.Fatal(err)
	}
	i.Namespace, i.Secret, i.Replicas = Namespace, Secret, Replicas
	long, err := Stream(i)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(long, short); diff != "" {
		t.Errorf("(-written out +by default)\n%s", diff)
	}
}

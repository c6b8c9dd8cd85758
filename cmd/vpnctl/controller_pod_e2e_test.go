//go:build e2e

package main

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/tools/clientcmd"

	"github.com/vpnctl/vpnctl/cloud/kube/lab"
	"github.com/vpnctl/vpnctl/render/controller"
)

// TestKubeControllerPod runs the container of the Deployment as a kubelet would: its
// command, environment and mounts, its user without a capability, a file system that it
// can't write to, and the cluster found by what every pod has. Wants root.
func TestKubeControllerPod(t *testing.T) {
	i := install(t, "")
	i.cloud()
	var d appsv1.Deployment
	if err := runtime.DefaultUnstructuredConverter.FromUnstructured(i.lab.Get(t, "apps/v1", "Deployment", i.home, controller.Name).Object, &d); err != nil {
		t.Fatal(err)
	}
	address := i.pod(d.Spec.Template.Spec)
	c := d.Spec.Template.Spec.Containers[0]
	for _, probe := range []*corev1.Probe{c.LivenessProbe, c.ReadinessProbe} {
		lab.Await(t, time.Minute, func(context.Context) string {
			answer, err := http.Get("http://" + address + probe.HTTPGet.Path)
			if err != nil {
				return err.Error()
			}
			defer answer.Body.Close()
			if answer.StatusCode != http.StatusOK {
				return probe.HTTPGet.Path + ": " + answer.Status
			}
			return ""
		})
	}
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", i.running.Process.Pid))
	for _, line := range []string{"Uid:\t65534\t65534\t65534\t65534", "CapBnd:\t0000000000000000", "NoNewPrivs:\t1"} {
		if err != nil || !strings.Contains(string(status), line) {
			t.Errorf("it doesn't run confined: %v, want %q in\n%s", err, line, status)
		}
	}
	i.lab.Apply(t, []byte(strings.ReplaceAll(read(i.t, others), "NAMESPACE", i.namespace)))
	i.ready("vpn.bnerd.net/v1alpha1", "VPNGateway", "remote", "True Ready")
	i.lab.Delete(t, "vpn.bnerd.net/v1alpha1", "VPNPeer", i.namespace, "ina")
	i.lab.Delete(t, "vpn.bnerd.net/v1alpha1", "VPNGateway", i.namespace, "remote")
	i.lab.Delete(t, "ipsec.bnerd.net/v1alpha1", "IPsecGateway", i.namespace, "old")
	i.empty()
	i.stop()
	lease := i.lab.Get(t, "coordination.k8s.io/v1", "Lease", i.home, controller.LeaseName(i.namespace))
	if holder := lease.Object["spec"].(map[string]any)["holderIdentity"]; holder != nil && holder != "" {
		t.Errorf("it has ended, and %v still holds the Lease", holder)
	}
}

// pod starts the pod's container and returns the address where it listens, which is one
// of this machine's alone.
func (i *installed) pod(spec corev1.PodSpec) string {
	i.t.Helper()
	free, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		i.t.Fatal(err)
	}
	address := free.Addr().String()
	free.Close()
	c, user := spec.Containers[0], *spec.SecurityContext.RunAsUser
	env := []string{"PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"}
	for _, e := range c.Env {
		env = append(env, e.Name+"="+e.Value)
	}
	args := append(c.Command, c.Args...)
	for n := range args {
		args[n] = strings.Replace(args[n], fmt.Sprintf(":%d", c.Ports[0].ContainerPort), address, 1)
	}
	i.running = exec.Command("unshare", append([]string{"--mount", "--propagation", "private", "bash", "-euc", i.mounts(spec) + fmt.Sprintf(
		"exec setpriv --reuid %d --regid %d --clear-groups --no-new-privs --bounding-set -all --inh-caps -all \"$@\"", user, *spec.SecurityContext.FSGroup), "bash"}, args...)...)
	i.running.Env = append(env, i.found()...)
	i.running.Stderr = &i.log
	if err := i.running.Start(); err != nil {
		i.t.Fatal(err)
	}
	cmd := i.running
	i.t.Cleanup(func() {
		_ = cmd.Process.Kill()
		if i.t.Failed() {
			i.t.Logf("the controller's log:\n%s", i.log.String())
		}
	})
	return address
}

// found is by what a pod finds the API server.
func (i *installed) found() []string {
	config, err := clientcmd.LoadFromFile(i.as)
	if err != nil {
		i.t.Fatal(err)
	}
	in := config.Contexts[config.CurrentContext]
	at, err := url.Parse(config.Clusters[in.Cluster].Server)
	if err != nil {
		i.t.Fatal(err)
	}
	return []string{"KUBERNETES_SERVICE_HOST=" + at.Hostname(), "KUBERNETES_SERVICE_PORT=" + at.Port()}
}

// mounts is what bash does for the container's file system: folders of this test, where
// the pod has volumes, in a tree that can't be written to.
func (i *installed) mounts(spec corev1.PodSpec) string {
	config, err := clientcmd.LoadFromFile(i.as)
	if err != nil {
		i.t.Fatal(err)
	}
	in := config.Contexts[config.CurrentContext]
	i.file("token/token", config.AuthInfos[in.AuthInfo].Token)
	i.file("token/ca.crt", string(config.Clusters[in.Cluster].CertificateAuthorityData))
	i.file("token/namespace", i.home)
	estate := i.lab.Get(i.t, "v1", "ConfigMap", i.home, spec.Volumes[0].ConfigMap.Name)
	for name, text := range estate.Object["data"].(map[string]any) {
		i.file("estate/"+name, text.(string))
	}
	login, err := os.ReadFile(filepath.Join(i.dir, "clouds.yaml"))
	if err != nil {
		i.t.Fatal(err)
	}
	i.file("openstack/clouds.yaml", string(login))
	vpnctl, err := exec.LookPath("vpnctl")
	if err != nil {
		i.t.Fatal(err)
	}
	script := "mkdir -p " + i.dir + "/bin; cp " + vpnctl + " " + i.dir + "/bin/vpnctl\n"
	at := map[string]string{"/run/secrets/kubernetes.io/serviceaccount": "token"} // /var/run is /run
	for _, m := range spec.Containers[0].VolumeMounts {
		at[m.MountPath] = m.Name
	}
	script += "mount -t tmpfs -o mode=755 pod /mnt; cp -r " + i.dir + "/{token,estate,openstack,bin} /mnt\n" +
		"chown -R 0:" + fmt.Sprint(*spec.SecurityContext.FSGroup) + " /mnt/openstack; chmod " + fmt.Sprintf("%o", *spec.Volumes[1].Secret.DefaultMode) + " /mnt/openstack/*\n" +
		"mount -t tmpfs -o mode=755 pod /run; mount -t tmpfs -o mode=755 pod /etc; mount --bind /mnt/bin /usr/local/bin\n"
	for path, name := range at {
		script += "mkdir -p " + path + "; mount --bind /mnt/" + name + " " + path + "\n"
	}
	return script + "mount -t tmpfs -o ro pod /tmp; mount -o remount,bind,ro /run; mount -o remount,bind,ro /etc; mount -o remount,bind,ro /\n"
}

package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"k8s.io/apimachinery/pkg/util/validation"

	estatev1alpha1 "github.com/vpnctl/vpnctl/crds/estate/v1alpha1"
	"github.com/vpnctl/vpnctl/plan/manifest"
	"github.com/vpnctl/vpnctl/plan/view"
	"github.com/vpnctl/vpnctl/render/controller"
)

type renderController struct {
	Out             string  `short:"o" placeholder:"DIR" help:"Write into this folder, with a kustomization.yaml; only files that this wrote are ever changed or removed. Default: to stdout."`
	Namespace       string  `default:"vpnctl-system" placeholder:"NS" help:"Where the controller runs. Default: ${default}."`
	Image           string  `placeholder:"IMAGE" help:"What it runs. Default: the Estate's gatewayPod.image, which holds the same program."`
	Replicas        int32   `default:"2" placeholder:"N" help:"How many; one of them works. Default: ${default}."`
	OpenstackSecret string  `default:"vpnctl-openstack" placeholder:"NAME" help:"The Secret with the login, which you make: its key clouds.yaml, or OS_* variables where the Estate names no cloud. Default: ${default}."`
	OpenstackPort   []int32 `placeholder:"PORT" help:"Where the cloud's services listen, for the NetworkPolicy; repeatable. Default: 443, 5000, 8774 and 9696."`
	OperatorStopped bool    `help:"No operator looks after these gateways any more, so what it made is taken over. Needless where its Deployment is found, at zero."`
	Crds            bool    `help:"The CustomResourceDefinitions as well."`
	PodMonitor      bool    `help:"A PodMonitor; also without this flag where the Estate's monitoring asks for them."`
	PrometheusRule  bool    `help:"Alerts on the controller; also without this flag where the Estate's monitoring asks for them."`
}

// Help is what --help adds.
func (renderController) Help() string {
	return `Prints a namespace, the Estate's file as a ConfigMap, an account with no right that reconcile doesn't need, and a Deployment of which one replica works and the others stand by. The same input gives the same bytes. spec.kubernetes.target must be cluster.

The login to OpenStack is a Secret that you make. A clouds.yaml with the entry that the Estate names (and whatever stands beside it, such as secure.yaml or a cacert below /etc/openstack):

    kubectl -n vpnctl-system create secret generic vpnctl-openstack --from-file=clouds.yaml

Where the Estate names no cloud, OS_* variables: --from-env-file=FILE instead.

Examples:

    vpnctl render controller --crds | kubectl apply --server-side -f -
    vpnctl render controller -o controller/

After an edit of the Estate's file print it again, or edit the ConfigMap: it counts without a restart, but for spec.openstack.cloud. Keep gateways out of the controller's namespace, which takes restricted pods only.`
}

// check refuses values that no cluster would take.
func (c renderController) check(g *Globals) error {
	if g.Sim.On {
		return errors.New("render controller is for a cluster, and --sim has none")
	}
	for _, n := range []struct {
		flag, value string
		wrong       func(string) []string
	}{{"--namespace", c.Namespace, validation.IsDNS1123Label}, {"--openstack-secret", c.OpenstackSecret, validation.IsDNS1123Subdomain}} {
		if wrong := n.wrong(n.value); len(wrong) > 0 {
			return fmt.Errorf("%s: %q is no name in Kubernetes: %s", n.flag, n.value, wrong[0])
		}
	}
	for _, p := range c.OpenstackPort {
		if p < 1 || p > 65535 {
			return fmt.Errorf("--openstack-port is %d, but must be a port", p)
		}
	}
	switch {
	case c.Replicas < 1:
		return fmt.Errorf("--replicas is %d, but must be at least 1", c.Replicas)
	case strings.ContainsFunc(c.Image, func(r rune) bool { return r <= ' ' || r > '~' }):
		return fmt.Errorf("--image: %q is not an image reference", c.Image)
	}
	return nil
}

func (c renderController) Run(g *Globals, s *streams) error {
	if err := c.check(g); err != nil {
		return err
	}
	install, err := c.install(g, s)
	if err != nil {
		return err
	}
	if c.Out != "" {
		return c.write(install, s)
	}
	text, err := controller.Stream(install)
	if err != nil {
		return err
	}
	_, err = io.WriteString(s.stdout, text)
	return err
}

func (c renderController) install(g *Globals, s *streams) (controller.Install, error) {
	file, estate, err := g.clusterEstate(s)
	if err != nil {
		return controller.Install{}, err
	}
	text, err := os.ReadFile(file)
	if err != nil {
		return controller.Install{}, err
	}
	if err := alone(text); err != nil {
		return controller.Install{}, fmt.Errorf("%s: %w", file, err)
	}
	return controller.Install{
		Namespace: c.Namespace, Image: c.Image, Replicas: c.Replicas, Secret: c.OpenstackSecret, CloudPorts: c.OpenstackPort,
		Estate: estate, EstateFile: string(text), OperatorStopped: c.OperatorStopped, CRDs: c.Crds, PodMonitor: c.PodMonitor, PrometheusRule: c.PrometheusRule,
	}, nil
}

// alone refuses an Estate that needs other files: the controller has none.
func alone(text []byte) error {
	nowhere, err := os.MkdirTemp("", "vpnctl-*")
	if err != nil {
		return err
	}
	defer os.Remove(nowhere)
	_, found := manifest.FromClusterText(filepath.Join(nowhere, estatev1alpha1.FileName), text, nil)
	for _, d := range found {
		if d.Severity == manifest.Error {
			return fmt.Errorf("%s: the controller has the Estate's file alone: write the patch itself into it, as patch", d.Field)
		}
	}
	return nil
}

// write puts the files into the folder and takes away those of an earlier run that are
// none any more. A file that this didn't write is refused by name, before any is written.
func (c renderController) write(install controller.Install, s *streams) error {
	files, err := controller.Files(install)
	if err != nil {
		return err
	}
	wanted := map[string]bool{}
	for _, f := range files {
		wanted[f.Name] = true
		if err := replaceable(filepath.Join(c.Out, f.Name), isController); err != nil {
			return fmt.Errorf("--out: %w", err)
		}
	}
	if err := os.MkdirAll(c.Out, 0o755); err != nil {
		return err
	}
	for _, f := range files {
		if err := os.WriteFile(filepath.Join(c.Out, f.Name), []byte(f.Text), 0o644); err != nil {
			return err
		}
	}
	removed, err := c.tidy(wanted)
	if err != nil {
		return err
	}
	_, err = fmt.Fprintf(s.stdout, "%s: %d files written, %d removed\n", view.Plain(tidy(c.Out)), len(files), removed)
	return err
}

// tidy removes what an earlier run has written and this one hasn't.
func (c renderController) tidy(wanted map[string]bool) (removed int, err error) {
	entries, err := os.ReadDir(c.Out)
	if err != nil {
		return 0, err
	}
	for _, e := range entries {
		path := filepath.Join(c.Out, e.Name())
		if wanted[e.Name()] || !e.Type().IsRegular() || filepath.Ext(path) != ".yaml" {
			continue
		}
		if head, err := beginning(path); err != nil || !isController(head) {
			continue
		}
		if err := os.Remove(path); err != nil {
			return removed, err
		}
		removed++
	}
	return removed, nil
}

func isController(head []byte) bool { return strings.HasPrefix(string(head), controller.Marker) }

package loop

import (
	"fmt"
	"os"
	"strings"

	"github.com/vpnctl/vpnctl/plan/manifest"
	"github.com/vpnctl/vpnctl/plan/vpn"
)

// estateFile is the Estate's file as it was last good.
type estateFile struct {
	text    []byte
	name    string // of the Estate: it stands in every mark
	cloud   string // the clouds.yaml entry that the drivers are connected to
	problem string // why the file as it is now doesn't count; empty: it does
}

// read reads the manifests of a cluster for the Estate in the file. Where that is not
// valid, or is another Estate, the last good one counts and problem says so; without one
// there is nothing to go by, and that is an error.
func (f *estateFile) read(path string, held []manifest.Standing) (*manifest.Cluster, error) {
	text, err := os.ReadFile(path)
	if err == nil {
		var c *manifest.Cluster
		if c, err = f.accept(path, text, held); err == nil {
			f.text, f.name, f.cloud, f.problem = text, c.Estate.Name, c.Estate.OpenStack.Cloud, ""
			return c, nil
		}
	}
	if f.text == nil {
		return nil, err
	}
	f.problem = err.Error()
	c, _ := manifest.FromClusterText(path, f.text, held)
	return c, nil
}

// called is the name of the Estate. A file's first word on it counts for as long as this
// run lasts.
func (f *estateFile) called(path string) (string, error) {
	if f.text == nil {
		if _, err := f.read(path, nil); err != nil {
			return "", err
		}
	}
	return f.name, nil
}

func (f *estateFile) accept(path string, text []byte, held []manifest.Standing) (*manifest.Cluster, error) {
	c, found := manifest.FromClusterText(path, text, held)
	for _, d := range found {
		if d.Severity == manifest.Error {
			return nil, fmt.Errorf("%s: %s", path, strings.TrimPrefix(d.Field+": "+d.Message, ": "))
		}
	}
	switch e := c.Estate; {
	case e.Kubernetes.Target != vpn.TargetCluster:
		return nil, fmt.Errorf("%s: spec.kubernetes.target: reconcile needs %s", path, vpn.TargetCluster)
	case f.text != nil && e.Name != f.name:
		return nil, fmt.Errorf("%s: metadata.name: was %s when this run began, and is %s now: what is marked with the old name would be left behind", path, f.name, e.Name)
	case f.text != nil && e.OpenStack.Cloud != f.cloud:
		return nil, fmt.Errorf("%s: spec.openstack.cloud: was %s when this run began, and is %s now: start reconcile anew", path, f.cloud, e.OpenStack.Cloud)
	}
	return c, nil
}

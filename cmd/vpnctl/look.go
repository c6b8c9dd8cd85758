package main

import (
	"errors"
	"fmt"
	"strings"

	"github.com/vpnctl/vpnctl/cloud/kube"
	"github.com/vpnctl/vpnctl/plan/roster"
	"github.com/vpnctl/vpnctl/plan/view"
)

// looking says what of which cluster is looked at.
type looking struct {
	clusterAccess
	Namespace string `short:"n" placeholder:"NS" help:"Only this namespace; names may then leave it out."`
}

// lookout is where somebody looks, and at what.
type lookout struct {
	driver *kube.Driver
	which  kube.Which
	names  []roster.Name
}

// at reads the names and reaches the cluster. Of gateways that are all in one namespace
// no other is read.
func (l looking) at(g *Globals, command string, texts []string) (lookout, error) {
	if g.Sim.On {
		return lookout{}, fmt.Errorf("%s reads from a cluster, and --sim has none", command)
	}
	p := lookout{which: kube.Which{Namespace: l.Namespace, Links: l.Namespace == "" && len(texts) == 0}}
	for i, text := range texts {
		n, err := roster.ParseName(text, l.Namespace)
		if err != nil {
			return lookout{}, err
		}
		p.names = append(p.names, n)
		p.which.Links = p.which.Links || n.IsLink()
		if i == 0 {
			p.which.Namespace = n.Namespace
		} else if p.which.Namespace != n.Namespace {
			p.which.Namespace = ""
		}
	}
	var err error
	p.driver, _, err = l.connect(kube.Options{})
	return p, err
}

func within(w kube.Which) string {
	if w.Namespace == "" {
		return ""
	}
	return " in namespace " + view.Plain(w.Namespace)
}

// absent is the error of names of which there is nothing.
func absent(names []roster.Name) error {
	var texts []string
	for _, n := range names {
		texts = append(texts, n.String())
	}
	if len(texts) == 0 {
		return nil
	}
	return errors.New("not in the cluster: " + strings.Join(texts, ", "))
}

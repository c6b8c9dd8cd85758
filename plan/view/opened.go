package view

import (
	"fmt"
	"slices"

	"github.com/vpnctl/vpnctl/plan"
	"github.com/vpnctl/vpnctl/plan/resource"
)

// worthTelling is what a gateway's changes bring that nobody should learn of later: ports
// that open to everyone, and a private key that is made. Neither shows in the names of
// what is created.
func (b *block) worthTelling() []string {
	var all []string
	for _, c := range b.changes {
		if c.Held != "" || c.After == nil {
			continue
		}
		for _, rule := range opened(c) {
			all = append(all, Plain("opens to any address: "+ports(rule)+because(rule.Why)))
		}
		if c.ID.Kind == resource.KubernetesKind("Secret") && c.Action == plan.Create {
			all = append(all, Plain("makes a private key: Secret "+c.ID.Name+", in the cluster and nowhere else"))
		}
	}
	return all
}

// opened are the rules that let everyone in from now on.
func opened(c plan.Change) []resource.Rule {
	if c.After.SecurityGroup == nil {
		return nil
	}
	var before []resource.Rule
	if c.Before != nil && c.Before.SecurityGroup != nil {
		before = c.Before.SecurityGroup.Rules
	}
	var all []resource.Rule
	for _, r := range c.After.SecurityGroup.Rules {
		everyone := r.Direction == "ingress" && r.Group == "" && (!r.Remote.IsValid() || r.Remote.Bits() == 0)
		if everyone && !slices.ContainsFunc(before, func(o resource.Rule) bool { return o.Key() == r.Key() }) {
			all = append(all, r)
		}
	}
	return all
}

func ports(r resource.Rule) string {
	protocol := r.Protocol
	if protocol == "" {
		protocol = "every protocol"
	}
	switch {
	case r.From == 0 && r.To == 0:
		return protocol
	case r.From == r.To:
		return fmt.Sprintf("%s %d", protocol, r.From)
	}
	return fmt.Sprintf("%s %d-%d", protocol, r.From, r.To)
}

func because(why string) string {
	if why == "" {
		return ""
	}
	return " (" + why + ")"
}

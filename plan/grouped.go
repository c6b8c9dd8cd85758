package plan

import (
	"fmt"
	"slices"
	"strings"

	"github.com/vpnctl/vpnctl/plan/resource"
)

// groupCauses are the ledger's news, and whose rules follow.
func groupCauses(c *Change) []cause {
	var all []cause
	for _, a := range c.Attributes {
		switch {
		case a.Name == attrRules:
		case a.Name == attrServiceCIDR && a.Before != "":
			return []cause{{words: "pinned to " + a.After}}
		default:
			all = append(all, ledgerCause(a))
		}
	}
	for _, m := range ruleMoves(c) {
		if !slices.ContainsFunc(all, func(o cause) bool { return m.who != "" && strings.HasPrefix(o.words, m.who+" ") }) {
			all = append(all, m.cause)
		}
	}
	return all
}

// ledgerCause says what a difference of the group is that is none of its rules.
func ledgerCause(a Attribute) cause {
	var moves []part
	switch {
	case a.Name == attrDraining && a.After == "":
		return cause{words: "its manifest is back"}
	case a.Name == attrDraining:
		return cause{words: NoManifest}
	case a.Name == attrAuthorization && a.After == attrGrants:
		return cause{"access is by grants from now on", []part{partTunnels, partRuleset}}
	case strings.HasPrefix(a.Name, attrVirtualIP), strings.HasPrefix(a.Name, attrTunnelIP), a.Name == attrAuthorization:
		moves = []part{partTunnels, partRuleset}
	case a.Name == attrPinned:
		moves = []part{partTunnels}
	}
	switch {
	case a.Before == "":
		return cause{a.Name + " added", moves}
	case a.After == "":
		return cause{a.Name + " removed", moves}
	}
	return cause{a.Name + " changed", moves}
}

// ruleMove is why rules come where others for the same go.
type ruleMove struct {
	cause
	who string // whom they are for; empty: the move is nobody's own
}

// ruleMoves tells where rules of one reason come and go whether their senders moved
// or their ports.
func ruleMoves(c *Change) []ruleMove {
	gone, come := apart(body(c.Before, sg).Rules, body(c.After, sg).Rules), apart(body(c.After, sg).Rules, body(c.Before, sg).Rules)
	var all []ruleMove
	for _, why := range reasons(come) {
		from, to := of(gone, why), of(come, why)
		reverse, isReverse := strings.CutPrefix(why, reverseRule)
		var m ruleMove
		switch {
		case why == "" || len(from) == 0:
			continue
		case isReverse && slices.Equal(senders(from), senders(to)):
			m = ruleMove{cause{"target of " + reverse, []part{partTunnels, partRuleset}}, ""}
		case isReverse:
			m = ruleMove{cause{"the sources of " + reverse, []part{partRuleset}}, ""}
		case slices.Equal(senders(from), senders(to)):
			m = ruleMove{cause{words: fmt.Sprintf("port %s → %s", ports(from), ports(to))}, ""}
		default:
			m = ruleMove{cause{why + " moved", []part{partTunnels}}, why}
		}
		if !slices.ContainsFunc(all, func(o ruleMove) bool { return o.words == m.words }) {
			all = append(all, m)
		}
	}
	return all
}

// reverseRule begins the reason of a rule that is for a reverse exposure.
const reverseRule = "reverse exposure "

// apart are the rules that stand in a and not in b.
func apart(a, b []resource.Rule) []resource.Rule {
	other := make(map[resource.Rule]bool, len(b))
	for _, r := range b {
		other[r.Key()] = true
	}
	return slices.DeleteFunc(slices.Clone(a), func(r resource.Rule) bool { return other[r.Key()] })
}

// reasons are those of rules, sorted.
func reasons(rules []resource.Rule) []string {
	var why []string
	for _, r := range rules {
		why = append(why, r.Why)
	}
	return union(why, nil)
}

func of(rules []resource.Rule, why string) []resource.Rule {
	return slices.DeleteFunc(slices.Clone(rules), func(r resource.Rule) bool { return r.Why != why })
}

func senders(rules []resource.Rule) []string {
	var all []string
	for _, r := range rules {
		all = append(all, r.Remote.String())
	}
	return union(all, nil)
}

func ports(rules []resource.Rule) string {
	var all []string
	for _, r := range rules {
		if r.From == r.To {
			all = append(all, fmt.Sprint(r.From))
		} else {
			all = append(all, fmt.Sprintf("%d-%d", r.From, r.To))
		}
	}
	return strings.Join(union(all, nil), ", ")
}

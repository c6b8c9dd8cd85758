package openstack

import (
	"cmp"
	"context"
	"fmt"
	"net/http"
	"slices"
	"time"

	"github.com/vpnctl/vpnctl/plan/resource"
	"github.com/vpnctl/vpnctl/state"
)

const rulesPath = "security-group-rules"

// settleRules adds the rules that are missing, then takes away ours that are not
// planned, and all but one of equal ones.
func (v verb) settleRules(ctx context.Context, g group) error {
	if err := v.addRules(ctx, g); err != nil {
		return fmt.Errorf("adding rules to security group %s: %w", g.ID, err)
	}
	for _, id := range superfluous(g.Rules, v.After.SecurityGroup.Rules) {
		_, err := v.call(ctx, http.MethodDelete, rulesPath+"/"+id, nil, nil)
		if err != nil && !answered(err, http.StatusNotFound) {
			return fmt.Errorf("deleting rule %s of security group %s: %w", id, g.ID, err)
		}
	}
	return nil
}

// addRules makes all missing rules in one call, which is all or nothing. Where
// one of them exists after all, or no good answer came, the group is read again
// and the rest made one by one.
func (v verb) addRules(ctx context.Context, g group) error {
	rules := missing(g.Rules, v.After.SecurityGroup.Rules)
	if len(rules) == 0 {
		return nil
	}
	var bodies []map[string]any
	for _, r := range rules {
		bodies = append(bodies, ruleBody(g.ID, r))
	}
	_, err := v.call(ctx, http.MethodPost, rulesPath, map[string]any{"security_group_rules": bodies}, nil)
	switch {
	case err == nil:
		return nil
	case typed(err, "SecurityGroupRuleExists"):
	case lost(err):
		if more, cut := v.http.wait(ctx, new(time.Duration), pause(1, asked(err))); !more {
			return cmp.Or(cut, err)
		}
	default:
		return err
	}
	again, found, reading := read[group](ctx, v.Driver, groupsPath, g.ID)
	if reading != nil {
		return reading
	}
	if !found {
		return conflict("security group %s does not exist any more", g.ID)
	}
	for _, r := range missing(again.Rules, rules) {
		if err := v.addRule(ctx, g.ID, r); err != nil {
			return err
		}
	}
	return nil
}

// addRule makes one rule. It may be repeated: an equal rule is refused, and the
// refusal is success.
func (v verb) addRule(ctx context.Context, group string, r resource.Rule) error {
	var spent time.Duration
	for attempt := 1; ; attempt++ {
		_, err := v.call(ctx, http.MethodPost, rulesPath, map[string]any{"security_group_rule": ruleBody(group, r)}, nil)
		if err == nil || typed(err, "SecurityGroupRuleExists") {
			return nil
		}
		if attempt == tries || !lost(err) {
			return fmt.Errorf("%s: %w", r, err)
		}
		if more, cut := v.http.wait(ctx, &spent, pause(attempt, asked(err))); !more {
			return cmp.Or(cut, err)
		}
	}
}

// ruleBody writes a rule as Neutron reads it; without limits a null stands.
func ruleBody(group string, r resource.Rule) map[string]any {
	body := map[string]any{
		"security_group_id": group, "direction": r.Direction, "ethertype": r.Ether,
		"description": state.RuleDescription(r.Why),
		"protocol":    nil, "port_range_min": nil, "port_range_max": nil, "remote_ip_prefix": nil,
	}
	if r.Protocol != "" {
		body["protocol"] = r.Protocol
	}
	if r.From != 0 || r.To != 0 {
		body["port_range_min"], body["port_range_max"] = r.From, r.To
	}
	if r.Remote.IsValid() {
		body["remote_ip_prefix"] = r.Remote.String()
	}
	return body
}

// missing are the planned rules that a group has no equal of, whoever made it.
func missing(have []rule, want []resource.Rule) []resource.Rule {
	there := map[resource.Rule]bool{}
	for _, r := range have {
		there[canonical(r).Key()] = true
	}
	var rules []resource.Rule
	for _, r := range want {
		if !there[r.Key()] {
			there[r.Key()] = true
			rules = append(rules, r)
		}
	}
	return rules
}

// superfluous are the IDs of rules of ours that are not planned, or stand there
// a second time. Rules of other hands and Neutron's own are never among them.
func superfluous(have []rule, want []resource.Rule) []string {
	planned := map[resource.Rule]bool{}
	for _, r := range want {
		planned[r.Key()] = true
	}
	have = slices.SortedFunc(slices.Values(have), func(a, b rule) int { return cmp.Compare(a.ID, b.ID) })
	var ids []string
	for _, r := range have {
		key := canonical(r).Key()
		if !ourRule(r) || isDefault(key) {
			continue
		}
		if !planned[key] {
			ids = append(ids, r.ID)
		}
		planned[key] = false // one is enough
	}
	return ids
}

package neutron

import (
	"net/netip"
	"strconv"
	"strings"

	"github.com/vpnctl/vpnctl/cloud/simulator/internal/store"
)

func (s *Service) rules() endpoint {
	return &collection[store.Rule, *store.Rule]{
		one: "security_group_rule", many: "security_group_rules", noun: "SecurityGroupRule", table: s.DB.Rules,
		required: []string{"security_group_id", "direction"},
		empty:    func() *store.Rule { return &store.Rule{EtherType: "IPv4"} },
		sees: func(c *call, r *store.Rule) bool {
			g, ok := c.db.SecurityGroups.Get(r.SecurityGroupID)
			return ok && (g.ProjectID == c.who.ProjectID || seesGroup(c, g))
		},
		prepare: quoteProtocol,
		create:  createRule,
		update:  func(*call, *store.Rule, *store.Rule, body) error { return crash() }, // rules cannot be changed
		remove: func(c *call, r *store.Rule) error {
			c.db.Rules.Delete(r.ID)
			c.touchGroup(r.SecurityGroupID)
			return nil
		},
	}
}

// quoteProtocol accepts a protocol that is given as a number.
func quoteProtocol(given body) {
	if raw := given["protocol"]; len(raw) > 0 && raw[0] != '"' && string(raw) != "null" {
		given["protocol"] = []byte(`"` + string(raw) + `"`)
	}
}

func createRule(c *call, r *store.Rule, _ body) error {
	g, ok := c.db.SecurityGroups.Get(r.SecurityGroupID)
	if !ok || !c.mine(g.ProjectID) {
		return missing("SecurityGroupNotFound", "Security group %s does not exist", r.SecurityGroupID)
	}
	r.ProjectID, r.TenantID = g.ProjectID, g.ProjectID
	if err := checkRule(c, r); err != nil {
		return err
	}
	if err := c.room("security_group_rule", r.ProjectID); err != nil {
		return err
	}
	for _, other := range c.db.RulesOf(g.ID) {
		if signature(other) == signature(r) && !c.req.Race {
			return conflict("SecurityGroupRuleExists", "Security group rule already exists. Rule id is %s.", other.ID)
		}
	}
	c.db.Rules.Put(r)
	c.touchGroup(g.ID)
	return nil
}

// checkRule holds what a rule may say, and fills in what follows from it.
func checkRule(c *call, r *store.Rule) error {
	if r.Direction != "ingress" && r.Direction != "egress" {
		return badRequest("Invalid input for direction. Reason: '%s' is not in ['ingress', 'egress'].", r.Direction)
	}
	if r.EtherType != "IPv4" && r.EtherType != "IPv6" {
		return invalid("SecurityGroupRuleInvalidEtherType", "Security group rule for ethertype '%s' not supported. Allowed values are ['IPv4', 'IPv6'].", r.EtherType)
	}
	if r.RemoteIPPrefix != nil && r.RemoteGroupID != nil {
		return invalid("SecurityGroupMultipleRemoteEntites", "Only remote_ip_prefix or remote_group_id may be provided.")
	}
	if r.RemoteGroupID != nil {
		if g, ok := c.db.SecurityGroups.Get(*r.RemoteGroupID); !ok || !c.mine(g.ProjectID) && !seesGroup(c, g) {
			return missing("SecurityGroupNotFound", "Security group %s does not exist", *r.RemoteGroupID)
		}
	}
	if err := normalize(r); err != nil {
		return err
	}
	return checkRange(r)
}

// normalize sets normalized_cidr. The prefix itself stays as it was given, but for a plain address.
func normalize(r *store.Rule) error {
	if r.RemoteIPPrefix == nil || *r.RemoteIPPrefix == "" {
		r.RemoteIPPrefix = nil
		return nil
	}
	text := *r.RemoteIPPrefix
	if a, err := netip.ParseAddr(text); err == nil {
		text = netip.PrefixFrom(a, a.BitLen()).String()
	}
	p, err := netip.ParsePrefix(text)
	if err != nil {
		return badRequest("Invalid input for remote_ip_prefix. Reason: '%s' is not a valid CIDR.", text)
	}
	if p.Addr().Is4() != (r.EtherType == "IPv4") {
		return invalid("SecurityGroupRuleParameterConflict", "Conflicting value ethertype %s for CIDR %s", r.EtherType, text)
	}
	canonical := p.Masked().String()
	r.RemoteIPPrefix, r.NormalizedCIDR = &text, &canonical
	return nil
}

var protocols = map[string]int{"ah": 51, "dccp": 33, "egp": 8, "esp": 50, "gre": 47, "icmp": 1, "icmpv6": 58,
	"igmp": 2, "ipip": 4, "ospf": 89, "pgm": 113, "rsvp": 46, "sctp": 132, "tcp": 6, "udp": 17, "udplite": 136, "vrrp": 112}

// number is the protocol's number, -1 for any.
func number(r *store.Rule) (int, bool) {
	if r.Protocol == nil || *r.Protocol == "any" || *r.Protocol == "0" {
		return -1, true
	}
	if n, ok := protocols[strings.ToLower(*r.Protocol)]; ok {
		return n, true
	}
	n, err := strconv.Atoi(*r.Protocol)
	return n, err == nil && n >= 0 && n <= 255
}

func checkRange(r *store.Rule) error {
	proto, ok := number(r)
	if !ok {
		return invalid("SecurityGroupRuleInvalidProtocol", "Security group rule protocol %s not supported.", *r.Protocol)
	}
	if r.PortRangeMin == nil && r.PortRangeMax == nil {
		return nil
	}
	low, high := value(r.PortRangeMin), value(r.PortRangeMax)
	switch {
	case proto == -1:
		return invalid("SecurityGroupProtocolRequiredWithPorts", "Must also specify protocol if port range is given.")
	case proto == 1 || proto == 58:
		if low < 0 || low > 255 || high > 255 {
			return invalid("SecurityGroupInvalidIcmpValue", "Invalid value for ICMP type or code.")
		}
	case low < 0 || high < 0 || low > high:
		return invalid("SecurityGroupInvalidPortRange", "For TCP/UDP protocols, port_range_min must be <= port_range_max")
	case low < 1 || high > 65535:
		return invalid("SecurityGroupInvalidPortValue", "Invalid value for port %d", high)
	}
	return nil
}

// value is the number or -1 for none.
func value(n *int) int {
	if n == nil {
		return -1
	}
	return *n
}

// meaning is what makes two rules the same one.
type meaning struct {
	direction, ethertype, cidr, group string
	protocol, low, high               int
}

func signature(r *store.Rule) meaning {
	m := meaning{direction: r.Direction, ethertype: r.EtherType, low: value(r.PortRangeMin), high: value(r.PortRangeMax)}
	m.protocol, _ = number(r)
	if r.RemoteGroupID != nil {
		m.group = *r.RemoteGroupID
	}
	if r.NormalizedCIDR != nil && *r.NormalizedCIDR != "0.0.0.0/0" && *r.NormalizedCIDR != "::/0" {
		m.cidr = *r.NormalizedCIDR
	}
	return m
}

package manifest

import (
	"cmp"
	"fmt"
	"math"
	"net/netip"
	"slices"
	"strconv"
	"strings"

	vpnv1alpha1 "github.com/vpnctl/vpnctl/crds/vpn/v1alpha1"
	"github.com/vpnctl/vpnctl/plan/vpn"
)

// exposure is an exposure and where it was written.
type exposure struct {
	vpn.Exposure
	field   string
	reverse bool
}

// exposures reads one of a gateway's two lists.
func (c check) exposures(list []vpnv1alpha1.Exposure, base string, reverse bool) []exposure {
	room := vpnv1alpha1.MaxExposures
	if reverse {
		room = vpnv1alpha1.MaxReverseExposures
	}
	c.limit(base, len(list), room)
	var out []exposure
	for i, w := range list {
		x := exposure{field: fmt.Sprintf("%s[%d]", base, i), reverse: reverse}
		x.Name = read(c, x.field+".name", w.Name, label)
		x.VirtualIP = c.virtualIP(x.field+".virtualIP", string(w.VirtualIP), reverse)
		x.Target = c.target(x.field+".target", w.Target, reverse)
		out = append(out, x)
	}
	return out
}

// limit refuses a list that is longer than the CRD lets it be.
func (c check) limit(field string, n, most int) {
	if n > most {
		c.fail(field, refuse("%d entries; there may be %d", n, most))
	}
}

// virtualIP reads a pinned virtual IP and holds it to the range of its list.
func (c check) virtualIP(field, text string, reverse bool) netip.Addr {
	a := read(c, field, text, autoAddress)
	if !a.IsValid() {
		return a
	}
	octet := a.As4()[3]
	switch {
	case octet == 1:
		c.fail(field, refuse("%s is the gateway's own address", a))
	case !reverse && (octet < 10 || octet > 199):
		c.fail(field, refuse("%s lies outside .10 to .199, the range of exposures", a))
	case reverse && (octet < 200 || octet > 254):
		c.fail(field, refuse("%s lies outside .200 to .254, the range of reverse exposures", a))
	default:
		return a
	}
	return netip.Addr{}
}

// target reads where an exposure leads.
func (c check) target(field string, w vpnv1alpha1.Target, reverse bool) vpn.Target {
	var t vpn.Target
	switch {
	case reverse && w.Host != "":
		c.fail(field+".host", refuse("a reverse exposure can't name a host: it lies on the peer's side, where our DNS means nothing").with("use address"))
	case w.Host != "" && w.Address != "":
		c.fail(field, refuse("host and address are both set; exactly one must be"))
	case w.Host == "" && w.Address == "":
		c.fail(field, refuse("neither host nor address is set; exactly one must be"))
	}
	t.Host = read(c, field+".host", w.Host, host)
	t.Address = read(c, field+".address", w.Address, func(s string) (netip.Addr, *refusal) {
		a, no := address(s)
		if _, noHost := host(s); no != nil && noHost == nil && !reverse {
			no.with("write it as host")
		}
		return a, no
	})
	t.Ports = c.ports(field, w)
	if w.Protocol == "" {
		c.empty(field + ".protocol")
	}
	switch protocol := read(c, field+".protocol", w.Protocol, one(string(vpnv1alpha1.TCP), string(vpnv1alpha1.UDP))); {
	case len(w.Ports)+len(w.PortRanges) > 0:
		t.Protocol = cmp.Or(protocol, string(vpnv1alpha1.TCP))
	case protocol != "":
		c.fail(field+".protocol", refuse("set without ports: then every protocol is forwarded").with("add ports or portRanges (1-65535 for all), or remove protocol"))
	}
	return t
}

// ports reads ports and port ranges into one sorted list without overlaps.
func (c check) ports(field string, w vpnv1alpha1.Target) []vpn.PortRange {
	c.limit(field+".ports", len(w.Ports), vpnv1alpha1.MaxPorts)
	c.limit(field+".portRanges", len(w.PortRanges), vpnv1alpha1.MaxPortRanges)
	var out []vpn.PortRange
	add := func(at string, r vpn.PortRange) {
		for _, o := range out {
			if r.From <= o.To && o.From <= r.To {
				c.warn(at, overlap(r, o))
				break
			}
		}
		out = append(out, r)
	}
	for i, p := range w.Ports {
		at := fmt.Sprintf("%s.ports[%d]", field, i)
		if p < 1 || p > math.MaxUint16 {
			c.fail(at, refuse("%d is not a port from 1 to 65535", p))
			continue
		}
		add(at, vpn.PortRange{From: uint16(p), To: uint16(p)})
	}
	for i, text := range w.PortRanges {
		at := fmt.Sprintf("%s.portRanges[%d]", field, i)
		if r := read(c, at, text, portRange); r.From > 0 {
			add(at, r)
		}
	}
	return merged(out)
}

// overlap says how a port or range meets one given before.
func overlap(r, o vpn.PortRange) *refusal {
	if r == o {
		return refuse("%s is given twice", r)
	}
	return refuse("%s overlaps %s of the same target", r, o)
}

// portRange is first-last.
func portRange(s string) (vpn.PortRange, *refusal) {
	from, to, found := strings.Cut(s, "-")
	first, err1 := strconv.ParseUint(from, 10, 16)
	last, err2 := strconv.ParseUint(to, 10, 16)
	switch {
	case !found || err1 != nil || err2 != nil || first == 0 || len(from) > 5 || len(to) > 5:
		return vpn.PortRange{}, refuse("%s is not first-last with ports from 1 to 65535", quoted(s))
	case first > last:
		return vpn.PortRange{}, refuse("%s starts after its end", quoted(s))
	}
	return vpn.PortRange{From: uint16(first), To: uint16(last)}, nil
}

// merged sorts ranges and joins those that overlap.
func merged(ranges []vpn.PortRange) []vpn.PortRange {
	slices.SortFunc(ranges, func(a, b vpn.PortRange) int { return cmp.Or(cmp.Compare(a.From, b.From), cmp.Compare(a.To, b.To)) })
	var out []vpn.PortRange
	for _, r := range ranges {
		if n := len(out); n > 0 && r.From <= out[n-1].To {
			out[n-1].To = max(out[n-1].To, r.To)
			continue
		}
		out = append(out, r)
	}
	return out
}

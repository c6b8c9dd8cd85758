package reconcile

import (
	"fmt"
	"net/netip"
	"slices"
	"strings"

	vpnv1alpha1 "github.com/vpnctl/vpnctl/crds/vpn/v1alpha1"
	"github.com/vpnctl/vpnctl/plan"
	"github.com/vpnctl/vpnctl/plan/vpn"
)

// checkLinkRanges refuses links to networks that overlap what is known only now. The
// project's other subnets are none of that: links lead to such.
func (d *decision) checkLinkRanges() {
	reserved := d.reserved()
	for _, l := range d.Estate.Links {
		for _, r := range reserved {
			if l.CIDR.IsValid() && l.CIDR.Overlaps(r.Prefix) {
				d.note(plan.Refusal{
					Owner: l.Owner, Reason: vpnv1alpha1.ReasonInvalidSpec,
					Message: fmt.Sprintf("spec.serviceClusterCIDR: %s overlaps %s, %s", l.CIDR, r.Prefix, r.By),
					Hint:    "traffic for the overlap could not be told apart",
				})
			}
		}
	}
}

// checkCallers tells of links that lead back to gateways whose reverse exposures nobody
// there may use.
func (d *decision) checkCallers() {
	led := map[vpn.Owner][]string{}
	for o, in := range d.inputs {
		for _, back := range in.Joined {
			led[back.Link] = append(led[back.Link], o.Path())
		}
	}
	for _, l := range d.Estate.Links {
		gateways, sources := led[l.Owner], d.Estate.InternalSourceCIDRs
		within := func(s netip.Prefix) bool { return s.Bits() <= l.CIDR.Bits() && s.Overlaps(l.CIDR) }
		refused := func(r plan.Refusal) bool { return r.Owner == l.Owner }
		if !d.Options.Selects(l.Owner) || len(gateways) == 0 || len(sources) == 0 || slices.ContainsFunc(sources, within) || slices.ContainsFunc(d.refusals, refused) {
			continue
		}
		slices.Sort(gateways)
		who := "nobody in " + l.CIDR.String()
		if slices.ContainsFunc(sources, l.CIDR.Overlaps) {
			who = "only a part of " + l.CIDR.String()
		}
		d.notices = append(d.notices, plan.Notice{
			Owner: l.Owner, Message: who + " may use reverse exposures of " + shortened(gateways),
			Hint: "add " + l.CIDR.String() + " to the Estate's spec.internalSourceCIDRs",
		})
	}
}

// gatewaysTold is how many gateways a notice names.
const gatewaysTold = 5

func shortened(paths []string) string {
	if n := len(paths) - gatewaysTold; n > 0 {
		return strings.Join(paths[:gatewaysTold], ", ") + fmt.Sprintf(" and %d more", n)
	}
	return strings.Join(paths, ", ")
}

package reconcile

import (
	"maps"

	"github.com/vpnctl/vpnctl/cloud"
	"github.com/vpnctl/vpnctl/plan/vpn"
)

// Orphaned is why a gateway is left as it is whose manifest went without being deleted:
// its finalizer was taken off by another hand, or the wrong cluster was asked.
const Orphaned = "its manifest is gone from the cluster, but was not seen being deleted"

// spareOthers spares whoever has no manifest and is not being deleted, where it is known
// who is.
func (d *decision) spareOthers() {
	if d.Deleted == nil {
		return
	}
	spared := maps.Clone(d.Spared)
	if spared == nil {
		spared = map[vpn.Owner]string{}
	}
	written := d.written()
	for _, o := range present(d.seen) {
		if !written[o] && !d.Deleted[o] && !d.Spares(o) {
			spared[o] = Orphaned
		}
	}
	d.Spared = spared
}

// written are the owners that have a manifest.
func (in Input) written() map[vpn.Owner]bool {
	all := map[vpn.Owner]bool{}
	for _, g := range in.Estate.Gateways {
		all[g.Owner] = true
	}
	for _, l := range in.Estate.Links {
		all[l.Owner] = true
	}
	return all
}

// present are the owners of whom anything was seen.
func present(o *cloud.Observation) []vpn.Owner {
	var all []vpn.Owner
	seen := map[string]bool{}
	for _, l := range o.Ledgers {
		seen[l.Owner.String()] = true
		all = append(all, l.Owner)
	}
	for _, l := range o.Links {
		seen[l.Owner.String()] = true
		all = append(all, l.Owner)
	}
	for _, r := range o.Graph {
		if owner, known := vpn.ParseOwner(r.Owner); known && !seen[r.Owner] {
			seen[r.Owner] = true
			all = append(all, owner)
		}
	}
	return all
}

// Remaining are the owners of whom something was seen, or stands in the way of knowing.
func (r *Result) Remaining() map[vpn.Owner]bool {
	there := map[vpn.Owner]bool{}
	for _, l := range r.Seen.Ledgers {
		there[l.Owner] = true
	}
	for _, l := range r.Seen.Links {
		there[l.Owner] = true
	}
	for _, c := range r.Plan.Changes {
		there[c.Owner] = true
	}
	for _, refusal := range r.Plan.Refusals {
		there[refusal.Owner] = true
	}
	return there
}

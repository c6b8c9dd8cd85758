package main

import (
	"slices"

	"github.com/vpnctl/vpnctl/cloud"
	"github.com/vpnctl/vpnctl/cloud/reconcile"
	"github.com/vpnctl/vpnctl/plan"
	"github.com/vpnctl/vpnctl/plan/resource"
	"github.com/vpnctl/vpnctl/plan/view"
	"github.com/vpnctl/vpnctl/plan/vpn"
)

// standing are the addresses that gateways had when they were looked at.
func standing(r *reconcile.Result) map[vpn.Owner]view.Addresses {
	all := map[vpn.Owner]view.Addresses{}
	for _, l := range r.Seen.Ledgers {
		all[l.Owner] = view.Addresses{FloatingIP: r.Seen.Facts.Gateway(l.Owner.String()).FloatingIP, Ledger: l}
	}
	return all
}

// given are the addresses that an apply gave or changed, of gateways that it
// finished: what it could not do is no address that anybody can use. Those that an
// earlier run gave to a gateway which only this one finished are told now, too.
func given(r *reconcile.Result, report *cloud.Report) []view.Given {
	before := standing(r)
	var all []view.Given
	for _, o := range finished(report) {
		in, ok := r.Inputs[o]
		if !ok {
			continue // it went
		}
		facts := in.Facts.Gateway(o.String()).Complete(report.Learnt[o])
		now := view.Addresses{FloatingIP: facts.FloatingIP, Ledger: r.Ledgers[o]}
		if now.String() != before[o].String() || completed(report, o) {
			all = append(all, view.Given{Owner: o, Addresses: now})
		}
	}
	return all
}

// completed tells whether a gateway was finished for the first time: the record that says
// so is new.
func completed(report *cloud.Report, o vpn.Owner) bool {
	return slices.ContainsFunc(report.Outcomes, func(x cloud.Outcome) bool {
		return x.Change.Owner == o && x.Change.ID.Kind == resource.KindApplied && x.Change.Action == plan.Create
	})
}

// finished are the gateways whose cloud side was changed, or whose record was, and wholly
// as planned.
func finished(report *cloud.Report) []vpn.Owner {
	var all []vpn.Owner
	short := map[vpn.Owner]bool{}
	for _, x := range report.Outcomes {
		o := x.Change.Owner
		if x.State != cloud.Done {
			short[o] = true
		}
		if !o.IsZero() && x.Change.ID.Kind.Cloud() && !slices.Contains(all, o) {
			all = append(all, o)
		}
	}
	return slices.DeleteFunc(all, func(o vpn.Owner) bool { return short[o] })
}

package main

import (
	"errors"
	"fmt"
	"time"

	"github.com/vpnctl/vpnctl/plan"
	"github.com/vpnctl/vpnctl/plan/view"
)

// impactEnum is what --deny-impact takes; empty: deny nothing.
const impactEnum = ",reload,reconnect,restart,customer"

// selection are the flags that a plan depends on.
type selection struct {
	Gateway    []string      `placeholder:"NS/NAME" sep:"none" help:"Only this gateway; repeatable. All manifests are still read."`
	Link       []string      `placeholder:"NAME" sep:"none" help:"Only this ClusterLink; repeatable, and beside --gateway: only those that are named."`
	Only       choice        `enum:",cloud,kubernetes" default:"" placeholder:"SIDE" help:"Only one side: cloud or kubernetes."`
	Prune      bool          `help:"Delete gateways, peers and links whose manifest is gone."`
	MaxDeletes *int          `placeholder:"N" help:"With --prune: refuse to delete more gateways, peers and links than this; a gateway that goes counts with its peers. Default: 10."`
	AllowEmpty bool          `help:"With --prune: allow it although no manifest was read at all."`
	Hold       time.Duration `default:"10m" help:"With --prune: how long the cloud side outlives removed files, so that pods end first. Default: ${default}."`
	PodsGone   bool          `help:"With --prune: the pods of removed files have ended, so their cloud side is not held any longer."`
	AdoptFrom  []string      `placeholder:"FILE" sep:"none" help:"Gateways that an operator made, as kubectl get -o yaml prints them with their statuses: what carries their UIDs in the cloud is taken over; repeatable. Needless for what the cluster of the Estate holds."`
}

// check refuses flags that make no sense together.
func (f selection) check() error {
	switch {
	case f.AllowEmpty && !f.Prune:
		return fmt.Errorf("--allow-empty needs --prune")
	case f.MaxDeletes != nil && !f.Prune:
		return fmt.Errorf("--max-deletes needs --prune")
	case f.PodsGone && !f.Prune:
		return fmt.Errorf("--pods-gone needs --prune")
	case f.Hold != plan.DefaultHold && !f.Prune:
		return fmt.Errorf("--hold needs --prune")
	case f.MaxDeletes != nil && *f.MaxDeletes < 0:
		return fmt.Errorf("--max-deletes is %d, but can't be negative", *f.MaxDeletes)
	case f.Hold < 0:
		return fmt.Errorf("--hold is %s, but can't be negative", f.Hold)
	case f.PodsGone && f.Hold != plan.DefaultHold:
		return fmt.Errorf("--pods-gone and --hold exclude each other")
	}
	return nil
}

// given tells whether any of the flags was used.
func (f selection) given() bool {
	return len(f.Gateway)+len(f.Link) > 0 || f.Only != "" || f.Prune || f.MaxDeletes != nil || f.AllowEmpty || f.Hold != plan.DefaultHold || f.PodsGone || len(f.AdoptFrom) > 0
}

// options are the flags in the plan's terms, where zero means the default and a
// negative number none.
func (f selection) options() plan.Options {
	o := plan.Options{Gateways: f.Gateway, Links: f.Link, Only: string(f.Only), Prune: f.Prune, AllowEmpty: f.AllowEmpty, PodsGone: f.PodsGone, Hold: f.Hold}
	if f.Hold == 0 {
		o.Hold = -1
	}
	if f.MaxDeletes != nil {
		o.MaxDeletes = *f.MaxDeletes
		if o.MaxDeletes == 0 {
			o.MaxDeletes = -1
		}
	}
	return o
}

// gate is the policy that a plan must pass.
type gate struct {
	DenyImpact choice `enum:"${impacts}" default:"" placeholder:"LEVEL" help:"Fail when a change has this impact or a worse one: reload, reconnect, restart or customer."`
}

// judge is what the gate denies of a plan; nil: nothing.
func (g gate) judge(p plan.Plan) (*plan.Denial, error) {
	if g.DenyImpact == "" {
		return nil, nil
	}
	var limit plan.Impact
	if err := limit.UnmarshalText([]byte(g.DenyImpact)); err != nil {
		return nil, err
	}
	return p.Denies(limit), nil
}

// pass fails when the plan holds a change that is denied.
func (g gate) pass(p plan.Plan) error {
	d, err := g.judge(p)
	if err != nil || d == nil {
		return err
	}
	return errors.New(view.Denial(*d))
}

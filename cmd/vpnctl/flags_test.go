package main

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/vpnctl/vpnctl/plan"
)

// parsed is the plan command of a command line.
func parsed(t *testing.T, line string) (planCommand, *Globals, error) {
	t.Helper()
	var g grammar
	var out strings.Builder
	parser, err := newParser(&g, &streams{stdout: &out, stderr: &out})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := parser.Parse(strings.Fields(line)); err != nil {
		return planCommand{}, nil, err
	}
	return g.Plan, &g.Globals, g.Plan.check()
}

func TestSelection(t *testing.T) {
	for name, c := range map[string]struct {
		line string
		want plan.Options
		fail string
	}{
		"nothing given":                     {"plan", plan.Options{Hold: plan.DefaultHold}, ""},
		"gateways add up":                   {"plan --gateway a/b --gateway c/d,e", plan.Options{Gateways: []string{"a/b", "c/d,e"}, Hold: plan.DefaultHold}, ""},
		"links beside gateways":             {"plan --link north --gateway a/b --link south", plan.Options{Gateways: []string{"a/b"}, Links: []string{"north", "south"}, Hold: plan.DefaultHold}, ""},
		"no hold at all is not the default": {"plan --prune --hold 0s", plan.Options{Prune: true, Hold: -1}, ""},
		"no deletes are not the default":    {"plan --prune --max-deletes 0", plan.Options{Prune: true, MaxDeletes: -1, Hold: plan.DefaultHold}, ""},
		"everything": {"plan --only cloud --prune --max-deletes 3 --allow-empty --hold 2h",
			plan.Options{Only: plan.OnlyCloud, Prune: true, MaxDeletes: 3, AllowEmpty: true, Hold: 2 * time.Hour}, ""},
		"pods gone":                    {"plan --prune --pods-gone", plan.Options{Prune: true, PodsGone: true, Hold: plan.DefaultHold}, ""},
		"pods gone without prune":      {"plan --pods-gone", plan.Options{}, "--pods-gone needs --prune"},
		"a hold without prune":         {"plan --hold 5m", plan.Options{}, "--hold needs --prune"},
		"empty without prune":          {"plan --allow-empty", plan.Options{}, "--allow-empty needs --prune"},
		"max deletes without prune":    {"plan --max-deletes 1", plan.Options{}, "--max-deletes needs --prune"},
		"less than no deletes":         {"plan --prune --max-deletes=-1", plan.Options{}, "can't be negative"},
		"less than no hold":            {"plan --prune --hold=-1s", plan.Options{}, "can't be negative"},
		"two ways to say how long":     {"plan --prune --hold 1m --pods-gone", plan.Options{}, "exclude each other"},
		"a side that doesn't exist":    {"plan --only both", plan.Options{}, "must be one of"},
		"an impact that doesn't exist": {"plan --deny-impact none", plan.Options{}, "must be one of"},
		"no impact at the end":         {"plan --deny-impact", plan.Options{}, "must be one of reload, reconnect, restart, customer, but got nothing"},
		"no impact before a flag":      {"plan --deny-impact --prune", plan.Options{}, "must be one of reload, reconnect, restart, customer, but got nothing"},
	} {
		t.Run(name, func(t *testing.T) {
			p, _, err := parsed(t, c.line)
			if c.fail != "" {
				if err == nil || !strings.Contains(err.Error(), c.fail) {
					t.Errorf("error %v, want %q", err, c.fail)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(c.want, p.options()); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
			if diff := cmp.Diff(c.want, selected(p.options()).options()); diff != "" {
				t.Errorf("from a saved plan (-want +got):\n%s", diff)
			}
			if given := p.given(); given != (c.line != "plan") {
				t.Errorf("given() = %v", given)
			}
		})
	}
}

func TestNextSaysTheSame(t *testing.T) {
	for name, c := range map[string]struct{ line, want string }{
		"paths":           {"plan gateways/ other.yaml", "vpnctl apply gateways/ other.yaml"},
		"a saved plan":    {"plan --prune -o plan.json gateways/", "vpnctl apply plan.json"},
		"the simulation":  {"plan --sim a.yaml", "vpnctl apply --sim a.yaml"},
		"its folder":      {"plan --sim=x a.yaml", "vpnctl apply --sim=x a.yaml"},
		"every selection": {"plan --gateway a/b --link north --only cloud --prune --max-deletes 3 --allow-empty --hold 2h .", "vpnctl apply --gateway a/b --link north --only cloud --prune --max-deletes 3 --allow-empty --hold 2h0m0s ."},
		"the gate":        {"plan --deny-impact customer --prune --pods-gone .", "vpnctl apply --deny-impact customer --prune --pods-gone ."},
		"shell syntax":    {"plan it's$(x)", `vpnctl apply 'it'\''s$(x)'`},
	} {
		t.Run(name, func(t *testing.T) {
			p, g, err := parsed(t, c.line)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(c.want, p.next(g, plan.Plan{})); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
			again := strings.Replace(c.want, "vpnctl apply", "apply", 1)
			if _, _, err := parsed(t, strings.Replace(again, `'it'\''s$(x)'`, "x", 1)); err != nil {
				t.Errorf("%s is not understood: %v", c.want, err)
			}
		})
	}
}

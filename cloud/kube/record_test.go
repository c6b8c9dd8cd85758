package kube_test

import (
	"slices"
	"testing"

	"github.com/vpnctl/vpnctl/cloud"
	"github.com/vpnctl/vpnctl/plan"
)

// TestRecord: what is recorded stands, once; another object of the same name, or none, is
// no harm; the finalizer comes and goes.
func TestRecord(t *testing.T) { records(t, newWorld) }

func records(t *testing.T, open opening) {
	e := estate(t, "acme")
	w := open(t)
	w.apply(e, plan.Options{})
	d := w.driver()
	all, err := d.Manifests(t.Context())
	if err != nil || len(all) < 2 {
		t.Fatal(all, err)
	}
	i := slices.IndexFunc(all, func(m cloud.Manifest) bool { return m.Kind == "VPNGateway" })
	m := all[i]
	s := cloud.Status{Fields: map[string]any{"serviceCIDR": "100.64.0.0/24"}, Conditions: []cloud.Condition{{Type: "Ready", Status: "True", Reason: "Ready"}}}
	for step, want := range []bool{true, false} {
		changed, err := d.Record(t.Context(), m, s)
		if err != nil || changed != want {
			t.Errorf("step %d: %v %v", step, changed, err)
		}
		again, err := d.Manifests(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		m = again[i]
	}
	for _, hold := range []bool{true, true, false, false} {
		act := map[bool]func() error{true: func() error { return d.Hold(t.Context(), m) }, false: func() error { return d.Release(t.Context(), m) }}[hold]
		if err := act(); err != nil {
			t.Fatal(err)
		}
		u := w.on.Get(m.Kind, m.Namespace, m.Name)
		if held := slices.Contains(u.GetFinalizers(), "vpn.bnerd.net/cleanup"); held != hold {
			t.Errorf("held: %v, want %v: %v", held, hold, u.GetFinalizers())
		}
	}
	for _, when := range []string{"another one", "none"} {
		u := w.on.Get(m.Kind, m.Namespace, m.Name)
		w.on.Remove(t, m.Kind, m.Namespace, m.Name)
		if when == "another one" {
			w.put(bare(u))
		}
		changed, err := d.Record(t.Context(), m, cloud.Status{Conditions: []cloud.Condition{{Type: "Ready", Status: "False", Reason: "Gone"}}})
		if changed || err != nil {
			t.Errorf("%s: recorded: %v %v", when, changed, err)
		}
		if err := d.Hold(t.Context(), m); err != nil {
			t.Errorf("%s: %v", when, err)
		}
	}
}

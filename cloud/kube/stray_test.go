package kube_test

import (
	"slices"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/vpnctl/vpnctl/cloud/kube"
	"github.com/vpnctl/vpnctl/plan"
	"github.com/vpnctl/vpnctl/plan/resource"
	"github.com/vpnctl/vpnctl/plan/vpn"
	"github.com/vpnctl/vpnctl/state"
)

// TestStrays: objects whose marks another hand took go with their gateway all the same,
// or nothing goes: its port is never taken from under its pod.
func TestStrays(t *testing.T) {
	label := func(names ...string) func(*unstructured.Unstructured) {
		return func(u *unstructured.Unstructured) {
			labels := u.GetLabels()
			for _, n := range names {
				delete(labels, n)
			}
			u.SetLabels(labels)
		}
	}
	foreign := func(key, value string) func(*unstructured.Unstructured) {
		return func(u *unstructured.Unstructured) {
			labels := u.GetLabels()
			labels[key] = value
			u.SetLabels(labels)
		}
	}
	note := func(u *unstructured.Unstructured) { u.SetAnnotations(nil) }
	all := label(state.LabelManagedBy, state.LabelEstate, state.LabelGateway)
	for name, c := range map[string]struct {
		strip   []func(*unstructured.Unstructured)
		refused bool // else it goes
	}{
		"the estate's label":            {strip: []func(*unstructured.Unstructured){label(state.LabelEstate)}},
		"who manages it":                {strip: []func(*unstructured.Unstructured){label(state.LabelManagedBy)}},
		"the gateway's label":           {strip: []func(*unstructured.Unstructured){label(state.LabelGateway)}},
		"all labels":                    {strip: []func(*unstructured.Unstructured){all}},
		"another gateway's label":       {strip: []func(*unstructured.Unstructured){foreign(state.LabelGateway, "other")}},
		"the annotation":                {strip: []func(*unstructured.Unstructured){note}},
		"annotation and all labels":     {strip: []func(*unstructured.Unstructured){note, all}, refused: true},
		"annotation and gateway":        {strip: []func(*unstructured.Unstructured){note, foreign(state.LabelGateway, "other")}, refused: true},
		"another hand manages it":       {strip: []func(*unstructured.Unstructured){foreign(state.LabelManagedBy, "Helm")}, refused: true},
		"another estate claims its pod": {strip: []func(*unstructured.Unstructured){foreign(state.LabelEstate, "other")}, refused: true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			e := estate(t, "acme")
			w := newWorld(t)
			w.apply(e, plan.Options{})
			g := e.Gateways[0].Owner
			d := w.on.Get("Deployment", g.Namespace, g.Name)
			for _, strip := range c.strip {
				strip(d)
			}
			w.put(d.Object)
			gone := e
			gone.Gateways = slices.DeleteFunc(slices.Clone(e.Gateways), func(x vpn.Gateway) bool { return x.Owner == g })
			p := w.plan(gone, plan.Options{Prune: true, AllowEmpty: true})
			of := resource.ID{Kind: resource.KubernetesKind("Deployment"), Namespace: g.Namespace, Name: g.Name}
			if c.refused {
				if !slices.ContainsFunc(p.Refusals, func(r plan.Refusal) bool { return r.ID == of && r.Owner == g }) {
					t.Errorf("not refused by name: %v", p.Refusals)
				}
				for _, x := range p.Pending() {
					if x.Owner == g {
						t.Errorf("planned all the same: %s %s", x.Action, x.ID)
					}
				}
				return
			}
			w.apply(gone, plan.Options{Prune: true, AllowEmpty: true})
			for _, u := range w.ours() {
				if u.GetLabels()[state.LabelGateway] == g.Name || u.GetName() == g.Name {
					t.Errorf("%s %s was left", u.GetKind(), u.GetName())
				}
			}
			if w.on.Get("Deployment", g.Namespace, g.Name) != nil {
				t.Error("the Deployment was left")
			}
			w.settled(gone, plan.Options{Prune: true, AllowEmpty: true})
		})
	}
}

// TestStraysOfWhoStays: as long as nobody goes nothing is looked for, and what another
// gateway has lost is left to it.
func TestStraysOfWhoStays(t *testing.T) {
	e := estate(t)
	w := newWorld(t)
	w.apply(e, plan.Options{})
	w.api.Forget()
	w.settled(e, plan.Options{Prune: true})
	for _, c := range w.api.Calls() {
		if c.Verb == "list" && c.Metadata && c.Resource != "secrets" {
			t.Errorf("nobody goes, and yet %s of %q are searched", c.Resource, c.Namespace)
		}
	}
	stays, g := e.Gateways[len(e.Gateways)-1].Owner, e.Gateways[0].Owner
	d := w.on.Get("Deployment", stays.Namespace, stays.Name)
	d.SetLabels(nil)
	w.put(d.Object)
	gone := e
	gone.Gateways = slices.DeleteFunc(slices.Clone(e.Gateways), func(x vpn.Gateway) bool { return x.Owner == g })
	w.apply(gone, plan.Options{Prune: true, AllowEmpty: true})
	if got := w.on.Get("Deployment", stays.Namespace, stays.Name); got == nil || got.GetUID() != d.GetUID() {
		t.Error("the Deployment of a gateway that stays was removed, or made anew")
	}
}

// TestRemovedAsSeen: an object is removed only while it says of itself what the plan saw,
// and the message says what is the matter.
func TestRemovedAsSeen(t *testing.T) {
	mark := func(key, value string) func(*world, *unstructured.Unstructured) {
		return func(w *world, u *unstructured.Unstructured) {
			labels := u.GetLabels()
			labels[key] = value
			u.SetLabels(labels)
			w.put(u.Object)
		}
	}
	for name, c := range map[string]struct {
		change func(*world, *unstructured.Unstructured)
		want   string // empty: it goes
	}{
		"another estate's by now":   {mark(state.LabelEstate, "other"), "the labels or the annotation that say whose it is were changed"},
		"another gateway's by now":  {mark(state.LabelGateway, "other"), "the labels or the annotation that say whose it is were changed"},
		"another hand's by now":     {mark(state.LabelManagedBy, "Helm"), "the labels or the annotation that say whose it is were changed"},
		"without an owner by now":   {func(w *world, u *unstructured.Unstructured) { u.SetAnnotations(nil); w.put(u.Object) }, "the labels or the annotation that say whose it is were changed"},
		"another label that it has": {mark("team", "blue"), ""},
		"made anew meanwhile": {func(w *world, u *unstructured.Unstructured) {
			w.on.Remove(t, u.GetKind(), u.GetNamespace(), u.GetName())
			u.SetUID("")
			u.SetResourceVersion("")
			w.put(u.Object)
		}, "another object stands there by now"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			e := estate(t, "acme")
			w := newWorld(t)
			w.apply(e, plan.Options{})
			g := e.Gateways[0].Owner
			gone := e
			gone.Gateways = slices.DeleteFunc(slices.Clone(e.Gateways), func(x vpn.Gateway) bool { return x.Owner == g })
			p := w.plan(gone, plan.Options{Prune: true, AllowEmpty: true})
			i := slices.IndexFunc(p.Changes, func(x plan.Change) bool {
				return x.Action == plan.Delete && x.ID.Kind == resource.KubernetesKind("ConfigMap") && x.ID.Namespace == g.Namespace && x.ID.Name == g.Name+"-nat"
			})
			if i < 0 {
				t.Fatal("its removal is not planned")
			}
			c.change(w, w.on.Get("ConfigMap", g.Namespace, g.Name+"-nat"))
			_, err := w.driver().Apply(t.Context(), p.Changes[i])
			there := w.on.Get("ConfigMap", g.Namespace, g.Name+"-nat") != nil
			switch {
			case c.want == "" && (err != nil || there):
				t.Errorf("there %t: %v", there, err)
			case c.want != "" && (err == nil || !there || !strings.Contains(err.Error(), c.want)):
				t.Errorf("there %t: %v, want %q", there, err, c.want)
			}
		})
	}
}

// TestStraysOfASecret: the key that we made is found; a copy of it, which somebody keeps
// under another name with all its annotations and managed fields, is theirs.
func TestStraysOfASecret(t *testing.T) {
	e := estate(t)
	g := keyed(t, e)
	w := newWorld(t)
	w.apply(e, plan.Options{})
	key := w.key(g)
	backup := key.DeepCopy()
	backup.SetName(g.Owner.Name + "-backup")
	for _, u := range []*unstructured.Unstructured{key, backup} {
		u.SetLabels(nil)
	}
	backup.SetUID("")
	backup.SetResourceVersion("")
	w.on.PutAs(t, kube.Manager, backup.Object) // restored from a file by kubectl replace, managed fields and all
	w.put(key.Object)
	gone := e
	gone.Gateways = slices.DeleteFunc(slices.Clone(e.Gateways), func(x vpn.Gateway) bool { return x.Owner == g.Owner })
	w.apply(gone, plan.Options{Prune: true, AllowEmpty: true})
	if w.key(g) != nil {
		t.Error("the key was left")
	}
	if w.on.Get("Secret", g.Owner.Namespace, backup.GetName()) == nil {
		t.Error("a copy of the key was taken for the key")
	}
	w.settled(gone, plan.Options{Prune: true, AllowEmpty: true})
}

// TestCopiesOfOurs: what somebody has copied, labels, annotation and all, and called
// otherwise is theirs: as long as the gateway stands, and when it goes.
func TestCopiesOfOurs(t *testing.T) {
	e := estate(t, "acme")
	w := newWorld(t)
	w.apply(e, plan.Options{})
	g := e.Gateways[0].Owner
	theirs := func() (all []*unstructured.Unstructured) {
		return slices.DeleteFunc(w.on.All(), func(u *unstructured.Unstructured) bool {
			return !strings.HasPrefix(u.GetName(), "copy-of-") && u.GetName() != g.Name+"-copy"
		})
	}
	for _, u := range w.ours() {
		if _, is := u.GetLabels()[state.LabelGateway]; !is || u.GetKind() == "Secret" || strings.HasPrefix(u.GetKind(), "VPN") {
			continue
		}
		for _, name := range []string{"copy-of-" + u.GetName(), g.Name + "-copy"} {
			c := u.DeepCopy()
			c.SetName(name)
			c.SetUID("")
			c.SetResourceVersion("")
			c.SetManagedFields(nil)
			if w.on.Get(c.GetKind(), c.GetNamespace(), name) == nil {
				w.put(c.Object)
			}
		}
	}
	before := text(t, theirs())
	if len(theirs()) < 10 {
		t.Fatalf("only %d copies were made", len(theirs()))
	}
	w.settled(e, plan.Options{Prune: true})
	gone := e
	gone.Gateways = slices.DeleteFunc(slices.Clone(e.Gateways), func(x vpn.Gateway) bool { return x.Owner == g })
	w.apply(gone, plan.Options{Prune: true, AllowEmpty: true})
	if after := text(t, theirs()); after != before {
		t.Errorf("the copies were changed\nbefore %s\nafter  %s", before, after)
	}
}

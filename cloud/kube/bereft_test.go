package kube_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/vpnctl/vpnctl/plan"
	"github.com/vpnctl/vpnctl/state"
)

// TestLostLabels: an object of ours whose labels another hand took away gets them back,
// and keeps its place.
func TestLostLabels(t *testing.T) { labelsComeBack(t, newWorld) }

func labelsComeBack(t *testing.T, open opening) {
	e := estate(t, "globex")
	keyed(t, e)
	w := open(t)
	w.apply(e, plan.Options{})
	all := w.ours()
	if !slices.ContainsFunc(all, func(u *unstructured.Unstructured) bool { return u.GetKind() == "Secret" }) {
		t.Fatal("no key was made")
	}
	for _, before := range all {
		name := before.GetKind() + " " + before.GetName()
		if strings.HasPrefix(before.GetKind(), "VPN") {
			continue // people write them
		}
		for what, strip := range map[string]func(map[string]string){
			"all":               func(l map[string]string) { clear(l) },
			"the estate's":      func(l map[string]string) { delete(l, state.LabelEstate) },
			"who manages it":    func(l map[string]string) { delete(l, state.LabelManagedBy) },
			"whose gateway's":   func(l map[string]string) { delete(l, state.LabelGateway) },
			"another gateway's": func(l map[string]string) { l[state.LabelGateway] = "other" },
		} {
			u := w.on.Get(before.GetKind(), before.GetNamespace(), before.GetName())
			labels := u.GetLabels()
			strip(labels)
			u.SetLabels(labels)
			w.put(u.Object)
			w.apply(e, plan.Options{})
			got := w.on.Get(before.GetKind(), before.GetNamespace(), before.GetName())
			if diff := cmp.Diff(bare(before), bare(got)); diff != "" {
				t.Errorf("%s, %s (-before +after):\n%s", name, what, diff)
			}
			if diff := cmp.Diff(before.GetLabels(), got.GetLabels()); diff != "" {
				t.Errorf("%s, %s (-before +after):\n%s", name, what, diff)
			}
			if got.GetUID() != before.GetUID() {
				t.Errorf("%s, %s: it was made anew", name, what)
			}
		}
	}
	w.settled(e, plan.Options{})
}

package loop_test

import (
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/vpnctl/vpnctl/cloud/kube/fakeapi"
	"github.com/vpnctl/vpnctl/cloud/reconcile/world"
	"github.com/vpnctl/vpnctl/render/controller"
)

// plural is the resource of a kind.
func plural(kind string) string {
	switch kind {
	case "NetworkAttachmentDefinition":
		return "network-attachment-definitions"
	case "NetworkPolicy":
		return "networkpolicies"
	}
	return strings.ToLower(kind) + "s"
}

// needs are the verbs that RBAC asks for: an apply is a patch, and a create where nothing
// is there yet.
func (l *errand) needs(c fakeapi.Call) []string {
	if c.Verb != "apply" {
		return []string{c.Verb}
	}
	there := slices.ContainsFunc(l.api.All(), func(o *unstructured.Unstructured) bool {
		return plural(o.GetKind()) == c.Resource && o.GetNamespace() == c.Namespace && o.GetName() == c.Name
	})
	if there {
		return []string{"patch"}
	}
	return []string{"patch", "create"}
}

func resourceIn(c fakeapi.Call) string {
	return strings.TrimSuffix(c.Resource+"/"+c.Subresource, "/")
}

// handedOn are rights that only the gateways' pods use: nobody may give what he hasn't.
var handedOn = []string{"get ipsecgateways/status", "get vpngateways/status", "get vpnpeers/status"}

// TestRightsThatAreUsed are those that are rendered, through a whole life.
func TestRightsThatAreUsed(t *testing.T) {
	used := map[string]bool{}
	l := newErrand(t, func(l *errand, c fakeapi.Call) bool {
		for _, verb := range l.needs(c) {
			l.mu.Lock()
			used[verb+" "+resourceIn(c)] = true
			l.mu.Unlock()
		}
		return false
	})
	for _, step := range steps {
		step(l)
	}
	if !l.adopted {
		t.Errorf("what an operator had made was not taken over:\n%s", l.said())
	}
	for _, o := range l.api.All() {
		if o.GetKind() == "Pod" { // the test's own
			continue
		}
		if o.GetLabels()["app.kubernetes.io/managed-by"] == "vpnctl" || strings.Contains(o.GetAPIVersion(), "bnerd.net") {
			t.Errorf("%s %s was left\n%s", o.GetKind(), o.GetName(), l.said())
		}
	}
	var held, all []string
	for _, r := range controller.Rights() {
		for _, resource := range r.Resources {
			for _, verb := range r.Verbs {
				if verb != "watch" && !slices.Contains(handedOn, verb+" "+resource) {
					held = append(held, verb+" "+resource)
				}
			}
		}
	}
	for right := range used {
		all = append(all, right)
	}
	slices.Sort(held)
	slices.Sort(all)
	if diff := cmp.Diff(held, all); diff != "" {
		t.Errorf("(-held +used)\n%s", diff)
	}
}

// TestRightsTakenAway takes the rights away one by one, and wants to be told what is
// missing. Without a watch nothing fails: what changes is seen at the next resync.
func TestRightsTakenAway(t *testing.T) {
	n := 0
	for _, r := range controller.Rights() {
		for _, resource := range r.Resources {
			for _, verb := range r.Verbs {
				if verb == "watch" || slices.Contains(handedOn, verb+" "+resource) {
					continue
				}
				if n++; n%world.Stride != 0 {
					continue
				}
				t.Run(verb+" "+resource, func(t *testing.T) {
					t.Parallel()
					l := newErrand(t, func(l *errand, c fakeapi.Call) bool {
						return resourceIn(c) == resource && slices.Contains(l.needs(c), verb)
					})
					missed := l.refused(r.Group, resource)
					if resource == "pods" { // the Deployment's own words have to do
						missed = l.silent
					}
					for _, step := range steps {
						if step(l); missed() {
							return
						}
					}
					t.Errorf("nothing says what is missing:\n%s", l.said())
				})
			}
		}
	}
}

// refused tells whether something says that it may not do this to that.
func (l *errand) refused(group, resource string) func() bool {
	resource, _, _ = strings.Cut(resource, "/")
	said := regexp.MustCompile(`\b` + regexp.QuoteMeta(strings.TrimSuffix(resource+"."+group, ".")) + `( "[^"]*")? is forbidden`)
	return func() bool { return said.MatchString(l.said()) }
}

// silent tells whether it isn't said why pods don't run.
func (l *errand) silent() bool {
	return strings.Contains(l.said(), "not available") && !strings.Contains(l.said(), imageMissing)
}

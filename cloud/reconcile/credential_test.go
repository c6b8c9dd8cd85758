package reconcile_test

import (
	"errors"
	"net/http"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/vpnctl/vpnctl/cloud"
	"github.com/vpnctl/vpnctl/cloud/openstack"
	"github.com/vpnctl/vpnctl/cloud/reconcile"
	"github.com/vpnctl/vpnctl/cloud/reconcile/standing"
	"github.com/vpnctl/vpnctl/cloud/reconcile/world"
	"github.com/vpnctl/vpnctl/cloud/simulator"
	"github.com/vpnctl/vpnctl/plan"
	"github.com/vpnctl/vpnctl/plan/resource"
	"github.com/vpnctl/vpnctl/plan/vpn"
)

// refusedWith are the reasons for which a plan refuses a link.
func refusedWith(p plan.Plan, o vpn.Owner) []string {
	var all []string
	for _, r := range p.Refusals {
		if r.Owner == o {
			all = append(all, r.Reason)
		}
	}
	return all
}

// regardless applies what a plan holds beside its refusals.
func regardless(t *testing.T, w *world.World, e vpn.Estate, o plan.Options) *cloud.Report {
	t.Helper()
	in, _, err := w.Input(t.Context(), e, o)
	if err != nil {
		t.Fatal(err)
	}
	r, err := reconcile.Plan(t.Context(), in)
	if err != nil {
		t.Fatal(err)
	}
	return r.Apply(t.Context(), cloud.Execution{Parallelism: 1, Now: w.Time})
}

// answering is a login at a Keystone that gives one answer; nil: none at all.
func answering(w *world.World, resp *http.Response) (openstack.Options, error) {
	o, err := w.Options("customer")
	o.Transport = keystone{resp}
	return o, err
}

type keystone struct{ answer *http.Response }

func (k keystone) RoundTrip(r *http.Request) (*http.Response, error) {
	if k.answer == nil {
		return nil, syscall.ECONNREFUSED
	}
	return &http.Response{StatusCode: k.answer.StatusCode, Header: http.Header{}, Body: http.NoBody, Request: r}, nil
}

// TestALinkThatCantBeMade: each fault of a credential or an attestation gives its own
// reason, the gateways are planned nevertheless, and nothing is shared, made or joined.
func TestALinkThatCantBeMade(t *testing.T) {
	environment := func(w *world.World, env map[string]string) (openstack.Options, error) {
		o, err := w.Options("customer")
		o.Env = func(key string) string { return env[key] }
		return o, err
	}
	const url = "http://simulator.invalid/identity/v3"
	const visitor = "0b5b4a4b3f7c4c0b8a1d7d3a5f1e0009"
	for sentence, c := range map[string]struct {
		change   func(l *vpn.Link)
		customer func(w *world.World, l vpn.Link) (openstack.Options, error)
		want     string
		says     string
		unknown  bool // whether the credential is good
	}{
		"nobody attested it":   {change: func(l *vpn.Link) { l.Annotations = nil }, want: "AttestationMissing", says: attested},
		"nobody can read when": {change: func(l *vpn.Link) { l.Annotations = map[string]string{attested: "network team; last spring"} }, want: "AttestationMalformed", says: "RFC 3339"},
		"there is no such Secret": {customer: func(*world.World, vpn.Link) (openstack.Options, error) {
			return openstack.Options{}, &cloud.CredentialError{Reason: "SecretNotFound", Message: "there is no Secret"}
		}, want: "SecretNotFound", says: "there is no Secret"},
		"there is no such entry of clouds.yaml": {customer: func(w *world.World, _ vpn.Link) (openstack.Options, error) {
			o, err := environment(w, map[string]string{"HOME": "/nowhere"})
			o.Cloud = "elsewhere"
			return o, err
		}, want: "SecretNotFound", says: "clouds.yaml"},
		"it has no secret": {customer: func(w *world.World, _ vpn.Link) (openstack.Options, error) {
			return environment(w, map[string]string{"OS_AUTH_URL": url, "OS_APPLICATION_CREDENTIAL_ID": "x"})
		}, want: "SecretIncomplete", says: "neither a password nor an application credential"},
		"its secret is wrong": {customer: func(w *world.World, _ vpn.Link) (openstack.Options, error) {
			o := w.Credential("customer", nil).Options
			env := o.Env
			o.Env = func(key string) string {
				return strings.TrimSuffix(env(key), "0") + map[string]string{"OS_APPLICATION_CREDENTIAL_SECRET": "no"}[key]
			}
			return o, nil
		}, want: "AuthenticationFailed", says: "40"},
		"it was revoked": {customer: func(w *world.World, _ vpn.Link) (openstack.Options, error) {
			c := w.Credential("customer", nil)
			c.Revoke()
			return c.Options, nil
		}, want: "AuthenticationFailed", says: "404"},
		"it has expired": {customer: func(w *world.World, _ vpn.Link) (openstack.Options, error) {
			c := w.Credential("customer", map[string]any{"expires_at": w.Time().Add(time.Second).Format(time.RFC3339)})
			w.Pass(2 * time.Second)
			return c.Options, nil
		}, want: "AuthenticationFailed", says: "401"},
		"its URL is none": {customer: func(w *world.World, _ vpn.Link) (openstack.Options, error) {
			return environment(w, map[string]string{"OS_AUTH_URL": "ftp://simulator.invalid", "OS_APPLICATION_CREDENTIAL_ID": "x", "OS_APPLICATION_CREDENTIAL_SECRET": "x"})
		}, want: "SecretIncomplete", says: "not an http"},
		"nobody answers": {customer: func(w *world.World, _ vpn.Link) (openstack.Options, error) {
			return answering(w, nil)
		}, want: "Pending", says: "no answer", unknown: true},
		"Keystone has a fault": {customer: func(w *world.World, _ vpn.Link) (openstack.Options, error) {
			return answering(w, &http.Response{StatusCode: http.StatusServiceUnavailable})
		}, want: "Pending", says: "503", unknown: true},
		"it fails in words of its own": {customer: func(*world.World, vpn.Link) (openstack.Options, error) {
			return openstack.Options{}, errors.New("the cluster is away")
		}, want: "Pending", says: "the cluster is away", unknown: true},
		"it is for no project": {customer: func(w *world.World, _ vpn.Link) (openstack.Options, error) {
			return environment(w, map[string]string{"OS_AUTH_URL": url, "OS_USERNAME": "visitor", "OS_PASSWORD": "simulator", "OS_USER_DOMAIN_NAME": "Default", "OS_PROJECT_DOMAIN_NAME": "Default"})
		}, want: "CredentialsUnscoped", says: "no project"},
		"it is for another project": {change: func(l *vpn.Link) { l.CustomerProject = visitor }, want: "CredentialsProjectMismatch", says: visitor},
		"it is the operator's": {customer: func(w *world.World, _ vpn.Link) (openstack.Options, error) {
			return w.Options("operator")
		}, want: "CredentialsAreOperatorProject", says: "the operator's own"},
		"it may only read": {customer: func(w *world.World, _ vpn.Link) (openstack.Options, error) {
			return w.Credential("customer", map[string]any{"roles": []map[string]any{{"name": "reader"}}}).Options, nil
		}, want: "RoleMissing", says: "but reader"},
	} {
		t.Run(sentence, func(t *testing.T) {
			w := world.New(t, simulator.Options{})
			w.Apply(pruned(w), plan.Options{})
			e := acrossNamed(w)
			if c.change != nil {
				c.change(&e.Links[0])
			}
			if c.customer != nil {
				w.Customer = func(l vpn.Link) (openstack.Options, error) { return c.customer(w, l) }
			}
			before := w.Look()
			p := w.Plan(e, plan.Options{})
			if diff := cmp.Diff([]string{c.want}, refusedWith(p, e.Links[0].Owner)); diff != "" {
				t.Errorf("reasons (-want +got):\n%s", diff)
			}
			untrue := []string{c.want}
			if c.unknown {
				untrue = []string{}
				if got := conditionsOf(t, w, e); !slices.Contains(got, "CredentialsResolved=Unknown/Pending") || !slices.Contains(got, "Ready=Unknown/Pending") {
					t.Errorf("conditions %v: whether the credential is good is not known", got)
				}
			}
			if diff := cmp.Diff(untrue, falseOf(t, w, e)); diff != "" {
				t.Errorf("conditions that are false (-want +got):\n%s", diff)
			}
			for _, r := range p.Refusals {
				if !strings.Contains(r.Message, c.says) {
					t.Errorf("%q does not say %q", r.Message, c.says)
				}
			}
			for _, change := range p.Changes { // that they name the link is part of what was applied
				if change.ID.Kind != resource.KindApplied {
					t.Errorf("%s is %sd", change.ID, change.Action)
				}
			}
			for i := range e.Gateways {
				e.Gateways[i].Links = nil
			}
			regardless(t, w, e, plan.Options{})
			if after := w.Look(); after != before {
				t.Errorf("something was made:\n%s", cmp.Diff(before, after))
			}
		})
	}
}

// conditionsOf are the conditions of the estate's first link once the plan is made, as
// type=status/reason.
func conditionsOf(t *testing.T, w *world.World, e vpn.Estate) []string {
	t.Helper()
	in, _, err := w.Input(t.Context(), e, plan.Options{})
	if err != nil {
		t.Fatal(err)
	}
	r, err := reconcile.Plan(t.Context(), in)
	if err != nil {
		t.Fatal(err)
	}
	all := []string{}
	for _, s := range standing.Of(r, nil, nil, nil) {
		for _, c := range s.Conditions {
			if s.Owner == e.Links[0].Owner {
				all = append(all, c.Type+"="+c.Status+"/"+c.Reason)
			}
		}
	}
	return all
}

// falseOf are the reasons of the link's conditions that are false, but for Ready's, which
// repeats the first.
func falseOf(t *testing.T, w *world.World, e vpn.Estate) []string {
	t.Helper()
	all := []string{}
	for _, c := range conditionsOf(t, w, e) {
		kind, reason, is := strings.Cut(c, "=False/")
		if is && kind != "Ready" {
			all = append(all, reason)
		}
	}
	return all
}

// TestConditionsOfACrossing: those of the customer's side stand in front of the others, and
// only on a link that has one.
func TestConditionsOfACrossing(t *testing.T) {
	w := world.New(t, simulator.Options{})
	e := acrossNamed(w)
	w.Apply(e, plan.Options{})
	want := []string{
		"Validated=True/Valid", "TenantIsolationAttested=True/Attested", "CredentialsResolved=True/Resolved", "TransitNetworkShared=True/Shared",
		"LegAttached=True/LegAttached", "RouteInstalled=True/RouteInstalled", "ReverseRoutesInstalled=True/ReverseRoutesInstalled", "Ready=True/Ready",
	}
	if diff := cmp.Diff(want, conditionsOf(t, w, e)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	w.Customer = dead(w)
	want[2], want[7] = "CredentialsResolved=False/AuthenticationFailed", "Ready=False/AuthenticationFailed"
	if diff := cmp.Diff(want, conditionsOf(t, w, e)); diff != "" {
		t.Errorf("with a dead credential (-want +got):\n%s", diff)
	}
	own := world.New(t, simulator.Options{})
	for _, c := range conditionsOf(t, own, linked(t)) {
		if strings.HasPrefix(c, "Tenant") || strings.HasPrefix(c, "Credentials") || strings.HasPrefix(c, "TransitNetwork") {
			t.Errorf("a link in our own project has %s", c)
		}
	}
}

// TestACustomerIsReachedInOurCloud, whatever the credential says of where that is: whoever
// writes it must not answer for the cloud.
func TestACustomerIsReachedInOurCloud(t *testing.T) {
	for _, elsewhere := range []string{"", "https://keystone.elsewhere.invalid/v3"} {
		w := world.New(t, simulator.Options{})
		e := across(w)
		good := w.Credential("customer", nil).Options
		w.Customer = func(vpn.Link) (openstack.Options, error) {
			return openstack.Options{Clock: good.Clock, Env: func(key string) string {
				switch key {
				case "OS_AUTH_URL":
					return elsewhere
				case "OS_REGION_NAME", "OS_CACERT":
					return "nowhere"
				}
				return good.Env(key)
			}}, nil
		}
		w.Apply(e, plan.Options{})
		if p := w.Plan(e, plan.Options{}); len(p.Changes)+len(p.Refusals) > 0 {
			t.Errorf("%q: not empty: %+v %+v", elsewhere, p.Changes, p.Refusals)
		}
		if got := waysOn(t, w, "gateway-router"); !slices.Contains(got, "10.60.0.0/16") {
			t.Errorf("%q: the link was not made: %v", elsewhere, got)
		}
	}
}

//go:build e2e

package openstack

import (
	"context"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/vpnctl/vpnctl/cloud"
	"github.com/vpnctl/vpnctl/plan/vpn"
)

// issuer is the customer's user, who logs in by password and makes application
// credentials.
type issuer struct {
	*Driver
	t           *testing.T
	credentials string // where they are, in Keystone
}

func newIssuer(t *testing.T) issuer {
	t.Helper()
	d, err := Connect(t.Context(), Options{Cloud: "customer-password"})
	if err != nil {
		t.Fatal(err)
	}
	token, ok := d.neutron.GetAuthResult().(interface{ ExtractInto(v any) error })
	var who struct{ User struct{ ID string } }
	if !ok || token.ExtractInto(&who) != nil {
		t.Fatal("the token does not tell whose it is")
	}
	return issuer{d, t, d.neutron.IdentityBase + "v3/users/" + who.User.ID + "/application_credentials"}
}

// issue makes a credential, as a link's options, and tells how to take it away.
func (i issuer) issue(attributes map[string]any) (o Options, revoke func()) {
	i.t.Helper()
	attributes["name"] = "e2e-" + time.Now().UTC().Format("150405.000000")
	var made struct {
		Credential struct{ ID, Secret string } `json:"application_credential"`
	}
	if _, err := send(i.t.Context(), i.neutron, http.MethodPost, i.credentials, map[string]any{"application_credential": attributes}, &made); err != nil {
		i.t.Fatal(err)
	}
	revoke = func() {
		_, err := send(context.Background(), i.neutron, http.MethodDelete, i.credentials+"/"+made.Credential.ID, nil, nil)
		if err != nil && !answered(err, http.StatusNotFound) {
			i.t.Error(err)
		}
	}
	i.t.Cleanup(revoke)
	env := map[string]string{"OS_AUTH_URL": i.neutron.IdentityBase + "v3",
		"OS_APPLICATION_CREDENTIAL_ID": made.Credential.ID, "OS_APPLICATION_CREDENTIAL_SECRET": made.Credential.Secret}
	return Options{Env: func(key string) string { return env[key] }, Revision: made.Credential.ID}, revoke
}

// TestRealCredentialsThatDie: a customer's credential that was good, and whose login is
// kept from one run to the next, ends: its link is told so, with what Keystone says.
func TestRealCredentialsThatDie(t *testing.T) {
	for sentence, c := range map[string]struct {
		attributes func() map[string]any
		revoked    bool
		says       string
	}{
		"it is deleted": {func() map[string]any { return map[string]any{} }, true, "404 NotFound: Could not find Application Credential"},
		"it expires": {func() map[string]any {
			return map[string]any{"expires_at": time.Now().Add(30 * time.Second).UTC().Format(time.RFC3339)}
		}, false, "401 Unauthorized"},
	} {
		t.Run(sentence, func(t *testing.T) {
			d, by := real(t), newIssuer(t)
			o, revoke := by.issue(c.attributes())
			d.customer = func(context.Context, vpn.Link) (Options, error) { return o, nil }
			link := vpn.Link{Owner: vpn.Owner{Kind: vpn.KindClusterLink, Name: "e2e-driver"}, Router: "customer-router",
				CIDR: cidr("10.60.0.0/24"), CustomerProject: by.project, Cloud: "customer"}
			side := func() *cloud.CredentialError {
				e := estate()
				e.Links = []vpn.Link{link}
				seen, err := d.Observe(t.Context(), e, keep)
				if err != nil {
					t.Fatal(err)
				}
				return seen.Sides[link.Owner].Fault
			}
			if fault := side(); fault != nil {
				t.Fatalf("before its end: %v", fault)
			}
			if c.revoked {
				revoke() // Neutron knows the token for minutes still; here it has forgotten it
				d.across(link.Owner).neutron.SetToken("forgotten")
			}
			fault := side()
			for range 90 {
				if fault != nil {
					break
				}
				time.Sleep(time.Second)
				fault = side()
			}
			if fault == nil || fault.Reason != "AuthenticationFailed" || !strings.Contains(fault.Message, c.says) {
				t.Errorf("fault %v, want AuthenticationFailed with %q", fault, c.says)
			}
		})
	}
}

package openstack

import (
	"cmp"
	"context"
	"crypto/tls"
	"errors"
	"io/fs"
	"net/http"
	"slices"
	"strings"

	"github.com/vpnctl/vpnctl/cloud"
	ipsecv1alpha1 "github.com/vpnctl/vpnctl/crds/ipsec/v1alpha1"
	"github.com/vpnctl/vpnctl/plan/vpn"
)

// customer is the other side of a link into a customer's project, and the driver that
// the customer's credential makes. It is asked for nothing but that project's routers, the
// leg, and routes.
type customer struct {
	link     vpn.Link // without a manifest: whose it was, and where the credential may be
	revision string   // of the credential that the driver logged in with; empty: it logs in for each run
	shown    string   // whose calls these are, for people
	fault    *cloud.CredentialError
	*Driver  // nil: the credential can't be used

	all   []router // the project's
	ports []port   // what in the project carries our tags
	joins bool     // a router there may lead to gateways, and nobody can look
}

// operators says for people that a call is made with the operator's own credential.
const operators = "the operator's credential"

// credentialOf is where a link's credential is, for people.
func credentialOf(l vpn.Link) string {
	switch {
	case l.Cloud != "":
		return "cloud " + l.Cloud
	case l.Credentials.Name != "":
		return "secret " + l.Credentials.Namespace + "/" + l.Credentials.Name
	}
	return "of link " + l.Owner.Name
}

// visit logs in to the customer's project of a link, and reads what there is for it, within
// the time that a customer has. What keeps it from that is noted as a fault; an error ends
// the whole run.
func (d *Driver) visit(ctx context.Context, l vpn.Link) (*customer, error) {
	look, done := d.clock.Within(hurried(ctx), customerTime)
	defer done()
	c := d.reach(look, l)
	c.look(look)
	switch {
	case ctx.Err() != nil:
		return nil, context.Cause(ctx)
	case look.Err() != nil && c.fault != nil:
		c.fault.Message = "no answer within " + customerTime.String()
	}
	return c, nil
}

// reach logs in. Who is known by the same revision need not log in again.
//
//	                                reason                 passing
//	no credential, or a wrong one   its own                no
//	refused by Keystone             AuthenticationFailed   no
//	Keystone has a fault, or is     Pending                yes: it is our own cloud's
//	  away
//	nobody tells the credential     Pending                yes
func (d *Driver) reach(ctx context.Context, l vpn.Link) *customer {
	c := &customer{link: l, shown: credentialOf(l)}
	driver, revision, err := d.logIn(ctx, l)
	var fault *cloud.CredentialError
	switch {
	case err == nil:
		c.Driver, c.revision = driver, revision
	case errors.As(err, &fault):
		c.fault = fault
	case passes(ctx, err):
		c.fault = &cloud.CredentialError{Reason: cloud.ReasonPending, Message: err.Error(), Passing: true}
	default:
		c.fault = &cloud.CredentialError{Reason: ipsecv1alpha1.ReasonAuthentication, Message: err.Error()}
	}
	return c
}

func (d *Driver) logIn(ctx context.Context, l vpn.Link) (*Driver, string, error) {
	if d.customer == nil {
		return nil, "", &cloud.CredentialError{Reason: ipsecv1alpha1.ReasonSecretNotFound, Message: "nothing says where the customer's credential is"}
	}
	o, err := d.customer(ctx, l)
	var fault *cloud.CredentialError
	switch {
	case errors.As(err, &fault):
		return nil, "", err
	case err != nil: // it is nothing that the customer could mend
		return nil, "", &cloud.CredentialError{Reason: cloud.ReasonPending, Message: err.Error(), Passing: true}
	}
	if had := d.across(l.Owner); had != nil && had.Driver != nil && o.Revision != "" && had.revision == o.Revision {
		return had.Driver, o.Revision, d.fits(had.Driver, l)
	}
	if o.Clock.Now == nil {
		o.Clock = d.clock
	}
	o.calls, o.home = d.http.calls, d
	if env := o.Env; env != nil && o.Cloud == "" {
		o.Env = func(key string) string {
			if key == "OS_AUTH_URL" {
				return cmp.Or(env(key), d.keystone.identity)
			}
			return env(key)
		}
	}
	if _, err := o.complete().login(); err != nil {
		return nil, "", &cloud.CredentialError{Reason: incomplete(err), Message: err.Error()}
	}
	driver, err := Connect(ctx, o)
	switch {
	case errors.Is(err, errUnscoped):
		return nil, "", &cloud.CredentialError{Reason: ipsecv1alpha1.ReasonCredentialsUnscoped, Message: err.Error(), Hint: "use an application credential, which has its project"}
	case err != nil:
		return nil, "", err
	}
	return driver, o.Revision, d.fits(driver, l)
}

// incomplete is the reason of what is no credential.
func incomplete(err error) string {
	if errors.Is(err, errNoEntry) || errors.Is(err, fs.ErrNotExist) {
		return ipsecv1alpha1.ReasonSecretNotFound
	}
	return ipsecv1alpha1.ReasonSecretIncomplete
}

// fits refuses a login that is not for the customer's project, or may do nothing there.
func (d *Driver) fits(other *Driver, l vpn.Link) error {
	wrong := func(reason, message, hint string) error {
		return &cloud.CredentialError{Reason: reason, Message: message, Hint: hint}
	}
	switch {
	case other.project == d.project:
		return wrong(ipsecv1alpha1.ReasonCredentialsAreOperators, "it is for project "+d.project+", which is the operator's own", "give it a credential of the customer's project")
	case other.project != l.CustomerProject:
		return wrong(ipsecv1alpha1.ReasonCredentialsProject, "it is for project "+other.project+", but the link leads into project "+l.CustomerProject, "use a credential of that project; before anything is made, spec.customerProjectID can be corrected")
	case !slices.ContainsFunc(other.roles, acts):
		return wrong(ipsecv1alpha1.ReasonRoleMissing, "it has neither the role member nor admin in project "+other.project+", but "+cmp.Or(strings.Join(other.roles, ", "), "none"), "make a credential with the role member")
	}
	return nil
}

// acts tells whether a role may make and change things.
func acts(role string) bool {
	return slices.ContainsFunc([]string{"member", "_member_", "admin"}, func(known string) bool { return strings.EqualFold(role, known) })
}

// look reads what there is in the customer's project for the link. After a login that was
// good only an answer that says so is a fault of the credential.
func (c *customer) look(ctx context.Context) {
	if c.Driver == nil {
		return
	}
	var noRouters, noPorts error
	err := together(ctx,
		func(ctx context.Context) error { c.all, noRouters = c.routers(ctx); return noRouters },
		func(ctx context.Context) error {
			c.ports, noPorts = listOwn[port](ctx, c.Driver, portsPath, managed())
			return noPorts
		},
	)
	if err == nil {
		return
	}
	err = cmp.Or(noRouters, noPorts) // one is told: what keeps both away is the same
	fault := &cloud.CredentialError{Reason: ipsecv1alpha1.ReasonRouterResolve, Message: err.Error(), Passing: passes(ctx, err)}
	switch again := errors.Is(err, errAgain); {
	case again && fault.Passing:
		fault.Reason = cloud.ReasonPending
	case again, answered(err, http.StatusUnauthorized):
		fault.Reason = ipsecv1alpha1.ReasonAuthentication
	}
	c.fault, c.all, c.ports, c.Driver = fault, nil, nil, nil
}

// passes tells whether what failed may go well without anybody's hand. A certificate that
// is not trusted takes one.
func passes(ctx context.Context, err error) bool {
	_, untrusted := errors.AsType[*tls.CertificateVerificationError](err)
	return !untrusted && (Passing(err) || ctx.Err() != nil)
}

// side is what others may know of it.
func (c *customer) side() cloud.Side {
	return cloud.Side{Project: c.link.CustomerProject, Credential: c.shown, Fault: c.fault}
}

// by says whose calls these are.
func (c *customer) by() string { return "the customer's credential, " + c.shown }

// across is the customer's side of a link, as it was observed last; nil: it has none.
func (d *Driver) across(o vpn.Owner) *customer {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.sides[o]
}

// rememberCustomers keeps the customers' sides for Apply, and for the next run.
func (d *Driver) rememberCustomers(all []*customer) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.sides = make(map[vpn.Owner]*customer, len(all))
	for _, c := range all {
		d.sides[c.link.Owner] = c
	}
}

// beyond is the customer whose router this is; nil: the router is in our own project.
func (d *Driver) beyond(id string) *customer {
	d.mu.Lock()
	defer d.mu.Unlock()
	for _, c := range d.sides {
		if slices.ContainsFunc(c.all, func(r router) bool { return r.ID == id }) {
			return c
		}
	}
	return nil
}

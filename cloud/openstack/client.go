package openstack

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"net/url"
	"os"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/gophercloud/gophercloud/v2"
	"github.com/gophercloud/gophercloud/v2/openstack"

	"github.com/vpnctl/vpnctl/plan/resource"
	"github.com/vpnctl/vpnctl/plan/vpn"
)

// computeVersion is the Nova microversion that os-interface was tried with.
const computeVersion = "2.79"

// Options say which cloud to speak to and how.
type Options struct {
	Cloud      string                  // entry of clouds.yaml; empty: OS_CLOUD, else the OS_* variables
	ConfigFile string                  // empty: OS_CLIENT_CONFIG_FILE, else the usual places
	Env        func(key string) string // nil: os.Getenv
	Transport  http.RoundTripper       // nil: the network, with the entry's TLS settings
	Clock      Clock
	Log        *slog.Logger // one debug line a call; nil: none

	// Stop, once closed, ends the waiting between the attempts of a call: it
	// returns its last error. What is in flight is finished. nil: never.
	Stop <-chan struct{}

	DetachTimeout time.Duration // how long to wait for Nova to attach or detach; 0: 2 minutes
	UserAgent     string        // goes before the library's own

	// Customer says where the credential for the customer's project of a link is. Of a
	// link without a manifest only its owner, that project and what the Estate says are
	// known. An error that is a *cloud.CredentialError, or any other, concerns that link
	// alone. nil: there is none.
	Customer func(ctx context.Context, l vpn.Link) (Options, error)
	// Revision tells one content of a customer's credential from another: as long as it
	// stays the login is kept. Empty: every run logs in.
	Revision string

	calls *atomic.Int64 // counts the calls, for all who have it; nil: these alone
	home  *Driver       // of a customer's credential: whose cloud it is for, see login.at
}

// Driver is cloud.Driver for OpenStack. It is safe for use by several
// goroutines.
type Driver struct {
	project  string   // ID
	roles    []string // names
	neutron  *gophercloud.ServiceClient
	compute  *gophercloud.ServiceClient
	http     *transport
	keystone keystone
	clock    Clock
	patience time.Duration
	customer func(ctx context.Context, l vpn.Link) (Options, error) // Options.Customer

	mu            sync.Mutex
	scene         *scene                  // where the estate lives, since it was last looked up
	made          map[resource.ID]string  // what this process created, by its ID in a plan
	noExtraRoutes bool                    // the cloud was found to lack add_extraroutes
	date          time.Time               // the latest that an answer to a list carried
	sides         map[vpn.Owner]*customer // the other sides of links, as they were observed last
	uids          map[vpn.Owner]string    // whose objects of an operator are to be taken over, as they were observed last
}

// Connect logs in. An error names the entry or the variables that are at fault,
// never a secret.
func Connect(ctx context.Context, o Options) (*Driver, error) {
	o = o.complete()
	login, err := o.login()
	if err != nil {
		return nil, err
	}
	if o.home != nil {
		login = login.at(o.home.keystone)
		if o.Transport == nil {
			o.Transport = o.home.http.next
		}
	}
	t := &transport{next: o.Transport, clock: o.Clock, log: o.Log, stop: o.Stop, identity: unversioned(login.auth.IdentityEndpoint),
		secrets: login.secrets(), calls: cmp.Or(o.calls, new(atomic.Int64))}
	if t.next == nil {
		if t.next, err = login.dial(); err != nil {
			return nil, err
		}
	}
	provider, err := openstack.NewClient(login.auth.IdentityEndpoint)
	if err != nil {
		return nil, fmt.Errorf("reading the auth URL: %w", login.hide(err))
	}
	provider.HTTPClient = http.Client{Transport: t}
	if o.UserAgent != "" {
		provider.UserAgent.Prepend(o.UserAgent)
	}
	if err := openstack.Authenticate(ctx, provider, login.auth); err != nil {
		return nil, fmt.Errorf("logging in to %s: %w", login.shown(), login.error(err))
	}
	d := &Driver{http: t, clock: o.Clock, patience: o.DetachTimeout, customer: o.Customer, keystone: login.keystone(),
		made: map[resource.ID]string{}}
	if d.project, d.roles, err = granted(provider); err != nil {
		return nil, err
	}
	if d.neutron, err = service(provider, login.endpoint, "network"); err != nil {
		return nil, err
	}
	d.neutron.ResourceBase = versioned(d.neutron.Endpoint)
	if d.compute, err = service(provider, login.endpoint, "compute"); err != nil {
		return nil, err
	}
	d.compute.Microversion = computeVersion
	return d, nil
}

func unversioned(authURL string) string {
	return strings.TrimSuffix(strings.TrimSuffix(strings.TrimSuffix(authURL, "/"), "/v3"), "/")
}

// error tells answers, and answers that did not come, from credentials that
// the library finds incomplete before it asks anybody.
func (l login) error(err error) error {
	var code gophercloud.ErrUnexpectedResponseCode
	var transport *url.Error
	if errors.As(err, &code) || errors.As(err, &transport) {
		return faultOf(err)
	}
	return l.hide(err)
}

func (o Options) complete() Options {
	if o.Env == nil {
		o.Env = os.Getenv
	}
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	if o.DetachTimeout == 0 {
		o.DetachTimeout = 2 * time.Minute
	}
	o.Clock = o.Clock.complete()
	return o
}

// service finds an endpoint in the catalog. No version is asked for, because
// that would cost a call for each service.
func service(p *gophercloud.ProviderClient, eo gophercloud.EndpointOpts, kind string) (*gophercloud.ServiceClient, error) {
	eo.ApplyDefaults(kind)
	endpoint, err := p.EndpointLocator(eo)
	if err != nil {
		return nil, fmt.Errorf("the catalog has no %s endpoint (region %q, interface %q)", kind, eo.Region, eo.Availability)
	}
	return &gophercloud.ServiceClient{ProviderClient: p, Endpoint: endpoint, Type: kind}, nil
}

// errUnscoped is that of a login which is good for no project.
var errUnscoped = errors.New("logging in: the token is for no project; name one (project_name or project_id)")

// granted is the ID of the project that the token is for, and the names of the roles that
// it gives there.
func granted(p *gophercloud.ProviderClient) (project string, roles []string, err error) {
	token, ok := p.GetAuthResult().(interface{ ExtractInto(v any) error })
	var body struct {
		Project struct{ ID string }
		Roles   []struct{ Name string }
	}
	if !ok {
		return "", nil, errors.New("logging in: the token does not name its project")
	}
	if err := token.ExtractInto(&body); err != nil {
		return "", nil, fmt.Errorf("reading the token: %w", err)
	}
	if body.Project.ID == "" {
		return "", nil, errUnscoped
	}
	for _, r := range body.Roles {
		roles = append(roles, r.Name)
	}
	return body.Project.ID, roles, nil
}

// Handles tells whether a kind of resource is OpenStack's.
func (d *Driver) Handles(k resource.Kind) bool { return k.Cloud() }

// Calls counts the calls made so far, those to Keystone left out and those with customers'
// credentials among them.
func (d *Driver) Calls() int { return int(d.http.calls.Load()) }

// Project is the ID of the project that all of this happens in.
func (d *Driver) Project() string { return d.project }

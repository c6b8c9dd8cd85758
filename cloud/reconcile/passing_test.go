package reconcile_test

import (
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/vpnctl/vpnctl/cloud/openstack"
	"github.com/vpnctl/vpnctl/cloud/reconcile/world"
	"github.com/vpnctl/vpnctl/cloud/simulator"
	"github.com/vpnctl/vpnctl/plan"
	"github.com/vpnctl/vpnctl/plan/vpn"
)

// busy is a good login at a Neutron that has no time for lists.
type busy struct{ http.RoundTripper }

func (b busy) RoundTrip(r *http.Request) (*http.Response, error) {
	if r.Method == http.MethodGet && strings.HasSuffix(r.URL.Path, "/routers") {
		return &http.Response{StatusCode: http.StatusServiceUnavailable, Header: http.Header{}, Body: http.NoBody, Request: r}, nil
	}
	return b.RoundTripper.RoundTrip(r)
}

// TestALinkThatIsGivenUpWaitsForWhatPasses: nothing is left behind because the customer's
// services had no time, whatever is on record, and no gateway goes that they may lead to.
// With a dead credential it goes.
func TestALinkThatIsGivenUpWaitsForWhatPasses(t *testing.T) {
	w := world.New(t, simulator.Options{})
	w.Apply(acrossNamed(w), plan.Options{})
	e := givenUp(w)
	link, gone := e.Links[0].Owner, e
	gone.Links = nil
	w.Apply(e, plan.Options{})
	lost := w.Customer

	w.Customer = func(vpn.Link) (openstack.Options, error) {
		o, err := w.Options("customer")
		o.Transport = busy{o.Transport}
		return o, err
	}
	untouched(t, w, e, plan.Options{}, link, "RouterResolveFailed")
	untouched(t, w, gone, plan.Options{Prune: true}, link, "CustomerSideUnreachable")
	fewer := e
	fewer.Gateways = slices.Clone(e.Gateways[1:])
	untouchedGateway(t, w, fewer, e.Gateways[0].Owner)

	w.Customer = lost
	w.Apply(gone, plan.Options{Prune: true})
	if got := existing(t, w, "security-group"); len(got) > 0 {
		t.Errorf("ledgers are left: %v", got)
	}
}

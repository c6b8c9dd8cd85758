package cloud

import (
	"context"
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/vpnctl/vpnctl/plan"
	"github.com/vpnctl/vpnctl/plan/alloc"
	"github.com/vpnctl/vpnctl/plan/resource"
	"github.com/vpnctl/vpnctl/plan/vpn"
)

// side is a driver that observes by a function.
type side struct {
	cloud   bool
	observe func(ctx context.Context, s Scope) (*Observation, error)
}

func (d side) Observe(ctx context.Context, _ vpn.Estate, s Scope) (*Observation, error) {
	return d.observe(ctx, s)
}

func (side) Apply(context.Context, plan.Change) (resource.GatewayFacts, error) {
	return resource.GatewayFacts{}, errors.New("nothing is applied here")
}

func (d side) Handles(k resource.Kind) bool { return d.cloud == k.Cloud() }

// TestTheCloudWaitsForTheCluster, whichever of the two begins, and hears what files tell
// before that. Where the cluster can't be seen there is no picture at all.
func TestTheCloudWaitsForTheCluster(t *testing.T) {
	a, b := vpn.Owner{Kind: vpn.KindVPNGateway, Name: "a"}, vpn.Owner{Kind: vpn.KindVPNGateway, Name: "b"}
	asked := make(chan struct{})
	var got Operators
	sky := side{true, func(ctx context.Context, s Scope) (_ *Observation, err error) {
		close(asked)
		got, err = s.Operators(ctx)
		return &Observation{}, err
	}}
	failure := error(nil)
	ground := side{false, func(context.Context, Scope) (*Observation, error) {
		<-asked // it is the slower one
		return &Observation{OperatorStopped: true, Operated: []alloc.Operated{{Owner: a, UID: "cluster"}, {Owner: b, UID: "cluster"}}}, failure
	}}
	scope := Scope{Operated: []alloc.Operated{{Owner: a, UID: "file"}}}
	for name, drivers := range map[string][]Driver{"the cloud first": {sky, ground}, "the cluster first": {ground, sky}} {
		asked, got = make(chan struct{}), Operators{}
		if _, err := Observe(t.Context(), drivers, vpn.Estate{}, scope); err != nil {
			t.Fatal(err)
		}
		want := Operators{Stopped: true, Told: map[vpn.Owner]bool{a: true}, Gateways: []alloc.Operated{{Owner: a, UID: "file"}, {Owner: b, UID: "cluster"}}}
		if diff := cmp.Diff(want.Gateways, got.Gateways, cmp.Comparer(func(x, y alloc.Operated) bool { return x.Owner == y.Owner && x.UID == y.UID })); diff != "" || got.Stopped != want.Stopped || !cmp.Equal(want.Told, got.Told) {
			t.Errorf("%s: %+v", name, got)
		}
	}
	asked, failure = make(chan struct{}), errors.New("the cluster is away")
	if o, err := Observe(t.Context(), []Driver{sky, ground}, vpn.Estate{}, scope); !errors.Is(err, failure) || o != nil {
		t.Errorf("%v, %v", o, err)
	}
}

package kube

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"sync"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/vpnctl/vpnctl/cloud"
	vpnv1alpha1 "github.com/vpnctl/vpnctl/crds/vpn/v1alpha1"
	"github.com/vpnctl/vpnctl/plan/roster"
	"github.com/vpnctl/vpnctl/plan/vpn"
)

// Which says what of a cluster is read.
type Which struct {
	Namespace string // empty: all
	Links     bool   // those too, which are in no namespace
}

// kinds are those that are read, all manifests.
func (w Which) kinds() []kind {
	var all []kind
	for _, k := range kinds {
		if k.manifest && (w.Links || !k.everywhere) {
			all = append(all, k)
		}
	}
	return all
}

// in is the namespace in which objects of a kind are looked for.
func (w Which) in(k kind) string {
	if k.everywhere {
		return ""
	}
	return w.Namespace
}

// Roster reads how gateways stand, by one list of each kind, side by side.
func (d *Driver) Roster(ctx context.Context, w Which) (roster.Cluster, error) {
	all := w.kinds()
	lists, errs := make([][]unstructured.Unstructured, len(all)), make([]error, len(all))
	var wait sync.WaitGroup
	for i, k := range all {
		wait.Go(func() {
			lists[i], errs[i] = d.listIn(ctx, k.resource, w.in(k), "")
			errs[i] = notInstalled(k, errs[i])
		})
	}
	wait.Wait()
	unseen := barred(all, errs)
	if err := cloud.Gather(errs); err != nil {
		return roster.Cluster{}, err
	}
	var s statuses
	for i, k := range all {
		for j := range lists[i] {
			s.add(statusOf(k, &lists[i][j]))
		}
	}
	c := s.cluster()
	c.Unseen = unseen
	return c, nil
}

// barred takes the error out that links may not be listed: gateways don't depend on them.
func barred(all []kind, errs []error) error {
	for i, k := range all {
		if k.everywhere && errors.Is(errs[i], cloud.ErrForbidden) {
			err := errs[i]
			errs[i] = nil
			return err
		}
	}
	return nil
}

// statuses are objects that were read, each with what its kind has.
type statuses struct {
	gateways []roster.Gateway
	peers    []roster.Peer
	links    []roster.Link
	broken   []roster.Unreadable
}

func (s *statuses) add(one any) {
	switch o := one.(type) {
	case roster.Gateway:
		s.gateways = append(s.gateways, o)
	case roster.Peer:
		s.peers = append(s.peers, o)
	case roster.Link:
		s.links = append(s.links, o)
	case roster.Unreadable:
		s.broken = append(s.broken, o)
	}
}

// cluster joins gateways with their peers: what a VPNPeer says of itself, and what its
// gateway says of it.
func (s *statuses) cluster() roster.Cluster {
	c := roster.Cluster{Gateways: s.gateways, Links: s.links, Broken: s.broken}
	at := map[vpn.Owner]*roster.Gateway{}
	for i := range c.Gateways {
		c.Gateways[i].Peers = slices.Clone(c.Gateways[i].Peers) // what was read stays as it was
		at[c.Gateways[i].Owner] = &c.Gateways[i]
	}
	for _, p := range s.peers {
		g := at[vpn.Owner{Kind: vpn.KindVPNGateway, Namespace: p.Namespace, Name: p.Gateway}]
		if g == nil {
			c.Strays = append(c.Strays, p)
			continue
		}
		i := slices.IndexFunc(g.Peers, func(told roster.Peer) bool { return told.Name == p.Name && told.Created.IsZero() })
		if i < 0 {
			g.Peers = append(g.Peers, p)
			continue
		}
		p.Report = roster.Newer(p.Report, g.Peers[i].Report)
		g.Peers[i] = p
	}
	byName := func(a, b roster.Peer) int {
		return strings.Compare(a.Namespace+"/"+a.Name, b.Namespace+"/"+b.Name)
	}
	for i := range c.Gateways {
		if c.Gateways[i].Owner.Kind == vpn.KindVPNGateway {
			slices.SortFunc(c.Gateways[i].Peers, byName)
		}
	}
	slices.SortFunc(c.Strays, byName)
	slices.SortFunc(c.Broken, func(a, b roster.Unreadable) int { return strings.Compare(a.String(), b.String()) })
	slices.SortFunc(c.Gateways, func(a, b roster.Gateway) int { return a.Owner.Compare(b.Owner) })
	slices.SortFunc(c.Links, func(a, b roster.Link) int { return strings.Compare(a.Name, b.Name) })
	return c
}

// statusOf reads a gateway, a peer or a link: what can't be read keeps no other from being
// shown. What the gateway's status says of its peers is in its peers.
func statusOf(k kind, u *unstructured.Unstructured) any {
	var one any
	var err error
	switch k.name {
	case vpn.KindVPNGateway:
		one, err = read(u, vpnGateway)
	case vpn.KindIPsecGateway:
		one, err = read(u, ipsecGateway)
	case vpnv1alpha1.KindVPNPeer:
		one, err = read(u, vpnPeer)
	default:
		one, err = read(u, clusterLink)
	}
	if err != nil {
		gateway, _, _ := unstructured.NestedString(u.Object, "spec", "gatewayRef")
		return roster.Unreadable{Kind: k.name, Namespace: u.GetNamespace(), Name: u.GetName(), Gateway: gateway, Message: err.Error()}
	}
	return one
}

func read[W, S any](u *unstructured.Unstructured, as func(*W, roster.Manifest) S) (any, error) {
	wire := new(W)
	var common struct {
		Status struct {
			Conditions []metav1.Condition `json:"conditions"`
		} `json:"status"`
	}
	if err := runtime.DefaultUnstructuredConverter.FromUnstructured(u.Object, wire); err != nil {
		return nil, err
	}
	if err := runtime.DefaultUnstructuredConverter.FromUnstructured(u.Object, &common); err != nil {
		return nil, err
	}
	m := roster.Manifest{Generation: u.GetGeneration(), Created: u.GetCreationTimestamp().Time}
	if at := u.GetDeletionTimestamp(); at != nil {
		m.Deleting = at.Time
	}
	for _, c := range common.Status.Conditions {
		m.Conditions = append(m.Conditions, roster.Condition{
			Type: c.Type, Status: string(c.Status), Reason: c.Reason, Message: c.Message, Since: c.LastTransitionTime.Time, Generation: c.ObservedGeneration,
		})
	}
	return as(wire, m), nil
}

// reportedAt is when a gateway's pod last wrote into a status: only its fields are among
// those that the API server has noted down then.
func reportedAt(fields []metav1.ManagedFieldsEntry) time.Time {
	var last time.Time
	for _, f := range fields {
		var written struct {
			Status map[string]json.RawMessage `json:"f:status"`
		}
		if f.FieldsV1 == nil || f.Time == nil || json.Unmarshal(f.FieldsV1.GetRawBytes(), &written) != nil {
			continue
		}
		for _, field := range []string{"f:peers", "f:peersUp", "f:tunnels", "f:tunnelsUp", "f:state"} {
			if _, is := written.Status[field]; is && f.Time.After(last) {
				last = f.Time.Time
			}
		}
	}
	return last
}

package loop

import (
	"context"
	"errors"
	"maps"
	"slices"

	"github.com/vpnctl/vpnctl/cloud"
	vpnv1alpha1 "github.com/vpnctl/vpnctl/crds/vpn/v1alpha1"
	"github.com/vpnctl/vpnctl/plan"
	"github.com/vpnctl/vpnctl/plan/vpn"
)

// member is a peer as it was read last.
type member struct {
	gateway    vpn.Owner
	uid        string // of its manifest
	definition string // UID of the CRD under which it was written; empty: not known
}

// went tells whether a peer that isn't there any more went with its CRD, of which now a
// certain one stands; empty: none.
func (m member) went(definition string) bool {
	return definition == "" || m.definition != "" && m.definition != definition
}

// define learns which CRD of peers stands, before they are read: once, and anew after it,
// or a peer, was found to be another than before.
func (r *round) define(ctx context.Context) {
	if r.Definition == nil || r.defined {
		return
	}
	switch uid, err := r.Definition(ctx, vpnv1alpha1.KindVPNPeer); {
	case errors.Is(err, cloud.ErrForbidden): // which is said once it matters
		r.definition, r.defined = "", true
	case err == nil:
		r.definition, r.defined = uid, uid != ""
	}
}

// astray finds the peers that went with their CRD: unlike gateways they have nothing that
// holds them. Whoever deletes a CRD asks for no tunnel's end, so their gateways are left
// as they are until each is written again.
//
//	a peer that was there is not any more
//	  its CRD stands                    it was deleted: that is carried out
//	  its CRD is being deleted, or gone its gateway is left as it is
//	  another CRD stands in its place   the same
//	  that can't be seen                the same, in this round; the next one asks again
func (r *round) astray(ctx context.Context) {
	now, gone := r.members()
	if len(gone) > 0 {
		uid, seen, err := r.standingDefinition(ctx, vpnv1alpha1.KindVPNPeer)
		for _, path := range gone {
			switch m := r.attached[path]; {
			case err != nil:
				now[path] = m
				r.hold(m.gateway, "whether its peer "+path+" went with the CRD of VPNPeers can't be seen")
			case seen && m.went(uid):
				r.lost[path] = m.gateway
			}
		}
		if seen && uid != r.definition {
			r.defined = false
		}
	}
	for path, m := range now {
		if m.definition == "" && r.defined { // else it is asked for before the next look
			m.definition = r.definition
			now[path] = m
		}
	}
	r.attached = now
	r.bereave()
}

// members are the peers that were read, and the names of those that were read before and
// are not there any more.
func (r *round) members() (now map[string]member, gone []string) {
	now = map[string]member{}
	for path, o := range r.of {
		now[path] = member{gateway: o, uid: r.peers[path].UID}
	}
	for _, path := range slices.Sorted(maps.Keys(r.attached)) {
		before := r.attached[path]
		switch m, there := now[path]; {
		case !there:
			gone = append(gone, path)
		case m.uid != before.uid: // the whole kind may have been written again
			r.defined = false
		default:
			m.definition = before.definition
			now[path] = m
		}
	}
	return now, gone
}

// bereave leaves the gateways as they are whose peers went with their CRD, and says so.
// One that is being deleted isn't kept by that.
func (r *round) bereave() {
	r.bereft = map[vpn.Owner][]string{}
	for _, path := range slices.Sorted(maps.Keys(r.lost)) {
		o := r.lost[path]
		if _, back := r.of[path]; back {
			delete(r.lost, path)
			continue
		}
		if !r.hold(o, "its peer "+path+" went with the CRD of VPNPeers") {
			continue
		}
		r.bereft[o] = append(r.bereft[o], path)
		r.notice(plan.Notice{
			Message: "peer " + path + " went with the CRD of VPNPeers: " + o.Path() + " is left as it is",
			Hint:    "write its manifest again; to remove it, delete it after that",
		})
	}
}

// hold leaves a gateway as it is in this round; one that is being deleted, or isn't there,
// it doesn't.
func (r *round) hold(o vpn.Owner, why string) bool {
	if !r.there(o) || r.deleted[o] {
		return false
	}
	r.spared[o] = why
	return true
}

// forget drops the lost peers of a gateway of which nothing is left: if it comes again, it
// is another one.
func (r *round) forget(o vpn.Owner) {
	maps.DeleteFunc(r.lost, func(_ string, of vpn.Owner) bool { return of == o })
}

// unlisted notes, when manifests can't be read, whether that is because the CRD of peers
// is gone: once it is back there are none, and nobody has deleted any.
func (r *round) unlisted(ctx context.Context) {
	if len(r.attached) == 0 || r.Definition == nil {
		return
	}
	if uid, err := r.Definition(ctx, vpnv1alpha1.KindVPNPeer); err == nil && uid == "" {
		for path, m := range r.attached {
			r.lost[path] = m.gateway
		}
		r.attached, r.defined = nil, false
	}
}

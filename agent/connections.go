package agent

import (
	"reflect"
	"slices"

	"github.com/vpnctl/vpnctl/render/swanctl"
)

// effect is what has to happen to the SAs of a connection before a change of its
// settings is in force. charon itself leaves every SA as it was negotiated.
type effect int

const (
	stays       effect = iota // nothing has changed
	waits                     // loaded, and in force after the next re-authentication
	endChildren               // the children concerned end and are negotiated anew
	endAll                    // every IKE SA of the connection ends and is negotiated anew
)

// change is the table of what a change to a connection does. The last row whose
// setting differs counts. Package render judges plans by the same rules (see
// judge_ipsec.go there): what a plan calls a reload must not end an SA here, and what
// it calls a reconnect must.
//
//	rekey interval of the IKE SA, DPD    waits
//	rekey interval of a child            waits
//	a child's remote networks            endChildren: that child
//	a child's ESP proposals              endChildren: that child
//	a child added or removed             endChildren: that child
//	the peer's address                   endAll
//	either identity                      endAll
//	IKE proposals                        endAll
//	a child's local network              endAll
//	children, and the IKE SA's interval
//	or DPD as well                       endAll
//
// The last row is charon's doing: an IKE SA keeps the object that it was set up with,
// and is found for a new child only if nothing but the children has changed.
func change(was, now swanctl.Connection) (effect, []string) {
	if reflect.DeepEqual(was, now) {
		return stays, nil
	}
	children, moved := concerned(was.Children, now.Children)
	timers := was.Lifetime != now.Lifetime || was.DPDDelay != now.DPDDelay || was.DPDTimeout != now.DPDTimeout
	switch {
	case was.Address != now.Address || was.LocalID != now.LocalID || was.RemoteID != now.RemoteID || moved:
		return endAll, nil
	case !slices.Equal(was.Proposals, now.Proposals):
		return endAll, nil
	case len(children) > 0 && timers:
		return endAll, nil
	case len(children) > 0:
		return endChildren, children
	}
	return waits, nil
}

// concerned are the names of the children that were added, removed or changed other
// than in their timers, and whether one that stays has another local network.
func concerned(was, now []swanctl.Child) (names []string, moved bool) {
	for _, c := range now {
		old, there := child(was, c.Name)
		switch {
		case there && old.Local != c.Local:
			moved = true
		case !there || !slices.Equal(old.Remote, c.Remote) || !slices.Equal(old.Proposals, c.Proposals):
			names = append(names, c.Name)
		}
	}
	for _, c := range was {
		if _, there := child(now, c.Name); !there {
			names = append(names, c.Name)
		}
	}
	slices.Sort(names)
	return names, moved
}

func child(all []swanctl.Child, name string) (swanctl.Child, bool) {
	i := slices.IndexFunc(all, func(c swanctl.Child) bool { return c.Name == name })
	if i < 0 {
		return swanctl.Child{}, false
	}
	return all[i], true
}

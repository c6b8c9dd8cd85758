package alloc

import (
	"cmp"
	"fmt"
	"net/netip"
	"slices"
	"strings"
	"time"

	"github.com/vpnctl/vpnctl/plan/resource"
	"github.com/vpnctl/vpnctl/plan/vpn"
)

// LinkLedger is what was allocated to a link. It is written on the tags of an empty
// security group in our own project before anything is made for the link, and with
// manifest and credential gone it still says whose leg and which policy are ours.
type LinkLedger struct {
	Estate string    `json:"estate"`
	Owner  vpn.Owner `json:"owner"`

	CIDR netip.Prefix `json:"cidr,omitzero"` // destination of the forward route: the service cluster's
	// TransitIP is the leg's address in our own project, written before the port is
	// made. Zero on a cross-tenant link, whose address Neutron allocates.
	TransitIP netip.Addr `json:"transitIP,omitzero"`
	// Adopted is the ID of a port that was there before and was taken over; empty: the
	// leg is made by us.
	Adopted string `json:"adopted,omitempty"`
	// Customer is the ID of the customer's project on a cross-tenant link; empty: the
	// link stays in our own project.
	Customer string `json:"customer,omitempty"`

	Applied    string     `json:"applied,omitempty"`   // hash of the desired state that was reached
	Leg        string     `json:"leg,omitempty"`       // ID of the leg port
	LegAddress netip.Addr `json:"legAddress,omitzero"` // its address
	// Policy is the ID of the RBAC policy that we made. PolicyPending: we are about to
	// make one, and found none before. Empty: there is none of ours.
	Policy    string `json:"policy,omitempty"`
	Abandoned bool   `json:"abandoned,omitempty"` // the customer's side was given up

	Ref     string    `json:"ref,omitempty"`    // observed: ID of the security group it stands on
	Created time.Time `json:"created,omitzero"` // observed: of that group
}

// PolicyPending stands for the ID of a policy while it is being made.
const PolicyPending = "pending"

// MaxProject is the longest ID of a customer's project, in characters.
const MaxProject = 64

// Names of a link's entries, beside the check.
const (
	entryLinkCIDR  = "link-cidr"
	entryTransitIP = "transit-ip"
	entryAdopted   = "adopted"
	entryCustomer  = "customer-project"
)

// Cross tells whether the link leads into a customer's project.
func (l LinkLedger) Cross() bool { return l.Customer != "" }

// Entries are what was allocated as names and values, sorted by name, with a check
// of all the others among them. What was done is on record beside them. Where nothing
// was allocated, which is told by the CIDR, there are none.
func (l LinkLedger) Entries() []resource.Entry {
	if !l.CIDR.IsValid() {
		return nil
	}
	entries := []resource.Entry{{Name: entryLinkCIDR, Value: l.CIDR.String()}}
	if l.TransitIP.IsValid() {
		entries = append(entries, resource.Entry{Name: entryTransitIP, Value: l.TransitIP.String()})
	}
	if l.Adopted != "" {
		entries = append(entries, resource.Entry{Name: entryAdopted, Value: l.Adopted})
	}
	if l.Customer != "" {
		entries = append(entries, resource.Entry{Name: entryCustomer, Value: l.Customer})
	}
	entries = append(entries, resource.Entry{Name: entryCheck, Value: checksum(entries)})
	slices.SortFunc(entries, byName)
	return entries
}

// ParseLinkEntries is the inverse of Entries for what was allocated to a link, as
// strict as ParseEntries: what another hand changed or removed is an error, no entries
// at all are one, and so is an entry of a newer vpnctl. With an error come those parts
// that could be read.
func ParseLinkEntries(entries []resource.Entry) (LinkLedger, error) {
	var l LinkLedger
	var first error
	seen := map[string]bool{}
	for _, e := range entries {
		err := l.read(e)
		if seen[e.Name] {
			err = fmt.Errorf("entry %s stands there twice", e.Name)
		}
		seen[e.Name] = true
		if first == nil {
			first = err
		}
	}
	if first == nil {
		first = l.check(entries)
	}
	return l, first
}

// read takes one entry over, unless its value is none of its kind.
func (l *LinkLedger) read(e resource.Entry) error {
	switch e.Name {
	case entryCheck:
	case entryLinkCIDR:
		p, err := netip.ParsePrefix(e.Value)
		if err != nil || !p.Addr().Is4() || p != p.Masked() {
			return fmt.Errorf("link-cidr %q is not an IPv4 network", e.Value)
		}
		l.CIDR = p
	case entryTransitIP:
		a, err := netip.ParseAddr(e.Value)
		if err != nil || !a.Is4() {
			return fmt.Errorf("transit-ip %q is not an IPv4 address", e.Value)
		}
		l.TransitIP = a
	case entryAdopted:
		if !Writable(e.Value) {
			return fmt.Errorf("adopted %q is no ID", e.Value)
		}
		l.Adopted = e.Value
	case entryCustomer:
		if !project(e.Value) {
			return fmt.Errorf("customer-project %q is no ID", e.Value)
		}
		l.Customer = e.Value
	default:
		return fmt.Errorf("entry %s is not known: written by a newer vpnctl?", e.Name)
	}
	return nil
}

// project tells whether the ID of a customer's project can stand in a ledger.
func project(id string) bool { return Writable(id) && len(id) <= MaxProject }

// check compares what was read with what would be written. A leg has an address of
// ours or a customer, and never both.
func (l LinkLedger) check(entries []resource.Entry) error {
	if l.Cross() && l.TransitIP.IsValid() {
		return fmt.Errorf("transit-ip and customer-project both stand there, read %s", brief(entries))
	}
	names := []string{entryLinkCIDR, entryTransitIP, entryCheck}
	if l.Cross() {
		names = []string{entryLinkCIDR, entryCheck}
	}
	if err := complete(entries, names...); err != nil {
		return err
	}
	return faithful(entries, l.Entries())
}

// Older decides between two claims to one thing: the earlier group, then the lower
// ID, then the lower owner.
func (l LinkLedger) Older(o LinkLedger) bool {
	return cmp.Or(l.Created.Compare(o.Created), strings.Compare(l.Ref, o.Ref), l.Owner.Compare(o.Owner)) < 0
}

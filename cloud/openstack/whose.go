package openstack

import (
	"fmt"

	"github.com/vpnctl/vpnctl/plan/resource"
)

// atCustomers is the change of a leg as it is carried out in the project that the leg
// stands in: with the customer's credential where that is not our own.
func (v verb) atCustomers() (verb, error) {
	body := v.After
	if body == nil {
		body = v.Before
	}
	if body.TransitLeg.Project == "" {
		return v, nil
	}
	c := v.across(v.Owner)
	if c == nil || c.Driver == nil {
		return v, fmt.Errorf("%s: the customer's project could not be looked at", v.ID)
	}
	v.Driver = c.Driver
	return v, nil
}

// at is a change of routes as it is carried out on one router: with the customer's
// credential on a router of a customer's.
func (v verb) at(router string) verb {
	if c := v.beyond(router); c != nil {
		v.Driver = c.Driver
	}
	return v
}

// blame says of what failed for a link into a customer's project whose credential it was.
// The step in which it failed stays known.
func (v verb) blame(err error) error {
	if err == nil {
		return nil
	}
	var theirs *customer
	switch c := v.across(v.Owner); {
	case v.ID.Kind == resource.KindRoute:
		theirs = v.beyond(v.routersConcerned()[0])
		if theirs == nil && c == nil {
			return err
		}
	case c == nil:
		return err
	case v.ID.Kind == resource.KindTransitLeg:
		theirs = c
	}
	if theirs != nil {
		return fmt.Errorf("customer credential (%s): %w", theirs.shown, err)
	}
	return fmt.Errorf("operator credential: %w", err)
}

// beyondAll are the routers of all customers' projects, as they were observed. An error
// names a customer's project whose routers may lead to gateways, and can't be looked at.
func (d *Driver) beyondAll() ([]router, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	var all []router
	for _, c := range d.sides {
		if c.Driver == nil && c.joins {
			return nil, conflict("whether routers of project %s lead to the port can't be seen: the credential of link %s doesn't work", c.link.CustomerProject, c.link.Owner.Name)
		}
		all = append(all, c.all...)
	}
	return all, nil
}

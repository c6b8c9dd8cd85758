package openstack

import (
	"context"
	"fmt"
	"net/http"
	"net/netip"
	"net/url"
	"time"

	"github.com/vpnctl/vpnctl/state"
)

var _ state.Claimant = (*Driver)(nil)

// CreateLock creates a port on a chosen address of the transit network, in no
// security group and down: it holds the address and nothing else. The estate
// must have been located or observed before. It is tried once: the lock looks
// who has the address.
func (d *Driver) CreateLock(ctx context.Context, name, description string, addr netip.Addr) (state.Held, error) {
	s, err := d.here()
	if err != nil {
		return state.Held{}, err
	}
	var body struct {
		Port port `json:"port"`
	}
	h, err := d.call(ctx, http.MethodPost, portsPath, map[string]any{"port": map[string]any{
		"network_id": s.network.ID, "fixed_ips": []fixedIP{{Subnet: s.subnet.ID, Address: addr.String()}},
		"name": name, "description": description, "security_groups": []string{}, "admin_state_up": false,
	}}, &body)
	switch {
	case typed(err, "IpAddressAlreadyAllocated"):
		err = fmt.Errorf("%w: %w", state.ErrHeld, err)
	case answered(err, http.StatusForbidden):
		err = fmt.Errorf("%w: %w", state.ErrRefused, err)
	}
	if err != nil {
		return state.Held{}, fmt.Errorf("creating port %s on %s: %w", name, addr, err)
	}
	return held(body.Port, h), nil
}

// FindLock finds the port on an address of the transit network, whoever's it is.
func (d *Driver) FindLock(ctx context.Context, addr netip.Addr) (state.Held, bool, error) {
	s, err := d.here()
	if err != nil {
		return state.Held{}, false, err
	}
	var body struct {
		Ports []port `json:"ports"`
	}
	q := url.Values{"network_id": {s.network.ID}, "fixed_ips": {"ip_address=" + addr.String()}}
	h, err := d.call(ctx, http.MethodGet, portsPath+"?"+q.Encode(), nil, &body)
	if err != nil {
		return state.Held{}, false, fmt.Errorf("looking for a port on %s: %w", addr, err)
	}
	if len(body.Ports) == 0 {
		return held(port{}, h), false, nil
	}
	return held(body.Ports[0], h), true, nil
}

// RenewLock writes a new description on the lock's port.
func (d *Driver) RenewLock(ctx context.Context, id, description string) (state.Held, error) {
	var body struct {
		Port port `json:"port"`
	}
	h, err := d.call(ctx, http.MethodPut, portsPath+"/"+id,
		map[string]any{"port": map[string]any{"description": description}}, &body)
	if answered(err, http.StatusNotFound) {
		err = fmt.Errorf("%w: %w", state.ErrLost, err)
	}
	if err != nil {
		return state.Held{}, fmt.Errorf("renewing port %s: %w", id, err)
	}
	return held(body.Port, h), nil
}

// DeleteLock deletes the lock's port. A stop doesn't hurry it: others would wait
// for what is left.
func (d *Driver) DeleteLock(ctx context.Context, id string) error {
	return d.remove(tidying(ctx), portsPath, id)
}

// held is the port at the moment of the answer, by the server's clock.
func held(p port, h http.Header) state.Held {
	now, err := http.ParseTime(h.Get("Date"))
	if err != nil {
		now = time.Time{}
	}
	return state.Held{ID: p.ID, Name: p.Name, Description: p.Description, Now: now}
}

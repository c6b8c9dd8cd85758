package openstack

import (
	"context"
	"fmt"
	"net/http"
	"time"
)

// poll is how often Neutron is asked whether Nova is done.
const poll = time.Second

// settleAttachment brings the port to the planned server, or to none.
func (v verb) settleAttachment(ctx context.Context, p port) error {
	want := v.After.Port.Server
	if p.Device == want {
		return nil
	}
	if err := v.detach(ctx, p); err != nil {
		return err
	}
	if want == "" {
		return nil
	}
	return v.attach(ctx, p.ID, want)
}

// expected refuses a port that another hand attached to a server that is in
// nobody's plan.
func (v verb) expected(p port) error {
	if p.Device == "" || p.Device == v.After.Port.Server || v.Before != nil && v.Before.Port != nil && v.Before.Port.Server == p.Device {
		return nil
	}
	return conflict("port %s is attached to %s by now", p.ID, p.Device)
}

// attach attaches the port and reads it again after every error, because the
// answer says little: two callers at once may both be refused while one of them
// gets the port.
//
//	the port is on the server     done
//	on another server             conflict
//	on none, 404                  no such server: what names it in the Estate is wrong
//	on none, 409, 5xx, no answer  try again, until patience ends
//	on none, another error        that error
func (v verb) attach(ctx context.Context, id, server string) error {
	doing := fmt.Sprintf("attaching port %s to server %s", id, server)
	for waited := time.Duration(0); ; waited += poll {
		err := v.nova(ctx, http.MethodPost, "servers/"+server+"/os-interface",
			map[string]any{"interfaceAttachment": map[string]any{"port_id": id}})
		if err == nil {
			return nil
		}
		p, found, reading := read[port](ctx, v.Driver, portsPath, id)
		switch {
		case reading != nil:
			return fmt.Errorf("%s: %w; %w", doing, err, reading)
		case !found:
			return fmt.Errorf("%s: %w", doing, conflict("the port does not exist any more"))
		case p.Device == server:
			return nil
		case p.Device != "":
			return fmt.Errorf("%s: %w", doing, conflict("it is attached to %s by now", p.Device))
		case answered(err, http.StatusNotFound):
			return fmt.Errorf("%s: %w: %w", doing, noServer(server, v.After.Port.Node), err)
		case waited >= v.patience || !lost(err) && !answered(err, http.StatusConflict):
			return fmt.Errorf("%s: %w", doing, err)
		}
		if waiting := v.nextLook(ctx); waiting != nil {
			return fmt.Errorf("%s: %w; %w", doing, err, waiting)
		}
	}
}

// detach takes the port from the server that has it and waits until it is free.
//
//	202   so Nova answers to anything, and works on: Neutron says when it is done
//	404   the server is gone and can't let go: Neutron clears the port
//	409   the server is busy or locked: ask again, until patience ends
func (v verb) detach(ctx context.Context, p port) error {
	if p.Device == "" {
		return nil
	}
	doing := fmt.Sprintf("detaching port %s from server %s", p.ID, p.Device)
	if _, ok := p.server(); !ok {
		return fmt.Errorf("%s: %w", doing, conflict("it is used as %s", p.DeviceOwner))
	}
	for waited := time.Duration(0); ; waited += poll {
		err := v.nova(ctx, http.MethodDelete, "servers/"+p.Device+"/os-interface/"+p.ID, nil)
		switch {
		case err == nil:
			return v.free(ctx, p, doing)
		case answered(err, http.StatusNotFound):
			return v.clear(ctx, p, doing)
		case waited >= v.patience || !answered(err, http.StatusConflict):
			return fmt.Errorf("%s: %w", doing, err)
		}
		if waiting := v.nextLook(ctx); waiting != nil {
			return fmt.Errorf("%s: %w; %w", doing, err, waiting)
		}
	}
}

// clear takes a server that doesn't exist off the port.
func (v verb) clear(ctx context.Context, p port, doing string) error {
	err := v.change(ctx, portsPath, p.ID, map[string]any{"device_id": "", "device_owner": ""})
	if err != nil && !answered(err, http.StatusNotFound) {
		return fmt.Errorf("%s, which does not exist: %w", doing, err)
	}
	return nil
}

// free waits until no device has the port.
func (v verb) free(ctx context.Context, p port, doing string) error {
	for waited := time.Duration(0); ; waited += poll {
		now, found, err := read[port](ctx, v.Driver, portsPath, p.ID)
		switch {
		case err != nil:
			return fmt.Errorf("%s: %w", doing, err)
		case !found || now.Device == "":
			return nil
		case now.Device != p.Device:
			return fmt.Errorf("%s: %w", doing, conflict("it is attached to %s by now", now.Device))
		case waited >= v.patience:
			return fmt.Errorf("%s: still attached after %s", doing, v.patience)
		}
		if err := v.nextLook(ctx); err != nil {
			return fmt.Errorf("%s: still attached: %w", doing, err)
		}
	}
}

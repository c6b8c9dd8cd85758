package openstack

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/gophercloud/gophercloud/v2"
)

// pageSize is how many objects a list asks for at once; longURL is how long the
// values of one filter may become before the query is parted (servers refuse
// more than 8 kB).
const (
	pageSize = 1000
	longURL  = 6000
)

// collections are the lists' names by their paths.
var collections = map[string]string{
	"security-groups": "security_groups", "ports": "ports", "floatingips": "floatingips",
	"routers": "routers", "networks": "networks", "subnets": "subnets", policiesPath: "rbac_policies", serversPath: "servers",
}

// call makes one call of Neutron; path has no leading slash. The error is a
// fault.
func (d *Driver) call(ctx context.Context, method, path string, in, out any) (http.Header, error) {
	return send(ctx, d.neutron, method, d.neutron.ServiceURL(path), in, out)
}

// nova makes one call of Nova.
func (d *Driver) nova(ctx context.Context, method, path string, in any) error {
	_, err := send(ctx, d.compute, method, d.compute.ServiceURL(path), in, nil)
	return err
}

// of is the service that has a list.
func (d *Driver) of(path string) *gophercloud.ServiceClient {
	if path == serversPath {
		return d.compute
	}
	return d.neutron
}

func send(ctx context.Context, c *gophercloud.ServiceClient, method, address string, in, out any) (http.Header, error) {
	opts := &gophercloud.RequestOpts{JSONBody: in, JSONResponse: out, OkCodes: []int{200, 201, 202, 204}}
	resp, err := c.Request(ctx, method, address, opts)
	if err != nil {
		return nil, faultOf(err)
	}
	return resp.Header, nil
}

// list reads all pages of a list. A page that fails is an error; a marker that
// was deleted meanwhile starts the list over, once.
func list[T any](ctx context.Context, d *Driver, path string, query url.Values) ([]T, error) {
	items, err := pages[T](ctx, d, path, query)
	if errors.Is(err, errMarkerGone) {
		items, err = pages[T](ctx, d, path, query)
	}
	if err != nil {
		return nil, fmt.Errorf("listing %s: %w", path, err)
	}
	return items, nil
}

// listOwn lists what stands in our project. The answer is looked at again: whoever
// sees other projects' objects must not take them for ours.
func listOwn[T placed](ctx context.Context, d *Driver, path string, query url.Values) ([]T, error) {
	q := url.Values{"project_id": {d.project}}
	for k, v := range query {
		q[k] = v
	}
	all, err := list[T](ctx, d, path, q)
	return own(d, all), err
}

func own[T placed](d *Driver, all []T) []T {
	return slices.DeleteFunc(all, func(x T) bool { return x.in() != d.project })
}

var errMarkerGone = errors.New("the list changed while it was read")

func pages[T any](ctx context.Context, d *Driver, path string, query url.Values) ([]T, error) {
	all := []T{}
	q := url.Values{"limit": {strconv.Itoa(pageSize)}}
	for k, v := range query {
		q[k] = v
	}
	for seen := ""; ; {
		p := page[T]{name: collections[path]}
		h, err := send(ctx, d.of(path), http.MethodGet, d.of(path).ServiceURL(path)+"?"+q.Encode(), nil, &p)
		if seen != "" && answered(err, http.StatusNotFound) {
			return nil, fmt.Errorf("%w: %w", errMarkerGone, err)
		}
		if err != nil {
			return nil, err
		}
		d.dated(h)
		all = append(all, p.items...)
		if p.marker == "" {
			return all, nil
		}
		if p.marker == seen {
			return nil, fmt.Errorf("page after %s: the marker does not move", seen)
		}
		seen = p.marker
		q.Set("marker", seen)
	}
}

// dated notes what time it is for the service.
func (d *Driver) dated(h http.Header) {
	at, err := http.ParseTime(h.Get("Date"))
	if err != nil {
		return
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	if at.After(d.date) {
		d.date = at.UTC()
	}
}

// now is the latest time that a service told; zero: none did.
func (d *Driver) now() time.Time {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.date
}

// listAny lists the objects that have one of the values in an attribute. The
// query is parted where it would become too long; without values nothing is
// asked.
func listAny[T any](ctx context.Context, d *Driver, path, attribute string, values []string, query url.Values) ([]T, error) {
	var all []T
	for len(values) > 0 {
		n, size := 0, 0
		for n < len(values) && size < longURL {
			size += len(attribute) + len(url.QueryEscape(values[n])) + 2
			n++
		}
		q := url.Values{attribute: values[:n]}
		for k, v := range query {
			q[k] = v
		}
		some, err := list[T](ctx, d, path, q)
		if err != nil {
			return nil, err
		}
		all, values = append(all, some...), values[n:]
	}
	return all, nil
}

// read gets one object; false when there is none. An object that this process
// has just made may be missing from the first reads.
func read[T any](ctx context.Context, d *Driver, path, id string) (T, bool, error) {
	for attempt := 1; ; attempt++ {
		var body map[string]T
		_, err := d.call(ctx, http.MethodGet, path+"/"+id, nil, &body)
		if err == nil {
			for _, object := range body {
				return object, true, nil
			}
			err = errors.New("the answer holds no object")
		}
		var none T
		if !answered(err, http.StatusNotFound) {
			return none, false, fmt.Errorf("reading %s %s: %w", singular(path), id, err)
		}
		if attempt == tries || !d.madeHere(id) {
			return none, false, nil
		}
		if err := d.clock.Sleep(ctx, pause(attempt, 0)); err != nil {
			return none, false, err
		}
	}
}

// singular is what one object of a list is called, for people.
func singular(path string) string {
	switch path {
	case "floatingips":
		return "floating IP"
	case policiesPath:
		return "RBAC policy"
	}
	return strings.ReplaceAll(strings.TrimSuffix(path, "s"), "-", " ")
}

// envelope is the name that one object of a list has in a body.
func envelope(path string) string { return strings.TrimSuffix(collections[path], "s") }

// change writes attributes of one object.
func (d *Driver) change(ctx context.Context, path, id string, attributes map[string]any) error {
	_, err := d.call(ctx, http.MethodPut, path+"/"+id, map[string]any{envelope(path): attributes}, nil)
	return err
}

// remove deletes one object; one that is not there is removed already.
func (d *Driver) remove(ctx context.Context, path, id string) error {
	_, err := d.call(ctx, http.MethodDelete, path+"/"+id, nil, nil)
	if err != nil && !answered(err, http.StatusNotFound) {
		return fmt.Errorf("deleting %s %s: %w", singular(path), id, err)
	}
	return nil
}

// tag replaces all tags of one object.
func (d *Driver) tag(ctx context.Context, path, id string, tags []string) error {
	if tags == nil {
		tags = []string{} // null is refused
	}
	_, err := d.call(ctx, http.MethodPut, path+"/"+id+"/tags", map[string]any{"tags": tags}, nil)
	return err
}

// versioned is the base of Neutron's resources below its endpoint.
func versioned(endpoint string) string {
	if strings.HasSuffix(strings.TrimSuffix(endpoint, "/"), "/v2.0") {
		return endpoint
	}
	return endpoint + "v2.0/"
}

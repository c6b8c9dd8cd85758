package openstack

import (
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/vpnctl/vpnctl/cloud/simulator"
)

// paged makes a service's pages small, and has a look at each request for a
// page that isn't the first.
type paged struct {
	http.RoundTripper
	later func(*http.Request)
}

func (p paged) RoundTrip(r *http.Request) (*http.Response, error) {
	if q := r.URL.Query(); r.Method == http.MethodGet && q.Has("limit") {
		r = r.Clone(r.Context())
		q.Set("limit", "2")
		r.URL.RawQuery = q.Encode()
		if q.Has("marker") {
			p.later(r)
		}
	}
	return p.RoundTripper.RoundTrip(r)
}

// Five groups are read two at a time, while something happens between the pages.
func TestAListIsWholeOrAnError(t *testing.T) {
	marker := func(r *http.Request) string { return r.URL.Query().Get("marker") }
	for name, c := range map[string]struct {
		between func(h hand, page int, r *http.Request)
		removed int
		says    string // empty: no error
	}{
		"nothing happens":       {func(hand, int, *http.Request) {}, 0, ""},
		"the marker is deleted": {func(h hand, page int, r *http.Request) { h.drop(page == 2, marker(r)) }, 1, ""},
		"and so is the next":    {func(h hand, page int, r *http.Request) { h.drop(page == 2 || page == 3, marker(r)) }, 2, "the list changed while it was read"},
		"the marker is ignored": {func(_ hand, _ int, r *http.Request) {
			r.URL.RawQuery = strings.Replace(r.URL.RawQuery, "marker="+marker(r), "", 1)
		}, 0, "the marker does not move"},
	} {
		t.Run(name, func(t *testing.T) {
			l := newLab(t, simulator.Options{})
			h := l.hand()
			for i := range 5 {
				h.post("security_group", groupsPath, map[string]any{"name": fmt.Sprint("g", i), "description": "listed"})
			}
			d, page := l.connect("operator"), 1
			d.http.next = paged{d.http.next, func(r *http.Request) { page++; c.between(h, page, r) }}
			got, err := list[group](t.Context(), d, groupsPath, url.Values{"description": {"listed"}})
			if c.says != "" {
				if err == nil || !strings.Contains(err.Error(), c.says) || got != nil {
					t.Errorf("%d groups, error %v, want none and %q", len(got), err, c.says)
				}
				return
			}
			var want, ids []string
			for _, o := range l.of("security-group") {
				if o.Text("description") == "listed" {
					want = append(want, o.ID)
				}
			}
			for _, g := range got {
				ids = append(ids, g.ID)
			}
			slices.Sort(ids)
			if diff := cmp.Diff(want, ids); err != nil || diff != "" || len(want) != 5-c.removed {
				t.Errorf("error %v, %d groups (-want +got):\n%s", err, len(want), diff)
			}
		})
	}
}

// drop deletes a group, if it is time.
func (h hand) drop(now bool, group string) {
	if !now {
		return
	}
	if err := h.remove(h.t.Context(), groupsPath, group); err != nil {
		h.t.Error(err)
	}
}

func TestAFilterOfManyValuesIsParted(t *testing.T) {
	l := newLab(t, simulator.Options{})
	h := l.hand()
	values := make([]string, 500)
	for i := range values {
		values[i] = fmt.Sprintf("00000000-0000-4000-8000-%012d", i)
	}
	for _, i := range []int{0, 250, 499} {
		values[i] = h.post("security_group", groupsPath, map[string]any{"name": "g"})
	}
	got, err := listAny[group](t.Context(), l.connect("operator"), groupsPath, "id", values, nil)
	if err != nil || len(got) != 3 {
		t.Errorf("found %d of 3, error %v", len(got), err)
	}
}

// A service with several front ends may not find yet what another one has made.
func TestWhatWasJustMadeMayBeMissingForAMoment(t *testing.T) {
	l := newLab(t, simulator.Options{})
	l.fault = func(_ int, r *http.Request) simulator.Fault {
		if r.Method == http.MethodPost {
			return simulator.Fault{Do: simulator.Hide, Reads: 3}
		}
		return simulator.Fault{}
	}
	d := l.connect("operator")
	if _, err := runWith(t.Context(), d, keep, gatewayWish("dc1", "100.64.3.0/24", l.node("worker-1"))); err != nil {
		t.Error(err)
	}
}

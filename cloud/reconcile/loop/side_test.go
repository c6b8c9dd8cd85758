package loop_test

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/vpnctl/vpnctl/cloud/openstack"
	"github.com/vpnctl/vpnctl/plan/vpn"
)

// away is a cloud that answers no login, as long as it is.
type away struct {
	http.RoundTripper
	is *bool
}

func (a away) RoundTrip(r *http.Request) (*http.Response, error) {
	if *a.is && strings.HasSuffix(r.URL.Path, "/auth/tokens") {
		return &http.Response{StatusCode: http.StatusServiceUnavailable, Header: http.Header{}, Body: http.NoBody, Request: r}, nil
	}
	return a.RoundTripper.RoundTrip(r)
}

// TestACustomersCloudThatIsAway says nothing against the credential, and is asked again
// soon, also for a link that is deleted.
func TestACustomersCloudThatIsAway(t *testing.T) {
	bubble(t, func(t *testing.T, f *field) {
		m, gone := southern(f), false
		f.Customer = func(vpn.Link) (openstack.Options, error) {
			o, err := f.Options("customer")
			o.Transport = away{o.Transport, &gone}
			return o, err
		}
		f.write(m)
		f.running(f.controller(), func() {
			time.Sleep(time.Minute)
			f.wantReady(south)
		})
		gone = true
		soon := func(want string) {
			t.Helper()
			next := time.Until(f.controller().Round(t.Context()))
			if got := f.ready(south); !strings.HasPrefix(got, want) || !strings.Contains(got, "503") {
				t.Errorf("%s, want one that begins with %s", got, want)
			}
			if next < 10*time.Second || next > 15*time.Second {
				t.Errorf("it is asked again after %s", next)
			}
		}
		soon("Unknown Pending: CredentialsResolved: ")
		f.remove(m)
		soon("False CustomerSideUnreachable: ")
		gone = false
		f.running(f.controller(), func() {
			time.Sleep(time.Minute)
			if got := f.ready(south); got != "gone" {
				t.Errorf("it is %s", got)
			}
		})
	})
}

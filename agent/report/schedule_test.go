package report

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	vpnv1alpha1 "github.com/vpnctl/vpnctl/crds/vpn/v1alpha1"
)

var noon = time.Date(2026, 11, 30, 12, 0, 0, 0, time.UTC)

func shown(state string, bytes int64) content {
	return content{Peers: []vpnv1alpha1.PeerStatus{{State: state, BytesIn: bytes}}}
}

// written is a target whose object shows up/0 since noon.
func written(name string, want content) *target {
	t := &target{object: object{Name: name}, want: want, wrote: noon}
	t.succeeded(shown("up", 0), noon)
	return t
}

func TestNext(t *testing.T) {
	refused := written("refused", shown("down", 0))
	refused.failed(nil, noon.Add(5*time.Second))
	lost := &target{object: object{Name: "lost"}, want: shown("up", 0)}
	figures := written("figures", shown("up", 1))
	state := written("state", shown("down", 1))
	recent := written("recent", shown("down", 0))
	recent.wrote = noon.Add(7 * time.Minute)
	fresh := &target{object: object{Name: "fresh"}, want: shown("up", 0)}
	fresh.succeeded(shown("up", 0), noon.Add(2*time.Hour))
	same := written("same", shown("up", 0))
	for sentence, c := range map[string]struct {
		targets []*target
		after   time.Duration
		want    string
		soonest time.Duration
	}{
		"nothing at all":                                   {nil, time.Hour, "", 0},
		"a state waits for the gap":                        {[]*target{state}, 0, "", time.Second},
		"and no longer":                                    {[]*target{state}, time.Second, "state", 0},
		"figures wait for their minute":                    {[]*target{figures, state}, time.Second, "state", time.Minute},
		"figures have their turn":                          {[]*target{figures}, time.Minute, "figures", 0},
		"a state goes before what was due first":           {[]*target{lost, figures, state}, time.Hour, "state", 0},
		"what isn't known goes before figures":             {[]*target{figures, lost}, time.Hour, "lost", 0},
		"what was refused waits":                           {[]*target{refused}, 0, "", 5 * time.Second},
		"what was refused, however urgent, goes after all": {[]*target{refused, lost}, time.Hour, "lost", 0},
		"and not before its time":                          {[]*target{state, figures, refused}, 500 * time.Millisecond, "", 1 * time.Second},
		"and takes turns with figures":                     {[]*target{fresh, figures, refused}, time.Hour, "refused", 2*time.Hour + 10*time.Minute},
		"what is the same is left alone":                   {[]*target{same}, 9 * time.Minute, "", 10 * time.Minute},
		"and looked at again at last":                      {[]*target{same}, 10 * time.Minute, "same", 0},
		"of states that of the gateway, however recent":    {[]*target{recent, state}, time.Hour, "recent", 0},
		"of others the one due longest":                    {[]*target{same, recent, state}, 8 * time.Minute, "state", 10 * time.Minute},
		"of equals the first":                              {[]*target{lost, {object: object{Name: "other"}}}, 0, "lost", 0},
	} {
		t.Run(sentence, func(t *testing.T) {
			pick, soonest := next(c.targets, DefaultPace, noon.Add(c.after))
			got, at := "", time.Duration(0)
			if pick != nil {
				got = pick.object.Name
			}
			if !soonest.IsZero() {
				at = soonest.Sub(noon)
			}
			if got != c.want || at != c.soonest {
				t.Errorf("got %q, the next in %s; want %q, %s", got, at, c.want, c.soonest)
			}
		})
	}
}

// Retries come in 1, 2, 4 ... 30 seconds, less up to half of that.
func TestBackoff(t *testing.T) {
	for failures, most := range map[int]time.Duration{1: 1, 2: 2, 3: 4, 5: 16, 6: 30, 1000: 30} {
		seen := map[time.Duration]bool{}
		for range 50 {
			d := DefaultPace.backoff(failures, DefaultPace.RetryMax)
			if d < most*time.Second/2 || d > most*time.Second {
				t.Errorf("after %d failures: %s", failures, d)
			}
			seen[d] = true
		}
		if len(seen) < 10 {
			t.Errorf("after %d failures everybody comes back together: %d of 50 differ", failures, len(seen))
		}
	}
}

func TestSteady(t *testing.T) {
	at := func(state string, since, rekey int) vpnv1alpha1.PeerStatus {
		return entry(Peer{Name: "a", State: state, Since: noon.Add(time.Duration(since) * time.Second), RekeyAt: noon.Add(time.Duration(rekey) * time.Second)})
	}
	for sentence, c := range map[string]struct{ now, want vpnv1alpha1.PeerStatus }{
		"a little later":           {at("UP", 4, 105), at("UP", 0, 100)},
		"a little earlier":         {at("UP", -5, 96), at("UP", 0, 100)},
		"another rekeying":         {at("UP", 0, 106), at("UP", 0, 106)},
		"an earlier one":           {at("UP", 0, 94), at("UP", 0, 94)},
		"another beginning":        {at("UP", 6, 100), at("UP", 6, 100)},
		"another state soon":       {at("DOWN", 1, 100), at("DOWN", 1, 100)},
		"no times where some were": {vpnv1alpha1.PeerStatus{Name: "a", State: "UP"}, vpnv1alpha1.PeerStatus{Name: "a", State: "UP"}},
	} {
		got := []vpnv1alpha1.PeerStatus{c.now}
		steady(got, map[string]vpnv1alpha1.PeerStatus{"a": at("UP", 0, 100)})
		if diff := cmp.Diff([]vpnv1alpha1.PeerStatus{c.want}, got); diff != "" {
			t.Errorf("%s (-want +got)\n%s", sentence, diff)
		}
	}
	first := []vpnv1alpha1.PeerStatus{at("UP", 1, 1)}
	if steady(first, nil); !cmp.Equal(first[0], at("UP", 1, 1)) {
		t.Errorf("without a report before: %v", first)
	}
}

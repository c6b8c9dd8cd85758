package loop

import (
	"testing"
	"time"

	"github.com/vpnctl/vpnctl/plan/vpn"
)

// TestHowLongWhatFailedRests goes through the table of pauses.
func TestHowLongWhatFailedRests(t *testing.T) {
	o := vpn.Owner{Kind: vpn.KindVPNGateway, Namespace: "acme", Name: "dc1"}
	now := time.Now()
	far := now.Add(time.Hour)
	for name, c := range map[string]struct {
		faults []fault
		pauses []time.Duration // after each of them; an hour: nothing is due
		rests  bool            // after the last one
	}{
		"the cloud, again and again":      {[]fault{inCloud, inCloud, inCloud}, []time.Duration{15 * time.Second, 15 * time.Second, 15 * time.Second}, true},
		"the cluster, again and again":    {[]fault{inCluster, inCluster, inCluster}, []time.Duration{time.Second, 2 * time.Second, 4 * time.Second}, true},
		"the cluster, many times":         {[]fault{inCluster, inCluster, inCluster, inCluster, inCluster, inCluster, inCluster, inCluster}, []time.Duration{7: time.Minute}, true},
		"the cluster, after it was well":  {[]fault{inCluster, inCluster, none, inCluster}, []time.Duration{0, 0, time.Hour, time.Second}, true},
		"the cluster, after the cloud":    {[]fault{inCluster, inCluster, inCloud, inCluster}, []time.Duration{0, 0, 15 * time.Second, time.Second}, true},
		"no node, again and again":        {[]fault{homeless, homeless, homeless}, []time.Duration{time.Second, 2 * time.Second, 4 * time.Second}, false},
		"removed, and gone":               {[]fault{lingering, none}, []time.Duration{time.Hour, time.Hour}, false},
		"removed, and back each time":     {[]fault{lingering, lingering, lingering}, []time.Duration{time.Hour, time.Second, 2 * time.Second}, true},
		"a refusal is only looked at":     {[]fault{declined}, []time.Duration{time.Minute}, false},
		"a refusal that ends":             {[]fault{declined, none}, []time.Duration{time.Minute, time.Hour}, false},
		"the cloud, and then it was well": {[]fault{inCloud, none}, []time.Duration{15 * time.Second, time.Hour}, false},
	} {
		q := newQueue()
		for i, f := range c.faults {
			q.settle(o, f, now)
			if want := c.pauses[i]; want != 0 && q.next(now, now, far).Sub(now) != want {
				t.Errorf("%s: after %d faults %s, want %s", name, i+1, q.next(now, now, far).Sub(now), want)
			}
		}
		if got := q.resting(o, now); got != c.rests {
			t.Errorf("%s: rests %t, want %t", name, got, c.rests)
		}
		if q.resting(o, far) {
			t.Errorf("%s: it rests for ever", name)
		}
		q.keep(func(vpn.Owner) bool { return false })
		if len(q.due)+len(q.rests)+len(q.attempts) > 0 {
			t.Errorf("%s: a gateway that is gone is not forgotten", name)
		}
	}
}

// TestWhoIsDueNext: nobody's turn is lost because a round took longer than its pause, and
// no round follows another at once for somebody whom rounds pass over.
func TestWhoIsDueNext(t *testing.T) {
	o := vpn.Owner{Kind: vpn.KindVPNGateway, Namespace: "acme", Name: "dc1"}
	began := time.Now()
	far := began.Add(time.Hour)
	for name, c := range map[string]struct {
		due, took, want time.Duration // from when the round began
	}{
		"later":                               {15 * time.Second, time.Second, 15 * time.Second},
		"while a short round ran":             {50 * time.Millisecond, 100 * time.Millisecond, 400 * time.Millisecond},
		"while a round ran":                   {time.Second, 3 * time.Second, 6 * time.Second},
		"while a long round ran":              {time.Second, 40 * time.Second, 45 * time.Second},
		"before the round, which passed over": {-time.Second, 2 * time.Second, 3 * time.Second},
		"long after the resync":               {2 * time.Hour, time.Second, time.Hour},
	} {
		q := newQueue()
		q.due[o] = began.Add(c.due)
		if got := q.next(began, began.Add(c.took), far).Sub(began); got != c.want {
			t.Errorf("%s: %s after the round began, want %s", name, got, c.want)
		}
	}
	q := newQueue()
	q.settle(o, inCloud, began)
	at, rounds := began.Add(cloudPause), 0
	for ; at.Before(far); rounds++ { // each of them passes it over
		at = q.next(at, at, far)
	}
	if rounds > 70 {
		t.Errorf("%d rounds an hour for somebody whom each passes over", rounds)
	}
	if q.settle(o, none, at); q.next(at, at, far.Add(time.Hour)) != far.Add(time.Hour) {
		t.Error("it is due after its turn")
	}
}

// TestAStableMessage: what differs each time is left out, what says something stays.
func TestAStableMessage(t *testing.T) {
	for message, want := range map[string]string{
		"409 OverQuota: Quota exceeded (req-6b1e9a0e-7e0e-4c56-a4d4-1c2ce1b3a1de)":                "409 OverQuota: Quota exceeded",
		"no answer: read tcp 10.0.0.7:41234->10.0.0.9:9696: read: connection reset by peer":       "no answer: read tcp 10.0.0.9:9696: read: connection reset by peer",
		"no answer: read tcp [fd00::7]:41234->[fd00::9]:9696: read: connection reset":             "no answer: read tcp [fd00::9]:9696: read: connection reset",
		"port c327925f-e935-469c-ace9-b233cf4bfe39 is held by lb-frontend, 100.64.0.0/24: in use": "port c327925f-e935-469c-ace9-b233cf4bfe39 is held by lb-frontend, 100.64.0.0/24: in use",
	} {
		if got := stable(message); got != want {
			t.Errorf("%q: %q, want %q", message, got, want)
		}
	}
}

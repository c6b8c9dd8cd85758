package report_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/vpnctl/vpnctl/agent/report"
	"github.com/vpnctl/vpnctl/agent/report/fakeapi"
	vpnv1alpha1 "github.com/vpnctl/vpnctl/crds/vpn/v1alpha1"
)

// What one object is refused harms that object alone, is said, and ends by itself.
func TestOnePeerRefused(t *testing.T) {
	for sentence, c := range map[string]struct {
		fault, repair func(*testing.T, *cluster)
		says          []string
	}{
		"its manifest isn't there": {
			func(_ *testing.T, c *cluster) { c.DeleteObject("vpnpeers", "acme", "bob") },
			func(t *testing.T, c *cluster) { c.put(t, vpnGateway, []string{"bob"}) },
			[]string{"404"},
		},
		"the Role doesn't name it": {
			func(t *testing.T, c *cluster) { c.account.SetRules(rules(t, vpnGateway, []string{"ina", "zoe"})...) },
			func(t *testing.T, c *cluster) {
				c.account.SetRules(rules(t, vpnGateway, []string{"bob", "ina", "zoe"})...)
			},
			[]string{"403", "Role acme/dc1", "get vpnpeers/status bob"},
		},
		"its status is invalid":         {refuse("patch", 422), calm, []string{"422", "writing"}},
		"others change it all the time": {refuse("patch", 409), calm, []string{"409"}},
		"its reading fails":             {refuse("get", 500), calm, []string{"500", "reading"}},
		"its writing fails":             {refuse("patch", 500), calm, []string{"500", "writing"}},
	} {
		t.Run(sentence, func(t *testing.T) {
			api := serve(t, fast, vpnGateway, "bob", "ina", "zoe")
			c.fault(t, api)
			peers := []report.Peer{up("bob"), up("ina"), up("zoe")}
			api.report(t, vpnGateway, peers...)
			api.shows(t, "ina=ESTABLISHED zoe=ESTABLISHED")
			eventually(t, func() (string, bool) {
				err := api.report(t, vpnGateway, peers...)
				missing := slices.ContainsFunc(append(c.says, "VPNPeer acme/bob"), func(part string) bool {
					return err == nil || !strings.Contains(err.Error(), part)
				})
				return fmt.Sprint(err), !missing
			})
			peers[1] = down("ina", "no answer") // others go on
			api.report(t, vpnGateway, peers...)
			api.shows(t, "ina=DOWN zoe=ESTABLISHED")
			c.repair(t, api)
			api.shows(t, "bob=ESTABLISHED")
			eventually(t, func() (string, bool) {
				err := api.report(t, vpnGateway, peers...)
				return fmt.Sprint(err), err == nil
			})
		})
	}
}

// refuse answers one verb on bob's status with a code.
func refuse(verb string, code int) func(*testing.T, *cluster) {
	return func(_ *testing.T, c *cluster) {
		c.Intercept(func(r fakeapi.Request) fakeapi.Reply {
			if r.Verb != verb || r.Name != "bob" {
				return fakeapi.Reply{}
			}
			return fakeapi.Reply{Code: code, Message: "not now"}
		})
	}
}

func calm(_ *testing.T, c *cluster) { c.Intercept(nil) }

// The API is away: few calls are made, and what is written afterwards is the last
// report and nothing of those between.
func TestAPIAway(t *testing.T) {
	const silent = "it doesn't answer"
	for sentence, away := range map[string]func(*cluster){
		"it can't be reached": (*cluster).Down,
		silent:                (*cluster).Hang,
		"it errs":             func(c *cluster) { fault(fakeapi.Reply{Code: 503})(c) },
		"it is busy":          func(c *cluster) { fault(fakeapi.Reply{Code: 429})(c) },
	} {
		t.Run(sentence, func(t *testing.T) {
			pace := fast
			pace.RetryMin, pace.RetryMax = 20*time.Millisecond, 200*time.Millisecond
			if sentence == silent {
				pace.Call = 2 * time.Second
			}
			api := serve(t, pace, vpnGateway, "ina")
			api.report(t, vpnGateway, up("ina"))
			api.shows(t, "ina=ESTABLISHED")
			eventually(t, func() (string, bool) { return "not written", api.made("patch") >= 2 })
			away(api)
			before := len(api.Requests())
			var err error
			begin := time.Now()
			for i := 0; time.Since(begin) < time.Second || err == nil && time.Since(begin) < 20*time.Second; i++ {
				err = api.report(t, vpnGateway, down("ina", fmt.Sprint("lost ", i)))
				time.Sleep(time.Millisecond)
			}
			if err == nil || !strings.Contains(err.Error(), "acme/") {
				t.Errorf("while it is away: %v", err)
			}
			// After the first few, pauses are of 0.1 s at least.
			if n, most := len(api.Requests())-before, 5+int(time.Since(begin)/(100*time.Millisecond)); n > most {
				t.Errorf("%d calls in %s", n, time.Since(begin))
			}
			api.report(t, vpnGateway, down("ina", "the last"))
			api.Intercept(nil)
			api.Up()
			api.shows(t, "ina=DOWN")
			var got vpnv1alpha1.VPNPeerStatus
			api.status(t, "vpnpeers", "ina", &got)
			if got.Message != "the last" {
				t.Errorf("the message is %q", got.Message)
			}
			for _, r := range api.Requests() {
				if r.Verb == "patch" && r.Code == 200 && strings.Contains(string(r.Body), "lost") {
					t.Errorf("an old report was written: %s", r.Body)
				}
			}
			eventually(t, func() (string, bool) {
				err := api.report(t, vpnGateway, down("ina", "the last"))
				return fmt.Sprint(err), err == nil
			})
			api.expected(t)
		})
	}
}

// A server that says how long to wait is left alone so long.
func TestRetryAfter(t *testing.T) {
	pace := fast
	pace.RetryMax = time.Minute
	api := serve(t, pace, ipsecGateway, "ina")
	fault(fakeapi.Reply{Code: 429, RetryAfter: 1})(api)
	api.report(t, ipsecGateway, up("ina"))
	eventually(t, func() (string, bool) { return "no call", len(api.Requests()) == 1 })
	first := time.Now()
	api.Intercept(nil)
	eventually(t, func() (string, bool) { return "no call", api.made("patch") == 1 })
	if waited := time.Since(first); waited < 900*time.Millisecond {
		t.Errorf("asked again after %s", waited)
	}
}

// Whatever is reported and whatever fails, in the end the API shows the last report,
// what others wrote is as it was, and no call was made that shouldn't have been.
func TestEndsAtTheLastReport(t *testing.T) {
	seed := uint64(time.Now().UnixNano())
	t.Logf("seed %d", seed)
	random := rand.New(rand.NewPCG(seed, 0))
	names := []string{"a", "b", "c", "d"}
	pace := fast
	pace.Call, pace.Gap, pace.Figures, pace.Resync = 50*time.Millisecond, time.Millisecond, 5*time.Millisecond, 200*time.Millisecond
	pace.RetryMin, pace.RetryMax = time.Millisecond, 10*time.Millisecond
	api := serve(t, pace, vpnGateway, names...)
	for range 6 {
		api.Intercept(faults(random.Uint64()))
		var last []report.Peer
		for range 40 {
			last = peers(random, names)
			api.report(t, vpnGateway, last...)
			time.Sleep(time.Duration(random.IntN(5)) * time.Millisecond)
		}
		api.Intercept(nil)
		for _, p := range last {
			want := vpnv1alpha1.VPNPeerStatus{State: p.State, Message: p.Message, Since: wire(p.Since), BytesIn: int64(p.BytesIn), Conditions: ready}
			if p.State != report.StateUnknown {
				want.Up = fmt.Sprintf("%d of %d", p.Up, p.Expected)
			}
			eventually(t, func() (string, bool) {
				var got vpnv1alpha1.VPNPeerStatus
				api.status(t, "vpnpeers", p.Name, &got)
				diff := cmp.Diff(want, got)
				return p.Name + "\n" + diff, diff == ""
			})
		}
		eventually(t, func() (string, bool) {
			var got vpnv1alpha1.VPNGatewayStatus
			api.status(t, "vpngateways", "dc1", &got)
			diff := cmp.Diff(brief(last), brief(listed(got)), cmpopts.EquateEmpty())
			return diff, diff == "" && cmp.Equal(got.Conditions, ready)
		})
	}
	api.expected(t)
}

// peers are some of the named ones in some state.
func peers(random *rand.Rand, names []string) (all []report.Peer) {
	for _, name := range names {
		if random.IntN(4) == 0 {
			continue
		}
		p := up(name)
		p.BytesIn = uint64(random.IntN(1000))
		p.Since = start.Add(time.Duration(random.IntN(9)) * time.Minute) // more than computed times move
		switch random.IntN(3) {
		case 0:
			p.State, p.Up, p.Message = report.StateDown, 0, "no answer"
		case 1:
			p.State = report.StateUnknown
		}
		all = append(all, p)
	}
	return all
}

// faults are those of a bad network and a bad server, a third of the time.
func faults(seed uint64) func(fakeapi.Request) fakeapi.Reply {
	kinds := []fakeapi.Reply{
		{Code: 401}, {Code: 404}, {Code: 409}, {Code: 422}, {Code: 429}, {Code: 500}, {Code: 503},
		{Lost: true}, {Lost: true}, {Body: "<html>"}, {Late: 100 * time.Millisecond}, {Late: 100 * time.Millisecond, Lost: true},
	}
	var mu sync.Mutex // a call that the agent gave up is still answered beside the next
	random := rand.New(rand.NewPCG(seed, 1))
	return func(fakeapi.Request) fakeapi.Reply {
		mu.Lock()
		defer mu.Unlock()
		if random.IntN(3) > 0 {
			return fakeapi.Reply{}
		}
		return kinds[random.IntN(len(kinds))]
	}
}

func listed(s vpnv1alpha1.VPNGatewayStatus) (all []report.Peer) {
	for _, p := range s.Peers {
		all = append(all, report.Peer{Name: p.Name, State: p.State, Message: p.Message, BytesIn: uint64(p.BytesIn)})
	}
	return all
}

func brief(peers []report.Peer) (lines []string) {
	for _, p := range peers {
		lines = append(lines, fmt.Sprintf("%s %s %s %d", p.Name, p.State, p.Message, p.BytesIn))
	}
	return lines
}

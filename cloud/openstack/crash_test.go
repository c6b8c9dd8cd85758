package openstack

import (
	"fmt"
	"net/http"
	"net/netip"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/vpnctl/vpnctl/cloud"
	"github.com/vpnctl/vpnctl/cloud/simulator"
)

// passage is a way from one state of a gateway to another.
type passage struct {
	name     string
	scope    cloud.Scope
	from, to func(l *lab) []wish
}

func passages() []passage {
	none := func(*lab) []wish { return nil }
	built := func(l *lab) []wish { return []wish{gatewayWish("dc1", "100.64.3.0/24", l.node("worker-1"))} }
	moved := func(l *lab) []wish { // another node, service CIDR, peer and state
		w := gatewayWish("dc1", "100.64.9.0/24", l.node("worker-2"))
		w.rules[2].Remote, w.rules[3].Remote = cidr("198.51.100.99/32"), cidr("198.51.100.99/32")
		w.hash = "state-2"
		return []wish{w}
	}
	return []passage{
		{"a new gateway", keep, none, built},
		{"a changed gateway", keep, built, moved},
		{"a gateway that goes", prune, built, none},
		{"an address of ours becomes the customer's", keep, built, kept},
		{"the customer's address instead of ours", keep, built, pinned},
		{"the customer's other address", keep, pinned, pinnedElse},
		{"a gateway with the customer's address goes", prune, pinned, none},
	}
}

// kept pins the address that the gateway has.
func kept(l *lab) []wish {
	w := gatewayWish("dc1", "100.64.3.0/24", l.node("worker-1"))
	for _, f := range l.of("floating-ip") {
		if strings.HasPrefix(f.Text("description"), "vpnctl") {
			w.pinned = netip.MustParseAddr(f.Text("floating_ip_address"))
			w.ledger.FloatingIP = f.ID
		}
	}
	if !w.pinned.IsValid() { // taken over already
		w.pinned = netip.MustParseAddr("203.0.113.22")
	}
	return []wish{w}
}

func pinned(l *lab) []wish     { return []wish{l.customers("203.0.113.150")} }
func pinnedElse(l *lab) []wish { return []wish{l.customers("203.0.113.151")} }

// customers pins an address that the project has taken by hand.
func (l *lab) customers(address string) wish {
	w := gatewayWish("dc1", "100.64.3.0/24", l.node("worker-1"))
	w.pinned = netip.MustParseAddr(address)
	for _, f := range l.of("floating-ip") {
		if f.Text("floating_ip_address") == address {
			w.ledger.FloatingIP = f.ID
		}
	}
	return w
}

// disturbances are what happens to one call.
func disturbances() map[string]func(r *http.Request) simulator.Fault {
	always := func(f simulator.Fault) func(*http.Request) simulator.Fault {
		return func(*http.Request) simulator.Fault { return f }
	}
	all := map[string]func(r *http.Request) simulator.Fault{
		"the client dies after it": always(simulator.Fault{Do: simulator.Stop}),
		"its answer is lost":       always(simulator.Fault{Do: simulator.Drop}),
		"its answer breaks off":    always(simulator.Fault{Do: simulator.Cut}),
		"500":                      always(simulator.Fault{Do: simulator.Fail, Status: 500}),
		"503":                      always(simulator.Fault{Do: simulator.Throttle, Status: 503, RetryAfter: 1}),
		"429":                      always(simulator.Fault{Do: simulator.Throttle, RetryAfter: 1}),
		"401":                      always(simulator.Fault{Do: simulator.Fail, Status: 401}),
		"403":                      always(simulator.Fault{Do: simulator.Fail, Status: 403, Type: "PolicyNotAuthorized"}),
		"what it made is hidden":   always(simulator.Fault{Do: simulator.Hide, Reads: 2}),
	}
	for _, which := range []int{0, 1} {
		all[fmt.Sprintf("409, the type that comes as number %d", which)] = func(r *http.Request) simulator.Fault {
			for call, kinds := range refusals {
				method, path, _ := strings.Cut(call, " ")
				if r.Method == method && strings.Contains(r.URL.Path, path) && which < len(kinds) {
					return simulator.Fault{Do: simulator.Fail, Status: 409, Type: kinds[which]}
				}
			}
			return simulator.Fault{}
		}
	}
	return all
}

// refusals are the 409s that each call can give.
var refusals = map[string][]string{
	"POST /v2.0/security-groups":         {"OverQuota"},
	"POST /v2.0/security-group-rules":    {"OverQuota", "SecurityGroupRuleExists"},
	"POST /v2.0/ports":                   {"OverQuota", "IpAddressAlreadyAllocated"},
	"POST /v2.0/floatingips":             {"OverQuota", "IpAddressAlreadyAllocated"},
	"POST /servers/":                     {"conflictingRequest"},
	"DELETE /servers/":                   {"conflictingRequest"},
	"PUT /v2.0/ports/":                   {"IpAddressAlreadyAllocated", "RevisionNumberConstraintFailed"},
	"PUT /v2.0/floatingips/":             {"FloatingIPPortAlreadyAssociated", "RevisionNumberConstraintFailed"},
	"PUT /v2.0/routers/":                 {"RevisionNumberConstraintFailed"},
	"PUT /v2.0/security-groups/":         {"RevisionNumberConstraintFailed"},
	"DELETE /v2.0/security-groups/":      {"SecurityGroupInUse"},
	"DELETE /v2.0/ports/":                {"PortInUse", "ServicePortInUse"},
	"DELETE /v2.0/security-group-rules/": {"SecurityGroupRuleInUse"},
	"DELETE /v2.0/floatingips/":          {"RevisionNumberConstraintFailed"},
}

// Whatever happens to any one call, running again leads to the same cloud, and
// nothing is left over.
func TestEveryCallMayFail(t *testing.T) {
	points, seen := 0, 0
	for _, p := range passages() {
		calls, want := undisturbed(t, p)
		for name, fault := range disturbances() {
			t.Run(p.name+", "+name, func(t *testing.T) {
				for k := 1; k <= calls; k++ {
					if seen++; seen%stride != 0 {
						continue
					}
					points++
					if diff := cmp.Diff(want, disturbed(t, p, k, fault)); diff != "" {
						t.Errorf("call %d of %d (-undisturbed +disturbed):\n%s", k, calls, diff)
					}
				}
			})
		}
	}
	t.Logf("tried %d of %d points", points, seen)
}

func undisturbed(t *testing.T, p passage) (calls int, after string) {
	t.Helper()
	l := newLab(t, simulator.Options{})
	l.reserve("203.0.113.150", "203.0.113.151")
	l.settle(prune, p.from(l)...)
	to := p.to(l)
	d := l.connect("operator")
	l.Reset()
	if _, err := runWith(t.Context(), d, p.scope, to...); err != nil {
		t.Fatal(err)
	}
	for _, c := range l.Calls() {
		calls = max(calls, c.N)
	}
	l.settle(p.scope, to...)
	return calls, l.snapshot()
}

func disturbed(t *testing.T, p passage, k int, fault func(*http.Request) simulator.Fault) string {
	t.Helper()
	l := newLab(t, simulator.Options{})
	l.reserve("203.0.113.150", "203.0.113.151")
	l.settle(prune, p.from(l)...)
	to := p.to(l)
	d := l.connect("operator")
	l.Reset()
	l.fault = func(n int, r *http.Request) simulator.Fault {
		if n != k {
			return simulator.Fault{}
		}
		return fault(r)
	}
	_, err := runWith(t.Context(), d, p.scope, to...)
	if err != nil && strings.Contains(err.Error(), "secret") {
		t.Errorf("error %v", err)
	}
	l.heal()
	l.settle(p.scope, to...)
	return l.snapshot()
}

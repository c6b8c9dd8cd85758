package simulator_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/vpnctl/vpnctl/cloud/simulator"
)

// build makes a small gateway; before makes it in a cloud where other calls came first.
func build(t *testing.T, before func(*api, string)) (*simulator.Server, *api) {
	t.Helper()
	s := cloud(t, simulator.Options{})
	a := connect(t, s, "operator")
	network := a.network("vpn-transit")
	before(a, network)
	group := a.net("POST", "/security-groups", `{"security_group": {"name": "dc1"}}`, 201).id("security_group")
	for _, p := range []int{500, 4500} {
		a.net("POST", "/security-group-rules", fmt.Sprintf(`{"security_group_rule": {"security_group_id": %q, "direction": "ingress",
			"protocol": "udp", "port_range_min": %d, "port_range_max": %d, "remote_ip_prefix": "198.51.100.7/32"}}`, group, p, p), 201)
	}
	port := a.port(network, fmt.Sprintf(`, "name": "dc1", "security_groups": [%q]`, group))
	address := port.one("port")["fixed_ips"].([]any)[0].(map[string]any)["ip_address"].(string)
	fip := a.net("POST", "/floatingips", fmt.Sprintf(`{"floatingip": {"floating_network_id": %q, "description": "dc1", "port_id": %q}}`,
		a.network("public"), port.id("port")), 201).id("floatingip")
	a.net("PUT", "/security-groups/"+group+"/tags", fmt.Sprintf(`{"tags": ["floating-ip=%s", "owner=acme/dc1"]}`, fip), 200)
	router := a.net("GET", "/routers?name=gateway-router", "", 200).list("routers")[0]["id"].(string)
	a.net("PUT", "/routers/"+router+"/add_extraroutes", fmt.Sprintf(`{"router": {"routes": [{"destination": "100.64.0.0/24", "nexthop": %q}]}}`, address), 200)
	return s, a
}

func normal(t *testing.T, s *simulator.Server) string {
	t.Helper()
	return string(must(s.Snapshot())(t).Normalize().Bytes())
}

func TestNormalizedSnapshotsOfEqualCloudsAreEqual(t *testing.T) {
	plain, _ := build(t, func(*api, string) {})
	// here IDs, addresses, times and revision numbers come out differently
	other, _ := build(t, func(a *api, network string) {
		for range 3 {
			a.port(network, "")
			a.net("POST", "/floatingips", fmt.Sprintf(`{"floatingip": {"floating_network_id": %q}}`, a.network("public")), 201)
		}
	})
	b := connect(t, other, "operator")
	for _, p := range b.net("GET", "/ports?name=&device_owner=", "", 200).list("ports") {
		b.net("DELETE", "/ports/"+p["id"].(string), "", 204)
	}
	for _, f := range b.net("GET", "/floatingips?description=", "", 200).list("floatingips") {
		b.net("DELETE", "/floatingips/"+f["id"].(string), "", 204)
	}
	if diff := cmp.Diff(normal(t, plain), normal(t, other)); diff != "" {
		t.Errorf("normalised snapshots (-want +got):\n%s", diff)
	}
}

func TestNormalizedSnapshotsShowEveryDifference(t *testing.T) {
	base, _ := build(t, func(*api, string) {})
	want := normal(t, base)
	for sentence, change := range map[string]func(a *api, group, port, fip string){
		"one rule more": func(a *api, group, _, _ string) {
			a.net("POST", "/security-group-rules", fmt.Sprintf(`{"security_group_rule": {"security_group_id": %q, "direction": "ingress"}}`, group), 201)
		},
		"another tag": func(a *api, group, _, _ string) {
			a.net("PUT", "/security-groups/"+group+"/tags", `{"tags": ["a"]}`, 200)
		},
		"the port is gone":    func(a *api, _, port, _ string) { a.net("DELETE", "/ports/"+port, "", 204) },
		"a second equal port": func(a *api, _, _, _ string) { a.port(a.network("vpn-transit"), `, "name": "dc1"`) },
		"the address is let go": func(a *api, _, _, fip string) {
			a.net("PUT", "/floatingips/"+fip, `{"floatingip": {"port_id": null}}`, 200)
		},
		"an address that is asked for": func(a *api, _, port, _ string) {
			a.net("PUT", "/ports/"+port, `{"port": {"fixed_ips": [{"ip_address": "10.254.0.99"}]}}`, 200)
		},
		"an allowed address pair": func(a *api, _, port, _ string) {
			a.net("PUT", "/ports/"+port, `{"port": {"allowed_address_pairs": [{"ip_address": "10.8.0.0/24"}]}}`, 200)
		},
	} {
		t.Run(sentence, func(t *testing.T) {
			s, a := build(t, func(*api, string) {})
			find := func(path, key string) string { return a.net("GET", path, "", 200).list(key)[0]["id"].(string) }
			change(a, find("/security-groups?name=dc1", "security_groups"), find("/ports?name=dc1", "ports"), find("/floatingips?description=dc1", "floatingips"))
			if normal(t, s) == want {
				t.Error("the normalised snapshot is the same as before")
			}
		})
	}
}

// The status of a floating IP follows later, by a read or by the clock, and counts as a change.
func TestStatusFollowsLater(t *testing.T) {
	clk := newClock()
	for sentence, c := range map[string]struct {
		delay time.Duration
		pass  time.Duration
		want  []string // of reads after the association
	}{
		"without a delay at the second read": {0, 0, []string{"DOWN 2", "ACTIVE 3", "ACTIVE 3"}},
		"with a delay when it is over":       {time.Second, time.Second, []string{"ACTIVE 3", "ACTIVE 3"}},
		"not before":                         {time.Minute, time.Second, []string{"DOWN 2", "DOWN 2"}},
	} {
		t.Run(sentence, func(t *testing.T) {
			s := cloud(t, simulator.Options{StatusDelay: c.delay, Clock: clk.Now})
			a := connect(t, s, "operator")
			port := a.port(a.network("vpn-transit"), "").id("port")
			fip := a.net("POST", "/floatingips", fmt.Sprintf(`{"floatingip": {"floating_network_id": %q}}`, a.network("public")), 201).id("floatingip")
			a.net("PUT", "/floatingips/"+fip, fmt.Sprintf(`{"floatingip": {"port_id": %q}}`, port), 200)
			clk.add(c.pass)
			var got []string
			for range c.want {
				f := a.net("GET", "/floatingips/"+fip, "", 200).one("floatingip")
				got = append(got, fmt.Sprint(f["status"], " ", f["revision_number"]))
			}
			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Errorf("status and revision (-want +got):\n%s", diff)
			}
			if text := must(s.Snapshot())(t).Of("floating-ip")[0].Text("status"); text != "ACTIVE" {
				t.Errorf("a snapshot shows %s, want the state at rest", text)
			}
		})
	}
}

// The clock is what the Date header, creation and update times come from.
func TestClockDrivesTimes(t *testing.T) {
	clk := newClock()
	s := cloud(t, simulator.Options{Clock: clk.Now})
	a := connect(t, s, "operator")
	id := a.port(a.network("vpn-transit"), "").id("port")
	clk.add(90 * time.Second)
	r := a.net("PUT", "/ports/"+id, `{"port": {"name": "n"}}`, 200)
	got := fmt.Sprint(r.one("port")["created_at"], " ", r.one("port")["updated_at"], " ", r.header.Get("Date"))
	if want := "2026-03-01T12:00:00Z 2026-03-01T12:01:30Z Sun, 01 Mar 2026 12:01:30 GMT"; got != want {
		t.Errorf("got %s\nwant %s", got, want)
	}
}

func TestAQuotaLeavesItsProjectTheName(t *testing.T) {
	s, a := build(t, func(*api, string) {})
	before := must(s.Snapshot())(t).Normalize()
	project := a.net("GET", "/networks?name=vpn-transit", "", 200).list("networks")[0]["project_id"].(string)
	admin := connect(t, s, "operator-admin")
	admin.net("PUT", "/quotas/"+project, `{"quota": {"port": 77}}`, 200)
	var rest simulator.Snapshot
	for _, o := range must(s.Snapshot())(t).Normalize() {
		if o.Kind != "quota" {
			rest = append(rest, o)
		} else if o.ID != "project operator" {
			t.Errorf("the quota is called %q", o.ID)
		}
	}
	if diff := cmp.Diff(before, rest); diff != "" {
		t.Errorf("other objects (-before +after):\n%s", diff)
	}
}

func TestACopyGoesOnAsTheOriginalWould(t *testing.T) {
	s, a := build(t, func(*api, string) {})
	c, err := s.Copy(simulator.Options{})
	if err != nil {
		t.Fatal(err)
	}
	state := func(s *simulator.Server) simulator.Snapshot { return must(s.Snapshot())(t) }
	before := state(s)
	if diff := cmp.Diff(before, state(c)); diff != "" {
		t.Fatalf("(-original +copy):\n%s", diff)
	}
	other := connect(t, c, "operator")
	more := func(a *api) { a.port(a.network("vpn-transit"), `, "name": "dc2"`) }
	more(other)
	if diff := cmp.Diff(before, state(s)); diff != "" {
		t.Errorf("what is done to the copy shows in the original (-before +after):\n%s", diff)
	}
	more(a)
	strip := func(s simulator.Snapshot) simulator.Snapshot { // moments are the clock's
		for _, o := range s {
			delete(o.Attributes, "created_at")
			delete(o.Attributes, "updated_at")
		}
		return s
	}
	if diff := cmp.Diff(strip(state(s)), strip(state(c))); diff != "" {
		t.Errorf("the same call, made of both (-original +copy):\n%s", diff)
	}
}

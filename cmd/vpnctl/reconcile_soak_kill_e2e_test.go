//go:build e2e

package main

import (
	"context"
	"fmt"
	"math/rand/v2"
	"net/http"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/vpnctl/vpnctl/cloud/kube/lab"
	"github.com/vpnctl/vpnctl/cloud/simulator"
)

// TestKubeSoakKills kills the controller at random while people create, edit and delete
// gateways and nodes are lost: $VPNCTL_SOAK_KILLS times among $VPNCTL_SOAK_GATEWAYS. In
// the end all is as it was asked for, nothing is left over, no address has moved, no
// condition lies, and what belongs to others is as it was.
func TestKubeSoakKills(t *testing.T) {
	kills, gateways := setting("VPNCTL_SOAK_KILLS", 20), setting("VPNCTL_SOAK_GATEWAYS", 12)
	s := newSoak(t, asItIs)
	foreign := s.foreigners()
	crowd := &crowd{soak: s, random: rand.New(rand.NewPCG(uint64(setting("VPNCTL_SOAK_SEED", 1)), 2)), stands: make([]bool, gateways), variant: make([]int, gateways)}
	first := map[string]allotted{}
	began := time.Now()
	for n := range kills {
		crowd.act(1 + gateways/10)
		crowd.strike(n)
		for _, lie := range s.lies(false) {
			t.Errorf("after kill %d: %s", n+1, lie)
		}
		s.unmoved(first)
		if t.Failed() {
			t.Fatal("no use in going on")
		}
		if n%20 == 19 {
			t.Logf("%d kills, %d during writes to the cloud, %s", n+1, crowd.struck, time.Since(began).Round(time.Second))
		}
	}
	if crowd.struck < kills/8 {
		t.Errorf("%d of %d kills came during a write to the cloud: that proves little", crowd.struck, kills)
	}
	crowd.heal()
	began = time.Now()
	s.again("--max-deletes", fmt.Sprint(gateways)) // as many as people may have deleted meanwhile
	s.converged(5*time.Minute, crowd.standing()...)
	t.Logf("%d gateways of %d stand; all as asked for %s after the last kill", len(crowd.standing()), gateways, time.Since(began).Round(time.Second))
	for _, wrong := range slices.Concat(s.lies(true), s.leaks()) {
		t.Error(wrong)
	}
	s.unmoved(first)
	t.Logf("%d gateways were promised something", len(first))
	s.quietly(8 * time.Second)
	s.end(crowd.standing()...)
	if diff := cmp.Diff(foreign, s.foreign()); diff != "" {
		t.Errorf("what belongs to others (-before +after):\n%s", diff)
	}
}

// crowd is people at work.
type crowd struct {
	*soak
	random  *rand.Rand
	stands  []bool
	variant []int
	lost    string // a node
	struck  int
}

// act does some things that people do.
func (c *crowd) act(n int) {
	for range n {
		i := c.random.IntN(len(c.stands))
		m := c.gateway(i, 0)
		switch {
		case !c.stands[i] && c.lab.Get(c.t, m.apiVersion(), m.kind, c.namespace, m.name) != nil: // it is still to go
		case !c.stands[i]:
			c.stands[i], c.variant[i] = true, 0
			c.put(m)
		case c.random.IntN(8) == 0:
			c.stands[i] = false
			c.drop(m)
		default:
			c.variant[i] = 1 + c.random.IntN(9)
			c.put(c.gateway(i, c.variant[i]))
		}
	}
	switch {
	case c.lost != "":
		c.heal()
	case c.random.IntN(12) == 0:
		for _, node := range c.look().nodes {
			c.lost = max(c.lost, node)
		}
		c.lab.NotReady(c.t, c.lost)
	}
}

// heal brings the lost node back.
func (c *crowd) heal() {
	if c.lost != "" {
		c.lab.Ready(c.t, c.lost)
	}
	c.lost = ""
}

// standing are the gateways that are to stand.
func (c *crowd) standing() []model {
	var all []model
	for i, stands := range c.stands {
		if stands {
			all = append(all, c.gateway(i, c.variant[i]))
		}
	}
	return all
}

// strike runs a controller and kills it, once it leads: after a while, or while a write to
// the cloud is under way, before or after it is carried out.
func (c *crowd) strike(n int) {
	led := c.led()
	cmd := c.again("--leader-elect-lease", "5s", "--max-deletes", fmt.Sprint(len(c.stands)))
	lab.Await(c.t, 2*time.Minute, func(context.Context) string {
		if c.led() == led {
			return "it doesn't lead"
		}
		return ""
	})
	var writes atomic.Int64
	struck := make(chan struct{})
	patience := time.Duration(c.random.IntN(10000)) * time.Millisecond
	if n%3 > 0 {
		patience = 20 * time.Second // the lock of the one before has to run out
		last := int64(1 + c.random.IntN(8))
		c.disturb(func(r *http.Request) simulator.Fault {
			if r.Method == http.MethodGet || writes.Add(1) != last {
				return simulator.Fault{}
			}
			_ = cmd.Process.Kill()
			close(struck)
			if n%3 == 1 {
				return simulator.Fault{Do: simulator.Fail} // nothing of it is done
			}
			return simulator.Fault{}
		})
	}
	select {
	case <-struck:
		c.struck++
	case <-time.After(patience):
	}
	c.kill()
	c.disturb(nil)
}

// led is how often a controller has begun to lead.
func (c *crowd) led() int { return strings.Count(c.log.String(), "msg=leading") }

// foreigners makes things that belong to others, and returns them as they are.
func (s *soak) foreigners() string {
	s.t.Helper()
	s.lab.Apply(s.t, []byte("apiVersion: v1\nkind: ConfigMap\nmetadata: {name: theirs, namespace: "+s.namespace+", labels: {app.kubernetes.io/managed-by: helm}}\ndata: {a: b}\n"))
	real, described := s.clouds(), `"description": "foreign to `+s.namespace+`"`
	for _, o := range [][2]string{
		{"security-groups", `{"security_group": {"name": "vpnctl-` + s.namespace + `-theirs", ` + described + `}}`},
		{"ports", `{"port": {"name": "lb-frontend", ` + described + `, "network_id": "{{networks name=vpn-transit}}"}}`},
		{"floatingips", `{"floatingip": {` + described + `, "floating_network_id": "{{networks name=public}}"}}`},
	} {
		if err := real.create(o[0], o[1]); err != nil {
			s.t.Fatal(err)
		}
	}
	return s.foreign()
}

func (s *soak) foreign() string {
	s.t.Helper()
	text, err := s.clouds().foreign(s.namespace)
	if err != nil {
		s.t.Fatal(err)
	}
	u := s.lab.Get(s.t, "v1", "ConfigMap", s.namespace, "theirs")
	data, err := u.MarshalJSON()
	if err != nil {
		s.t.Fatal(err)
	}
	return text + string(data)
}

//go:build e2e

package lab

import (
	"encoding/json"
	"fmt"
	"net"
	"strings"
	"sync"
	"testing"

	"github.com/miekg/dns"
	vpnv1alpha1 "github.com/vpnctl/vpnctl/crds/vpn/v1alpha1"

	"github.com/vpnctl/vpnctl/agent/lab/netns"
	"github.com/vpnctl/vpnctl/agent/report/fakeapi"
)

const (
	apiAddress = "10.96.0.1"
	dnsAddress = "10.96.0.10"
)

// cluster is what is on the pods' eth0 side.
type cluster struct {
	ns    netns.Namespace
	api   *fakeapi.Server
	names *names
	pods  int
}

func newCluster(t *testing.T) *cluster {
	t.Helper()
	c := &cluster{ns: netns.New(t, "cluster")}
	c.ns.IP(t, "addr add "+apiAddress+"/32 dev lo", "addr add "+dnsAddress+"/32 dev lo",
		"link add pods type bridge", "addr add 10.244.1.1/24 dev pods", "link set pods up")
	l, err := c.ns.Listen(apiAddress + ":443")
	if err != nil {
		t.Fatal(err)
	}
	if c.api, err = fakeapi.Start(l); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.api.Close)
	c.names = newNames(t, c.ns)
	return c
}

// join gives a pod its eth0 and its service account.
func (c *cluster) join(t *testing.T, p *pod) {
	t.Helper()
	c.pods++
	netns.Wire(t, p.ns, "eth0", c.ns, "to-"+p.name)
	c.ns.IP(t, "link set to-"+p.name+" master pods")
	p.ns.IP(t, fmt.Sprintf("addr add 10.244.1.%d/24 dev eth0", 16+c.pods), "route add default via 10.244.1.1")
	p.eth0 = fmt.Sprintf("10.244.1.%d", 16+c.pods)
	p.account = c.api.Account(p.namespace, p.name, p.rendered.rules...)
}

// declare makes the objects whose status the agent writes.
func (c *cluster) declare(t *testing.T, p *pod) {
	t.Helper()
	objects := map[string]string{"vpngateways/" + p.name: "VPNGateway"}
	for _, peer := range p.rendered.expect.Peers {
		objects["vpnpeers/"+peer.Name] = "VPNPeer"
	}
	for path, kind := range objects {
		resource, name, _ := strings.Cut(path, "/")
		if c.api.Object(resource, p.namespace, name) != nil {
			continue
		}
		if err := c.api.SetObject(resource, p.namespace, name, map[string]any{"apiVersion": "vpn.bnerd.net/v1alpha1", "kind": kind}); err != nil {
			t.Fatal(err)
		}
	}
}

// status is what the gateway's status says of a peer.
func (c *cluster) status(p *pod, peer string) vpnv1alpha1.PeerStatus {
	var gateway vpnv1alpha1.VPNGateway
	_ = json.Unmarshal(c.api.Object("vpngateways", p.namespace, p.name), &gateway)
	for _, s := range gateway.Status.Peers {
		if s.Name == peer {
			return s
		}
	}
	return vpnv1alpha1.PeerStatus{}
}

// names is a name server.
type names struct {
	mu        sync.Mutex
	addresses map[string]string
	ttl       uint32
}

func newNames(t *testing.T, n netns.Namespace) *names {
	t.Helper()
	s := &names{addresses: map[string]string{}, ttl: 1}
	udp, err := n.ListenUDP(dnsAddress + ":53")
	if err != nil {
		t.Fatal(err)
	}
	server := &dns.Server{PacketConn: udp, Handler: dns.HandlerFunc(s.answer)}
	var done sync.WaitGroup
	done.Go(func() { _ = server.ActivateAndServe() })
	t.Cleanup(func() {
		udp.Close()
		done.Wait()
	})
	return s
}

// set gives a name an address; an empty one takes it away.
func (s *names) set(name, address string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.addresses[name+"."] = address
}

func (s *names) answer(w dns.ResponseWriter, q *dns.Msg) {
	s.mu.Lock()
	defer s.mu.Unlock()
	answer := new(dns.Msg).SetReply(q)
	name := strings.ToLower(q.Question[0].Name)
	switch address := s.addresses[name]; {
	case address == "":
		answer.Rcode = dns.RcodeNameError
	case q.Question[0].Qtype == dns.TypeA:
		answer.Answer = append(answer.Answer, &dns.A{
			Hdr: dns.RR_Header{Name: q.Question[0].Name, Rrtype: dns.TypeA, Class: dns.ClassINET, Ttl: s.ttl}, A: net.ParseIP(address),
		})
	}
	_ = w.WriteMsg(answer)
}

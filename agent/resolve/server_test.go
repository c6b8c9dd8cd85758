package resolve

import (
	"fmt"
	"net"
	"net/netip"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/miekg/dns"
)

// server is a name server on loopback. What it answers can be changed meanwhile.
type server struct {
	mu    sync.Mutex
	zone  map[string]string // full name -> records, a line each; or a word for what goes wrong
	asked []string          // "udp erp.example.org. A"
	port  string
}

// serve starts a server that knows a zone.
func serve(t *testing.T, zone map[string]string) *server {
	t.Helper()
	return serveAll(t, zone)[0]
}

// serveAll starts a server for each zone, on 127.0.0.1, 127.0.0.2 and so on, all on
// one port, as resolv.conf has it.
func serveAll(t *testing.T, zones ...map[string]string) []*server {
	t.Helper()
	packets, listeners := listen(t, len(zones))
	var all []*server
	for i, zone := range zones {
		s := &server{zone: zone}
		_, s.port, _ = net.SplitHostPort(packets[i].LocalAddr().String())
		for _, d := range []*dns.Server{{PacketConn: packets[i], Handler: s}, {Listener: listeners[i], Handler: s}} {
			started := make(chan bool)
			d.NotifyStartedFunc = func() { close(started) }
			go func() { _ = d.ActivateAndServe() }()
			<-started
			t.Cleanup(func() { _ = d.Shutdown() })
		}
		all = append(all, s)
	}
	return all
}

// listen finds a port that is free for UDP and TCP on some addresses of loopback.
func listen(t *testing.T, n int) (packets []net.PacketConn, listeners []net.Listener) {
	t.Helper()
	port := "0"
	for try := 0; len(listeners) < n; try++ {
		address := net.JoinHostPort(fmt.Sprintf("127.0.0.%d", len(listeners)+1), port)
		p, err := net.ListenPacket("udp4", address)
		var l net.Listener
		if err == nil {
			if l, err = net.Listen("tcp4", p.LocalAddr().String()); err == nil {
				_, port, _ = net.SplitHostPort(l.Addr().String())
				packets, listeners = append(packets, p), append(listeners, l)
				continue
			}
			p.Close()
		}
		if try == 100 {
			t.Fatal(err)
		}
		for i := range listeners {
			packets[i].Close()
			listeners[i].Close()
		}
		packets, listeners, port = nil, nil, "0"
	}
	return packets, listeners
}

func (s *server) set(name, records string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.zone[name] = records
}

func (s *server) questions() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([]string(nil), s.asked...)
}

func (s *server) ServeDNS(w dns.ResponseWriter, question *dns.Msg) {
	s.mu.Lock()
	q := question.Question[0]
	network := w.RemoteAddr().Network()
	s.asked = append(s.asked, network+" "+q.Name+" "+dns.TypeToString[q.Qtype])
	records, known := s.zone[strings.ToLower(q.Name)]
	s.mu.Unlock()

	answer := new(dns.Msg).SetReply(question)
	switch {
	case !known:
		answer.Rcode = dns.RcodeNameError
	case records == "servfail":
		answer.Rcode = dns.RcodeServerFailure
	case records == "refused":
		answer.Rcode = dns.RcodeRefused
	case records == "silent":
		return
	case records == "another question":
		answer.Question[0].Name = "else.example.org."
	case records == "garbage":
		text, _ := answer.Pack()
		text[7]++ // one more answer than there is
		_, _ = w.Write(append(text, "\xc0\xffgarbage"...))
		return
	case strings.HasPrefix(records, "large ") && network == "udp":
		answer.Truncated = true
	default:
		for line := range strings.Lines(strings.TrimPrefix(records, "large ")) {
			record, err := dns.NewRR(line)
			if err != nil {
				panic(err)
			}
			if record != nil {
				answer.Answer = append(answer.Answer, record)
			}
		}
	}
	_ = w.WriteMsg(answer)
}

// resolver asks the server by way of a resolv.conf with some more lines.
func (s *server) resolver(t *testing.T, lines ...string) Resolver {
	t.Helper()
	file := filepath.Join(t.TempDir(), "resolv.conf")
	text := strings.Join(append(lines, "nameserver 127.0.0.1"), "\n")
	if err := os.WriteFile(file, []byte(text+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	return Resolver{Config: file, Port: s.port, Timeout: 300 * time.Millisecond}
}

func addresses(all ...string) (out []netip.Addr) {
	for _, s := range all {
		out = append(out, netip.MustParseAddr(s))
	}
	return out
}

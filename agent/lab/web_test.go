//go:build e2e

package lab

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/netip"
	"strings"
	"sync"
	"testing"

	"github.com/vpnctl/vpnctl/agent/lab/netns"
)

// web serves HTTP on one address. /  says who is served by whom; /drip never ends.
type web struct {
	name string
	mu   sync.Mutex
	from []netip.AddrPort // of every connection
}

// serveWeb starts a service that lives as long as the test.
func serveWeb(t *testing.T, n netns.Namespace, name, address string) *web {
	t.Helper()
	l, err := n.Listen(address)
	if err != nil {
		t.Fatalf("listening in %s: %v", n, err)
	}
	s := &web{name: name}
	server := &http.Server{Handler: s, ConnState: s.note}
	var done sync.WaitGroup
	done.Go(func() { _ = server.Serve(l) })
	t.Cleanup(func() {
		server.Close()
		done.Wait()
	})
	return s
}

func (s *web) note(c net.Conn, state http.ConnState) {
	if state == http.StateNew {
		s.mu.Lock()
		defer s.mu.Unlock()
		from, _ := netip.ParseAddrPort(c.RemoteAddr().String())
		s.from = append(s.from, from)
	}
}

// calls is how many connections there were.
func (s *web) calls() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.from)
}

// ServeHTTP answers with the service's name and the caller's address.
func (s *web) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	caller, _ := netip.ParseAddrPort(r.RemoteAddr)
	fmt.Fprintf(w, "%s for %s", s.name, caller.Addr())
}

func readBody(b *bufio.Reader, r *http.Request) (string, error) {
	answer, err := http.ReadResponse(b, r)
	if err != nil {
		return "", err
	}
	defer answer.Body.Close()
	body, err := io.ReadAll(answer.Body)
	if answer.StatusCode != http.StatusOK {
		return string(body), fmt.Errorf("answer %s: %s", answer.Status, body)
	}
	return string(body), err
}

func contains(text, part string) bool { return strings.Contains(text, part) }

// splitFields are the fields of /proc/PID/stat after the name, which may hold anything.
func splitFields(stat string) []string { return strings.Fields(stat[strings.LastIndex(stat, ")")+1:]) }

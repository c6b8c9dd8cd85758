package agent

import (
	"fmt"
	"net"
	"net/http"
	"testing"
	"time"
)

// A caller that asks and doesn't read the answer is let go of.
func TestNobodyHoldsAnAnswerForEver(t *testing.T) {
	ended := make(chan struct{})
	server := serverOf(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		defer close(ended)
		for part := make([]byte, 1<<20); ; {
			if _, err := w.Write(part); err != nil {
				return
			}
		}
	}), 50*time.Millisecond)
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	go func() { _ = server.Serve(listener) }()
	t.Cleanup(func() { server.Close() })
	caller, err := net.Dial("tcp", listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer caller.Close()
	fmt.Fprint(caller, "GET / HTTP/1.1\r\nHost: pod\r\n\r\n")
	select {
	case <-ended:
	case <-time.After(20 * time.Second):
		t.Error("the answer is still being written")
	}
}

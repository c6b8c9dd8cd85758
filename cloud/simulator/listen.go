package simulator

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/netip"
	"sync"
	"time"
)

// Listen serves on addr (127.0.0.1:0 takes any free port) and returns the URL of the server, without a path.
// close ends it and waits for the calls in flight. Only loopback addresses are accepted: whoever reaches the
// server owns the cloud.
func (s *Server) Listen(addr string) (url string, close func() error, err error) {
	host, _, err := net.SplitHostPort(addr)
	if err != nil {
		return "", nil, fmt.Errorf("listening on %s: %w", addr, err)
	}
	if ip, err := netip.ParseAddr(host); host != "localhost" && (err != nil || !ip.IsLoopback()) {
		return "", nil, fmt.Errorf("listening on %s: not a loopback address", addr)
	}
	l, err := net.Listen("tcp", addr)
	if err != nil {
		return "", nil, fmt.Errorf("listening: %w", err)
	}
	unused := &connections{open: map[net.Conn]bool{}}
	server := &http.Server{Handler: s, ReadHeaderTimeout: 10 * time.Second, ConnState: unused.follow}
	done := make(chan error, 1)
	go func() { done <- server.Serve(l) }()
	return "http://" + l.Addr().String(), func() error { return shut(server, unused, done) }, nil
}

func shut(server *http.Server, unused *connections, done <-chan error) error {
	unused.close()
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
	defer cancel()
	err := server.Shutdown(ctx)
	if errors.Is(err, context.DeadlineExceeded) { // a call that takes so long was delayed on purpose
		err = server.Close()
	}
	if served := <-done; !errors.Is(served, http.ErrServerClosed) && err == nil {
		err = served
	}
	return err
}

// connections are those over which no call has come yet. Clients open some ahead of need, and a shutdown would
// wait for each.
type connections struct {
	mu     sync.Mutex
	open   map[net.Conn]bool
	closed bool
}

func (c *connections) follow(conn net.Conn, state http.ConnState) {
	c.mu.Lock()
	defer c.mu.Unlock()
	switch {
	case state != http.StateNew:
		delete(c.open, conn)
	case c.closed:
		_ = conn.Close() // it was accepted after the end
	default:
		c.open[conn] = true
	}
}

func (c *connections) close() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.closed = true
	for conn := range c.open {
		_ = conn.Close() // nobody has asked anything over it
	}
}

// Transport carries calls to s without a socket; the scheme and the host of the URLs may be anything.
func Transport(s *Server) http.RoundTripper { return transport{s} }

type transport struct{ server *Server }

var errClosed = errors.New("simulator: connection closed by the server")

// RoundTrip hands the request to the server and returns its answer. A connection that the server closes is an
// error here, or a body that ends early.
func (t transport) RoundTrip(r *http.Request) (*http.Response, error) {
	if err := r.Context().Err(); err != nil {
		return nil, err
	}
	in := r.Clone(r.Context())
	in.Host, in.RequestURI = r.URL.Host, r.URL.RequestURI()
	if in.Body == nil {
		in.Body = http.NoBody
	}
	defer in.Body.Close()
	rec := &recorder{header: http.Header{}}
	aborted := rec.serve(t.server, in)
	if aborted && rec.status == 0 {
		if err := r.Context().Err(); err != nil {
			return nil, err
		}
		return nil, errClosed
	}
	return rec.response(r, aborted), nil
}

// recorder is a ResponseWriter that keeps the answer.
type recorder struct {
	header http.Header
	status int
	body   []byte
}

func (r *recorder) Header() http.Header { return r.header }

func (r *recorder) WriteHeader(status int) { r.status = status }

func (r *recorder) Write(b []byte) (int, error) {
	r.body = append(r.body, b...)
	return len(b), nil
}

// serve tells whether the server closed the connection.
func (r *recorder) serve(s *Server, in *http.Request) (aborted bool) {
	defer func() {
		if p := recover(); p != nil {
			if p != http.ErrAbortHandler {
				panic(p)
			}
			aborted = true
		}
	}()
	s.ServeHTTP(r, in)
	return false
}

func (r *recorder) response(req *http.Request, aborted bool) *http.Response {
	return &http.Response{
		Status: fmt.Sprintf("%d %s", r.status, http.StatusText(r.status)), StatusCode: r.status,
		Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1, Header: r.header, ContentLength: -1,
		Body: &content{rest: r.body, aborted: aborted}, Request: req,
	}
}

// content is a body that may end early.
type content struct {
	rest    []byte
	aborted bool
}

func (c *content) Read(p []byte) (int, error) {
	n := copy(p, c.rest)
	c.rest = c.rest[n:]
	if len(c.rest) > 0 || n > 0 {
		return n, nil
	}
	if c.aborted {
		return 0, io.ErrUnexpectedEOF
	}
	return 0, io.EOF
}

func (c *content) Close() error { return nil }

package fakeapi

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"io"
	"log"
	"math/big"
	"net"
	"net/http"
	"sync"
	"time"
)

// Server is one API. All methods may be used while it serves.
type Server struct {
	http *http.Server
	addr net.Addr
	ca   []byte // PEM
	done sync.WaitGroup

	mu        sync.Mutex
	accounts  []*Account
	secrets   map[string]map[string][]byte // by namespace/name
	objects   map[string]*stored           // by resource/namespace/name
	version   int                          // last resourceVersion
	intercept func(Request) Reply
	admit     func(old, object map[string]any) error
	log       []Request
	down      bool
	hanging   chan struct{} // closed to let hanging calls go; nil: none hang
	conns     map[net.Conn]bool
}

// Start serves on the listener, with a certificate for its address. The listener
// may belong to another network namespace than the caller.
func Start(l net.Listener) (*Server, error) {
	s := &Server{
		addr: l.Addr(), secrets: map[string]map[string][]byte{}, objects: map[string]*stored{}, conns: map[net.Conn]bool{},
	}
	certificate, err := s.certificate()
	if err != nil {
		return nil, err
	}
	s.http = &http.Server{
		Handler: http.HandlerFunc(s.serve), ErrorLog: log.New(io.Discard, "", 0),
		TLSConfig: &tls.Config{Certificates: []tls.Certificate{certificate}}, ReadHeaderTimeout: time.Minute,
	}
	s.done.Go(func() { s.http.ServeTLS(gate{l, s}, "", "") })
	return s, nil
}

// Close ends the server and waits for it.
func (s *Server) Close() {
	s.Up()
	s.http.Close()
	s.done.Wait()
}

// URL is where the API is.
func (s *Server) URL() string { return "https://" + s.addr.String() }

// Address is the host and port that a pod is told.
func (s *Server) Address() (host, port string) {
	host, port, _ = net.SplitHostPort(s.addr.String())
	return host, port
}

// Down cuts all connections, and new ones as they come.
func (s *Server) Down() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.down = true
	for c := range s.conns {
		c.Close()
	}
}

// Hang takes requests and never answers them.
func (s *Server) Hang() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.hanging == nil {
		s.hanging = make(chan struct{})
	}
}

// Up ends Down and Hang. Calls that hang are cut off without having had an effect.
func (s *Server) Up() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.down = false
	if s.hanging != nil {
		close(s.hanging)
		s.hanging = nil
	}
}

// gate closes what comes in while the server is down.
type gate struct {
	net.Listener
	s *Server
}

func (g gate) Accept() (net.Conn, error) {
	for {
		c, err := g.Listener.Accept()
		if err != nil {
			return nil, err
		}
		g.s.mu.Lock()
		down := g.s.down
		if !down {
			g.s.conns[c] = true
		}
		g.s.mu.Unlock()
		if !down {
			return conn{c, g.s}, nil
		}
		c.Close()
	}
}

// conn is forgotten when it is closed.
type conn struct {
	net.Conn
	s *Server
}

func (c conn) Close() error {
	c.s.mu.Lock()
	delete(c.s.conns, c.Conn)
	c.s.mu.Unlock()
	return c.Conn.Close()
}

// certificate signs itself, for the server's own address.
func (s *Server) certificate() (tls.Certificate, error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return tls.Certificate{}, err
	}
	template := x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "fakeapi"},
		NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(24 * time.Hour),
		KeyUsage: x509.KeyUsageDigitalSignature | x509.KeyUsageCertSign, ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth},
		IsCA: true, BasicConstraintsValid: true,
	}
	if host, _ := s.Address(); net.ParseIP(host) != nil {
		template.IPAddresses = []net.IP{net.ParseIP(host)}
	}
	der, err := x509.CreateCertificate(rand.Reader, &template, &template, &key.PublicKey, key)
	if err != nil {
		return tls.Certificate{}, err
	}
	s.ca = pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der})
	return tls.Certificate{Certificate: [][]byte{der}, PrivateKey: key}, nil
}

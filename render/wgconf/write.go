package wgconf

import (
	"encoding/base64"
	"fmt"
	"net"
	"net/netip"
	"strconv"
	"strings"
)

// nameComment stands before each peer's section: wg(8) has no field for a name.
const nameComment = "# peer "

// Text writes the file. A value that could break out of its line is an error that
// names it.
func (c Config) Text() (string, error) {
	if c.ListenPort < 1 || c.ListenPort > 65535 {
		return "", fmt.Errorf("writing the WireGuard file: listen port %d is not a port", c.ListenPort)
	}
	var b strings.Builder
	fmt.Fprintf(&b, "[Interface]\nListenPort = %d\n", c.ListenPort)
	for _, p := range c.Peers {
		if err := p.check(); err != nil {
			return "", fmt.Errorf("writing the WireGuard file: peer %q: %w", p.Name, err)
		}
		p.write(&b)
	}
	return b.String(), nil
}

func (p Peer) write(b *strings.Builder) {
	fmt.Fprintf(b, "\n%s%s\n[Peer]\nPublicKey = %s\nAllowedIPs = %s\n", nameComment, p.Name, p.PublicKey, prefixes(p.AllowedIPs))
	if p.Endpoint != "" {
		fmt.Fprintf(b, "Endpoint = %s\n", p.Endpoint)
	}
	if p.Keepalive > 0 {
		fmt.Fprintf(b, "PersistentKeepalive = %d\n", p.Keepalive)
	}
}

func (p Peer) check() error {
	if p.Name == "" || !only(p.Name, "-") {
		return fmt.Errorf("this name is not allowed")
	}
	if key, err := base64.StdEncoding.Strict().DecodeString(p.PublicKey); err != nil || len(key) != 32 || strings.ContainsAny(p.PublicKey, "\r\n") {
		return fmt.Errorf("public key %q is not the base64 of 32 bytes", p.PublicKey)
	}
	if len(p.AllowedIPs) == 0 {
		return fmt.Errorf("no address of it is known")
	}
	for _, a := range p.AllowedIPs {
		if !a.IsValid() || !a.Addr().Is4() {
			return fmt.Errorf("allowed address %q is not an IPv4 network", a)
		}
	}
	if p.Endpoint != "" && !isEndpoint(p.Endpoint) {
		return fmt.Errorf("endpoint %q is not host:port", p.Endpoint)
	}
	if p.Keepalive < 0 || p.Keepalive > 65535 {
		return fmt.Errorf("keepalive %d is not between 0 and 65535", p.Keepalive)
	}
	return nil
}

// isEndpoint allows a host name or an IPv4 address with a port.
func isEndpoint(s string) bool {
	host, port, err := net.SplitHostPort(s)
	n, numErr := strconv.ParseUint(port, 10, 16)
	return err == nil && numErr == nil && n > 0 && host != "" && only(host, "-.")
}

func prefixes(all []netip.Prefix) string {
	texts := make([]string, len(all))
	for i, p := range all {
		texts[i] = p.String()
	}
	return strings.Join(texts, ", ")
}

func only(s, extra string) bool {
	for _, r := range s {
		letter := r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9'
		if !letter && !strings.ContainsRune(extra, r) {
			return false
		}
	}
	return true
}

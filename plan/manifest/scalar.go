package manifest

import (
	"encoding/base64"
	"net"
	"net/netip"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	vpnv1alpha1 "github.com/vpnctl/vpnctl/crds/vpn/v1alpha1"
	"github.com/vpnctl/vpnctl/plan/vpn"
)

// patterns are those of the wire format, compiled.
var patterns = struct{ label, lifetime, identity, wide, host, secretName, secretKey, octets *regexp.Regexp }{
	label:      regexp.MustCompile(vpnv1alpha1.LabelPattern),
	lifetime:   regexp.MustCompile(vpnv1alpha1.LifetimePattern),
	identity:   regexp.MustCompile(vpnv1alpha1.IdentityPattern),
	wide:       regexp.MustCompile(vpnv1alpha1.WideIdentityPattern),
	host:       regexp.MustCompile(vpnv1alpha1.HostPattern),
	secretName: regexp.MustCompile(vpnv1alpha1.SecretNamePattern),
	secretKey:  regexp.MustCompile(vpnv1alpha1.SecretKeyPattern),
	octets:     regexp.MustCompile(`^[0-9]+(\.[0-9]+){3}$`),
}

// label is a DNS label.
func label(s string) (string, *refusal) {
	if !patterns.label.MatchString(s) {
		return "", refuse("%s is not a DNS label", quoted(s)).
			with("1 to 63 lower-case letters, digits and hyphens, with a letter or digit at both ends")
	}
	return s, nil
}

// address is a literal IPv4 address that one host can have.
func address(s string) (netip.Addr, *refusal) {
	a, err := netip.ParseAddr(s)
	switch {
	case err != nil && strings.Contains(s, "/"):
		return netip.Addr{}, refuse("%s is a network, not an IPv4 address", quoted(s))
	case err != nil && patterns.host.MatchString(s) && !patterns.octets.MatchString(s):
		return netip.Addr{}, refuse("%s is a host name, not an IPv4 address", quoted(s))
	case err != nil:
		return netip.Addr{}, refuse("%s is not an IPv4 address", quoted(s))
	case !a.Is4():
		return netip.Addr{}, refuse("%s is IPv6, which is not supported", quoted(s))
	case vpn.Special(netip.PrefixFrom(a, a.BitLen())).IsValid():
		return netip.Addr{}, refuse("%s is not the address of a host that can be reached", a)
	}
	return a, nil
}

// autoAddress is an address, or auto for none in particular.
func autoAddress(s string) (netip.Addr, *refusal) {
	if s == "auto" {
		return netip.Addr{}, nil
	}
	a, no := address(s)
	if no != nil && patterns.host.MatchString(s) && !patterns.octets.MatchString(s) {
		no = refuse("%s is neither an IPv4 address nor auto", quoted(s))
	}
	return a, no
}

// network is an IPv4 network, its host bits as written.
func network(s string) (netip.Prefix, *refusal) {
	p, err := netip.ParsePrefix(s)
	switch {
	case err != nil && !strings.Contains(s, "/"):
		if _, no := address(s); no == nil {
			return netip.Prefix{}, refuse("%s is an address, not a network", quoted(s)).with("%s/32?", s)
		}
		return netip.Prefix{}, refuse("%s is not an IPv4 network in CIDR form", quoted(s))
	case err != nil:
		return netip.Prefix{}, refuse("%s is not an IPv4 network in CIDR form", quoted(s))
	case !p.Addr().Is4():
		return netip.Prefix{}, refuse("%s is IPv6, which is not supported", quoted(s))
	case vpn.Special(p).IsValid():
		return netip.Prefix{}, refuse("%s lies in %s, where no host can be reached", p, vpn.Special(p))
	}
	return p, nil
}

// canonical is a network without host bits. Neutron would store it without
// them, and it would differ from the manifest for ever.
func canonical(s string) (netip.Prefix, *refusal) {
	p, no := network(s)
	if no == nil && p != p.Masked() {
		return netip.Prefix{}, refuse("%s has host bits set", p).with("%s?", p.Masked())
	}
	return p, no
}

// serviceCIDR is a canonical /24.
func serviceCIDR(s string) (netip.Prefix, *refusal) {
	p, no := canonical(s)
	if no == nil && p.Bits() != 24 {
		return netip.Prefix{}, refuse("%s is a /%d; a service CIDR is a /24", p, p.Bits())
	}
	return p, no
}

// maxLifetime fits a year. Whatever is longer is a slip of the pen.
const maxLifetime = 366 * 24 * time.Hour

// lifetime is a whole number of seconds, minutes or hours.
func lifetime(s string) (time.Duration, *refusal) {
	if !patterns.lifetime.MatchString(s) {
		no := refuse("%s is not a whole number followed by s, m or h", quoted(s))
		if digits.MatchString(s) {
			no.with("%ss?", s)
		}
		return 0, no
	}
	unit := map[byte]time.Duration{'s': time.Second, 'm': time.Minute, 'h': time.Hour}[s[len(s)-1]]
	n, err := strconv.ParseInt(s[:len(s)-1], 10, 32)
	if err != nil || time.Duration(n) > maxLifetime/unit {
		return 0, refuse("%s is longer than a year", quoted(s))
	}
	return time.Duration(n) * unit, nil
}

// identity is an IKE identity that can't break out of its line, and that charon
// takes for one peer's.
func identity(s string) (string, *refusal) {
	switch {
	case !patterns.identity.MatchString(s) || len(s) > 253:
		return "", refuse("%s is not an identity", quoted(s)).with("letters, digits and .@:_- without white space, at most 253")
	case patterns.wide.MatchString(s):
		return "", refuse("%s is not the identity of one peer: strongSwan reads it as any, a range or a network", quoted(s)).
			with("the name or the address that the peer presents")
	}
	return s, nil
}

// host is an RFC 1123 host name that can't be mistaken for an address.
func host(s string) (string, *refusal) {
	name := s[strings.LastIndexByte(s, '.')+1:]
	switch {
	case patterns.octets.MatchString(s):
		return "", refuse("%s is an address, not a host name", quoted(s)).with("write it as address")
	case len(s) > 253 || !patterns.host.MatchString(s):
		return "", refuse("%s is not a host name", quoted(s))
	case name != "" && strings.Trim(name, "0123456789") == "":
		return "", refuse("%s is not a host name: its last part is a number", quoted(s))
	}
	return s, nil
}

// endpoint is host:port of a WireGuard peer.
func endpoint(s string) (string, *refusal) {
	if strings.ContainsAny(s, " \t\r\n\v\f") {
		return "", refuse("%s holds white space", quoted(s))
	}
	h, p, err := net.SplitHostPort(s)
	if err != nil {
		return "", refuse("%s is not host:port", quoted(s))
	}
	if n, err := strconv.ParseUint(p, 10, 16); err != nil || n == 0 || p[0] == '0' {
		return "", refuse("%s is not a port from 1 to 65535", quoted(p))
	}
	if strings.Contains(h, ":") {
		return "", refuse("%s is IPv6, which is not supported", quoted(h))
	}
	if patterns.octets.MatchString(h) {
		_, no := address(h)
		return s, no
	}
	if h == "" {
		return "", refuse("%s has no host", quoted(s))
	}
	_, no := host(h)
	return s, no
}

// publicKey is a WireGuard key in canonical base64.
func publicKey(s string) (string, *refusal) {
	key, err := base64.StdEncoding.Strict().DecodeString(s)
	switch {
	case err != nil || strings.ContainsAny(s, "\r\n"):
		if loose, err := base64.StdEncoding.DecodeString(s); err == nil && len(loose) == 32 && len(s) == 44 {
			return "", refuse("the key is not written as wg writes it").with("%s?", base64.StdEncoding.EncodeToString(loose))
		}
		return "", refuse("the key is not base64").with("44 characters, as wg pubkey prints them")
	case len(key) != 32:
		return "", refuse("the key has %d bytes; a WireGuard key has 32", len(key))
	case !slices.ContainsFunc(key, func(b byte) bool { return b != 0 }):
		return "", refuse("the key is all zero, which WireGuard takes for none")
	}
	return s, nil
}

// proposal is one of the approved ones.
func proposal(s string) (string, *refusal) {
	approved := vpnv1alpha1.ApprovedProposals()
	if slices.Contains(approved, vpnv1alpha1.Proposal(s)) {
		return s, nil
	}
	names := make([]string, len(approved))
	for i, a := range approved {
		names[i] = string(a)
	}
	return "", refuse("%s is not approved", quoted(s)).with("approved: %s", strings.Join(names, ", "))
}

// name is how an OpenStack resource is named: by name or by ID.
func name(s string) (string, *refusal) {
	switch {
	case strings.TrimSpace(s) != s || s == "":
		return "", refuse("%s has white space around it, or nothing in it", quoted(s))
	case len(s) > 255:
		return "", refuse("%s is longer than 255 characters", quoted(s))
	case strings.ContainsFunc(s, func(r rune) bool { return r < ' ' || r == 0x7f }):
		return "", refuse("%s holds control characters", quoted(s))
	}
	return s, nil
}

// one is a value from a short list.
func one(allowed ...string) func(string) (string, *refusal) {
	return func(s string) (string, *refusal) {
		if slices.Contains(allowed, s) {
			return s, nil
		}
		return "", refuse("%s is not one of %s", quoted(s), strings.Join(allowed, ", ")).did(s, allowed)
	}
}

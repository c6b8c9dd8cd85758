package v1alpha1

// Patterns of the wire format. The markers on the types repeat them, because a
// marker can't name a constant; a test holds both to the same text. Group
// ipsec.bnerd.net uses the types of this package, so it obeys the same rules.
const (
	// LabelPattern is a DNS label: it becomes a connection name, a rule
	// comment and, for objects, part of a Kubernetes name.
	LabelPattern = `^[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?$`
	// LifetimePattern is a whole number of seconds, minutes or hours. It goes
	// unquoted into swanctl.conf.
	LifetimePattern = `^[0-9]+[smh]$`
	// IdentityPattern covers FQDN, address and e-mail identities and leaves no
	// room for white space, braces or quotes.
	IdentityPattern = `^[A-Za-z0-9.@:_-]+$`
	// WideIdentityPattern covers the identities that charon takes for anybody
	// (0.0.0.0, :: and 0::0), for a range or a network, and the prefixes that
	// make a text the bytes of one. No peer may have such an identity.
	WideIdentityPattern = `^[0:.]+$|^[0-9]+([.][0-9]+){3}-[0-9.]+$|^[0-9A-Fa-f.]*:[0-9A-Fa-f:.]*-[0-9A-Fa-f:.]+$|^(?i:ipv[46](net|range)?|asn1[dg]n):`
	// KeyPattern is 32 bytes in canonical base64: the last digit before the
	// padding carries two bits that must be zero.
	KeyPattern = `^[A-Za-z0-9+/]{42}[AEIMQUYcgkosw048]=$`
	// AddressPattern is a dotted IPv4 address, or nothing.
	AddressPattern = `^$|^((25[0-5]|2[0-4][0-9]|1[0-9]{2}|[1-9]?[0-9])\.){3}(25[0-5]|2[0-4][0-9]|1[0-9]{2}|[1-9]?[0-9])$`
	// CIDRPattern is an IPv4 network in CIDR form; host bits may be set.
	CIDRPattern = `^((25[0-5]|2[0-4][0-9]|1[0-9]{2}|[1-9]?[0-9])\.){3}(25[0-5]|2[0-4][0-9]|1[0-9]{2}|[1-9]?[0-9])/(3[0-2]|[12]?[0-9])$`
	// ServiceCIDRPattern is a canonical IPv4 /24, or nothing.
	ServiceCIDRPattern = `^$|^((25[0-5]|2[0-4][0-9]|1[0-9]{2}|[1-9]?[0-9])\.){3}0/24$`
	// AutoAddressPattern is an IPv4 address, "auto", or nothing.
	AutoAddressPattern = `^$|^auto$|^((25[0-5]|2[0-4][0-9]|1[0-9]{2}|[1-9]?[0-9])\.){3}(25[0-5]|2[0-4][0-9]|1[0-9]{2}|[1-9]?[0-9])$`
	// SpecialAddressPattern covers the addresses that no host that can be reached
	// has: this host's, loopback, link-local (where clouds keep what servers must not
	// be asked for), multicast, reserved and broadcast.
	SpecialAddressPattern = `^(0|127|169[.]254|22[4-9]|2[3-5][0-9])[.]`
	// LocalNetworkPattern and MulticastNetworkPattern cover the networks that lie in
	// one of these ranges: two, because admission has no budget for one that covers all.
	LocalNetworkPattern     = `^(0|127)[.].*/([89]|..)$|^169[.]254[.].*/(1[6-9]|[23].)$`
	MulticastNetworkPattern = `^(22[4-9]|2[3-5][0-9])[.].*/([4-9]|..)$`
	// HostPattern is an RFC 1123 host name, or nothing.
	HostPattern = `^$|^[A-Za-z0-9]([A-Za-z0-9-]{0,61}[A-Za-z0-9])?(\.[A-Za-z0-9]([A-Za-z0-9-]{0,61}[A-Za-z0-9])?)*$`
	// EndpointPattern is host:port, or nothing.
	EndpointPattern = `^$|^[A-Za-z0-9]([A-Za-z0-9-]{0,61}[A-Za-z0-9])?(\.[A-Za-z0-9]([A-Za-z0-9-]{0,61}[A-Za-z0-9])?)*:[1-9][0-9]{0,4}$`
	// PortRangePattern is first-last.
	PortRangePattern = `^[0-9]{1,5}-[0-9]{1,5}$`
	// SecretNamePattern is a DNS subdomain, the name of a Secret. It has at most 253
	// characters.
	SecretNamePattern = `^[a-z0-9]([a-z0-9-]*[a-z0-9])?(\.[a-z0-9]([a-z0-9-]*[a-z0-9])?)*$`
	// SecretKeyPattern is a key within a Secret: it becomes a file, so neither . nor
	// what begins with two dots. It has at most 253 characters.
	SecretKeyPattern = `^[.]?[-_a-zA-Z0-9][-._a-zA-Z0-9]*$`
)

// Limits of the wire format, as far as they are not a matter of taste.
const (
	// MaxExposures and MaxReverseExposures are the sizes of the two ranges
	// that virtual IPs come from, .10 to .199 and .200 to .254.
	MaxExposures        = 190
	MaxReverseExposures = 55
	// The remaining sizes keep the cost of admission rules within bounds.
	MaxTunnels    = 256
	MaxSubnets    = 256
	MaxPorts      = 256
	MaxPortRanges = 64
	MaxProposals  = 16
	// DefaultListenPort is where WireGuard listens when nothing is said.
	DefaultListenPort = 51820
)

// ApprovedProposals returns the crypto proposals that a gateway may use, for
// IKE and for ESP, in the order in which they are offered to a reader.
func ApprovedProposals() []Proposal {
	return []Proposal{
		"aes256-sha256-ecp256",
		"aes256-sha512-ecp384",
		"aes256gcm16-prfsha384-ecp384",
		"aes256gcm16-prfsha256-ecp256",
	}
}

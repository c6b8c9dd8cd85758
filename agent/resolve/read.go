package resolve

import (
	"errors"
	"fmt"
	"net/netip"
	"time"

	"github.com/miekg/dns"

	"github.com/vpnctl/vpnctl/plan/vpn"
)

var (
	errNoName    = errors.New("no such name")
	errNoAddress = errors.New("the name has no IPv4 address")
)

// read finds a name's addresses in an answer, through the aliases in it. Where the
// aliases lead out of the answer, it returns the last one. What it found holds for
// as long as its shortest part does.
func read(m *dns.Msg, name string) (a Answer, alias string, err error) {
	if m.Rcode == dns.RcodeNameError {
		return a, "", errNoName
	}
	aliases, addresses := map[string]*dns.CNAME{}, map[string][]*dns.A{}
	for _, record := range m.Answer {
		owner := dns.CanonicalName(record.Header().Name)
		switch record := record.(type) {
		case *dns.CNAME:
			aliases[owner] = record
		case *dns.A:
			addresses[owner] = append(addresses[owner], record)
		}
	}
	ttl := uint32(1<<32 - 1)
	at := dns.CanonicalName(name)
	for range len(aliases) {
		next, ok := aliases[at]
		if !ok {
			break
		}
		ttl, at = min(ttl, next.Hdr.Ttl), dns.CanonicalName(next.Target)
	}
	var useless netip.Addr
	for _, record := range addresses[at] {
		ttl = min(ttl, record.Hdr.Ttl)
		if address, _ := netip.AddrFromSlice(record.A.To4()); useful(address) {
			a.Addresses = append(a.Addresses, address)
		} else {
			useless = address
		}
	}
	a.TTL = time.Duration(ttl) * time.Second
	switch {
	case len(a.Addresses) > 0:
		return a, "", nil
	case useless.IsValid():
		return a, "", fmt.Errorf("%w that packets can be sent to: %s", errNoAddress, useless)
	case at != dns.CanonicalName(name) && aliases[at] == nil:
		return a, at, nil
	}
	return a, "", errNoAddress
}

// useful leaves out what would lead into the pod itself, or to everybody: a name
// that has no address for us often gets one of these.
func useful(a netip.Addr) bool {
	return a.IsValid() && !vpn.Special(netip.PrefixFrom(a, a.BitLen())).IsValid()
}

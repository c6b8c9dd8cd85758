package swanctl

import (
	"net/netip"
	"testing"
	"time"

	"github.com/vpnctl/vpnctl/render/readback"
)

// FuzzText: whatever stands in the fields, the text is refused or read back as
// exactly the fields.
func FuzzText(f *testing.F) {
	f.Add("plant1", "203.0.113.20", "plant1@example.org", "aes256-sha256-ecp256", "c", uint32(0x0a000000), uint8(24), uint32(30))
	f.Add("a }\n", "x{y", "id = b", "a,b", "include", uint32(1), uint8(0), uint32(0))
	f.Fuzz(func(t *testing.T, name, local, remote, proposal, child string, address uint32, bits uint8, seconds uint32) {
		addr := netip.AddrFrom4([4]byte{byte(address >> 24), byte(address >> 16), byte(address >> 8), byte(address)})
		life := time.Duration(seconds&0x7fffffff) * time.Second
		prefix := netip.PrefixFrom(addr, int(bits%33))
		want := Config{[]Connection{{
			Name: name, LocalID: local, Address: addr, RemoteID: remote, Proposals: []string{proposal, proposal},
			Lifetime: life, DPDDelay: life, DPDTimeout: life,
			Children: []Child{{Name: child, Local: prefix, Remote: []netip.Prefix{prefix}, Proposals: []string{proposal}, Lifetime: life}},
		}}}
		readback.SameOrRefused(t, want, Parse)
	})
}

// FuzzParse: any text is refused or means the same after it was written again.
func FuzzParse(f *testing.F) {
	text, err := Config{[]Connection{sample()}}.Text()
	if err != nil {
		f.Fatal(err)
	}
	f.Add(text)
	f.Fuzz(func(t *testing.T, text string) {
		first, err := Parse(text)
		if err != nil {
			return
		}
		readback.SameOrRefused(t, first, Parse) // some values only the writer refuses
	})
}

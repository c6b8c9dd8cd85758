package wireguard

import (
	"encoding/binary"
	"fmt"
	"net/netip"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"golang.zx2c4.com/wireguard/wgctrl/wgtypes"
)

// crowd is n peers with preshared keys, an endpoint nobody listens on, and a network
// each.
func crowd(n int) []Peer {
	all := make([]Peer, n)
	for i := range all {
		var key wgtypes.Key
		binary.BigEndian.PutUint32(key[:], uint32(i+1))
		network := netip.PrefixFrom(netip.AddrFrom4([4]byte{10, byte(i >> 8), byte(i), 0}), 24)
		all[i] = Peer{
			Name: fmt.Sprintf("peer-%04d", i), PublicKey: key.String(), Preshared: Secret(key.String()),
			Endpoint: netip.MustParseAddrPort("127.0.0.1:9"), AllowedIPs: []netip.Prefix{network},
		}
	}
	return all
}

func TestOneOfAThousandChanges(t *testing.T) {
	gateway := newEnd(t)
	one := site(t, gateway, nil)
	peers := append(crowd(1000), one.as("one", "192.168.1.0/24"))
	begun := time.Now()
	gateway.apply(t, gateway.config(peers...))
	t.Logf("1,001 peers added in %v", time.Since(begun))
	mustReach(t, gateway, one, here, "192.168.1.20")
	gateway.settled(t, "one")
	before, err := gateway.Read()
	if err != nil {
		t.Fatal(err)
	}

	peers[500].AllowedIPs = prefixes("172.16.0.0/24")
	begun = time.Now()
	change := gateway.apply(t, gateway.config(peers...))
	t.Logf("one of 1,001 changed in %v", time.Since(begun))
	if diff := cmp.Diff([]string{"peer-0500"}, change.Changed); diff != "" || len(change.Added)+len(change.Removed) > 0 {
		t.Errorf("%+v", change)
	}
	after, err := gateway.Read()
	if err != nil {
		t.Fatal(err)
	}
	for i := range before.Peers {
		if before.Peers[i].Name == "peer-0500" {
			before.Peers[i].AllowedIPs = prefixes("172.16.0.0/24")
		}
	}
	if diff := cmp.Diff(before, after, byText); diff != "" {
		t.Errorf("the others are not what they were (-before +after)\n%s", diff)
	}
}

// BenchmarkOneOfAThousandChanges: reading the device, comparing and setting one peer.
// The limit is 50 ms.
func BenchmarkOneOfAThousandChanges(b *testing.B) {
	gateway := newEnd(b)
	peers := crowd(1000)
	gateway.apply(b, gateway.config(peers...))
	networks := [][]netip.Prefix{prefixes("172.16.0.0/24"), prefixes("172.17.0.0/24")}
	for i := 0; b.Loop(); i++ {
		peers[500].AllowedIPs = networks[i%2]
		if change := gateway.apply(b, gateway.config(peers...)); len(change.Changed) != 1 {
			b.Fatal(change)
		}
	}
}

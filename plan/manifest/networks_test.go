package manifest_test

import (
	"fmt"
	"math/rand/v2"
	"net/netip"
	"strings"
	"testing"
)

// TestNetworksOfLinksAreApart: among random links, in any order, each that lies in another
// one's network is told once, and no other.
func TestNetworksOfLinksAreApart(t *testing.T) {
	random := rand.New(rand.NewPCG(5, 8))
	clashes := 0
	for range 200 {
		var networks []netip.Prefix
		for range 1 + random.IntN(12) {
			address := netip.AddrFrom4([4]byte{10, byte(random.IntN(4)), byte(random.IntN(4) * 64), 0})
			networks = append(networks, netip.PrefixFrom(address, 13+random.IntN(10)).Masked())
		}
		want := 0
		for i, n := range networks { // of equal ones all but the first count
			for j, m := range networks {
				if i != j && m.Overlaps(n) && (m.Bits() < n.Bits() || m == n && j < i) {
					want++
					break
				}
			}
		}
		clashes += want
		var b strings.Builder
		for i, n := range networks {
			fmt.Fprintf(&b, "apiVersion: ipsec.bnerd.net/v1alpha1\nkind: ClusterLink\nmetadata: {name: l%d}\nspec: {serviceClusterRouter: r%d, serviceClusterCIDR: %s}\n---\n", i, i, n)
		}
		said, errors := told(strings.TrimSuffix(b.String(), "---\n") + soundEstate)
		if errors != want {
			t.Fatalf("%v: %d errors, want %d\n%s", networks, errors, want, said)
		}
	}
	if clashes == 0 {
		t.Error("nothing overlapped, so this tells nothing")
	}
}

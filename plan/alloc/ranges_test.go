package alloc

import (
	"fmt"
	"math/rand/v2"
	"net/netip"
	"testing"
)

// TestPoolAgainstPlainOverlap compares the bitmap with the definition: the
// lowest /24 of the pool that overlaps nothing marked.
func TestPoolAgainstPlainOverlap(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 6))
	for range 500 {
		size := 16 + r.IntN(9)
		prefix := netip.MustParsePrefix(fmt.Sprintf("100.71.128.0/%d", size)).Masked()
		p := newPool(prefix)
		known := claims{}
		var marked []netip.Prefix
		for range r.IntN(12) {
			m := netip.MustParsePrefix(fmt.Sprintf("100.%d.%d.%d/%d", 70+r.IntN(3), r.IntN(256), r.IntN(256), 12+r.IntN(21)))
			marked = append(marked, m)
			p.mark(m)
			known.add(Claim{Prefix: m, By: m.String()})
		}
		for block := prefix.Addr(); prefix.Contains(block); block = after(block) {
			want := netip.PrefixFrom(block, blockBits)
			claim, claimed := known.on(want)
			if claimed != overlaps(marked, want) || claimed && !claim.Prefix.Overlaps(want) {
				t.Fatalf("%s: claimed %v by %v, marked %v", want, claimed, claim, marked)
			}
			if claimed {
				continue
			}
			if got, ok := p.lowest(); !ok || got != want {
				t.Fatalf("lowest of %s is %s, %v, want %s; marked %v", prefix, got, ok, want, marked)
			}
		}
		if got, ok := p.lowest(); ok {
			t.Fatalf("%s is beyond the pool %s", got, prefix)
		}
	}
}

func after(a netip.Addr) netip.Addr {
	b := a.As4()
	n := int(b[1])<<8 + int(b[2]) + 1
	return netip.AddrFrom4([4]byte{b[0], byte(n >> 8), byte(n), 0})
}

func overlaps(marked []netip.Prefix, p netip.Prefix) bool {
	for _, m := range marked {
		if m.Overlaps(p) {
			return true
		}
	}
	return false
}

func TestAPoolThatHoldsNoRange(t *testing.T) {
	for _, text := range []string{"100.64.0.0/25", "fd00::/8"} {
		p := newPool(netip.MustParsePrefix(text))
		p.mark(netip.MustParsePrefix("0.0.0.0/0"))
		if got, ok := p.lowest(); ok {
			t.Errorf("%s gave %s", text, got)
		}
	}
}

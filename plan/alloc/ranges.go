package alloc

import (
	"encoding/binary"
	"math/bits"
	"net/netip"
)

// blockBits is the size of a service CIDR.
const blockBits = 24

// block is the /24 around a prefix that is no larger than one.
func block(p netip.Prefix) (netip.Prefix, bool) {
	if !p.IsValid() || !p.Addr().Is4() || p.Bits() < blockBits {
		return netip.Prefix{}, false
	}
	return netip.PrefixFrom(p.Addr(), blockBits).Masked(), true
}

// pool is the bitmap of a range's /24s. The search for a free one only moves
// forward, because nothing is freed while addresses are assigned.
type pool struct {
	prefix netip.Prefix
	taken  []uint64
	size   int // number of /24s; 0: the range holds none
	next   int // word where the search continues
}

func newPool(prefix netip.Prefix) *pool {
	p := &pool{prefix: prefix.Masked()}
	if prefix.IsValid() && prefix.Addr().Is4() && prefix.Bits() <= blockBits {
		p.size = 1 << (blockBits - prefix.Bits())
		p.taken = make([]uint64, (p.size+63)/64)
	}
	return p
}

// number is the position of the /24 around an address, counted from 0.0.0.0.
func number(a netip.Addr) int {
	b := a.As4()
	return int(binary.BigEndian.Uint32(b[:]) >> 8)
}

// mark takes every /24 of the pool that the range touches.
func (p *pool) mark(r netip.Prefix) {
	if p.size == 0 || !r.Overlaps(p.prefix) {
		return
	}
	first := max(0, number(r.Masked().Addr())-number(p.prefix.Addr()))
	count := 1
	if r.Bits() < blockBits {
		count = min(p.size-first, 1<<(blockBits-r.Bits()))
	}
	if r.Bits() <= p.prefix.Bits() {
		count = p.size
	}
	for i := first; i < first+count; i++ {
		p.taken[i/64] |= 1 << (i % 64)
	}
}

// lowest takes the lowest free /24.
func (p *pool) lowest() (netip.Prefix, bool) {
	for ; p.next < len(p.taken); p.next++ {
		i := p.next*64 + bits.TrailingZeros64(^p.taken[p.next])
		if i >= (p.next+1)*64 {
			continue
		}
		if i >= p.size {
			break
		}
		p.taken[i/64] |= 1 << (i % 64)
		var b [4]byte
		binary.BigEndian.PutUint32(b[:], uint32(number(p.prefix.Addr())+i)<<8)
		return netip.PrefixFrom(netip.AddrFrom4(b), blockBits), true
	}
	return netip.Prefix{}, false
}

// claims answers which foreign range touches a /24.
type claims map[netip.Prefix]Claim

func (c claims) add(claim Claim) {
	p := claim.Prefix.Masked()
	if !p.IsValid() || !p.Addr().Is4() {
		return
	}
	claim.Prefix = p
	key := p
	if b, small := block(p); small {
		key = b
	}
	if known, ok := c[key]; ok && !before(claim, known) {
		return
	}
	c[key] = claim
}

// before picks the claim to name where several touch one /24: the widest, and
// among equals the first by prefix and name, whatever order they came in.
func before(a, b Claim) bool {
	if a.Prefix.Bits() != b.Prefix.Bits() {
		return a.Prefix.Bits() < b.Prefix.Bits()
	}
	if c := a.Prefix.Addr().Compare(b.Prefix.Addr()); c != 0 {
		return c < 0
	}
	return a.By < b.By
}

// on finds the widest claim that touches a /24.
func (c claims) on(b netip.Prefix) (Claim, bool) {
	for size := 0; size <= blockBits; size++ {
		if claim, ok := c[netip.PrefixFrom(b.Addr(), size).Masked()]; ok {
			return claim, true
		}
	}
	return Claim{}, false
}

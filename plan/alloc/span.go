package alloc

import "fmt"

// span is a range of last octets, both ends included.
type span struct{ from, to int }

func (s span) contains(octet int) bool { return s.from <= octet && octet <= s.to }
func (s span) String() string          { return fmt.Sprintf(".%d–.%d", s.from, s.to) }

// up yields the octets from the lower end, and tells whether all were taken.
func (s span) up(yield func(int) bool) bool {
	for octet := s.from; octet <= s.to; octet++ {
		if !yield(octet) {
			return false
		}
	}
	return true
}

// down yields them from the upper end.
func (s span) down(yield func(int) bool) bool {
	for octet := s.to; octet >= s.from; octet-- {
		if !yield(octet) {
			return false
		}
	}
	return true
}

// The ranges of a service CIDR. Nothing is placed outside usable: .1 is the
// gateway's own, .0 and .255 are the network's.
var (
	usable      = span{2, 254}
	exposures   = span{10, 199}
	reverse     = span{200, 254}
	roadDefault = span{192, 254} // the top /26
)

// Reverse tells whether an octet is one that only reverse exposures get, and not
// the other exposures.
func Reverse(octet byte) bool { return int(octet) >= reverse.from }

package vici

import (
	"net/netip"
	"strconv"
	"strings"
	"time"

	govici "github.com/strongswan/govici/vici"
)

// fields reads a section of charon's, in which every value is text and what doesn't
// apply is left out: a value that is missing, or isn't what it should be, is zero.
type fields struct{ *govici.Message }

func (f fields) text(key string) string {
	text, _ := f.Get(key).(string)
	return text
}

func (f fields) list(key string) []string {
	list, _ := f.Get(key).([]string)
	return list
}

func (f fields) yes(key string) bool { return f.text(key) == "yes" }

func (f fields) number(key string) uint64 {
	n, _ := strconv.ParseUint(f.text(key), 10, 64)
	return n
}

// seconds may be negative.
func (f fields) seconds(key string) time.Duration {
	n, _ := strconv.ParseInt(f.text(key), 10, 64)
	return time.Duration(n) * time.Second
}

// addrPort is zero while one of the two isn't known, which charon shows as %any.
func (f fields) addrPort(host, port string) netip.AddrPort {
	addr, err := netip.ParseAddr(f.text(host))
	if err != nil {
		return netip.AddrPort{}
	}
	return netip.AddrPortFrom(addr, uint16(f.number(port)))
}

// prefixes leaves out a protocol and ports, which ours never have, and a range that
// is no network.
func (f fields) prefixes(key string) []netip.Prefix {
	var all []netip.Prefix
	for _, text := range f.list(key) {
		network, _, _ := strings.Cut(text, "[")
		if p, err := netip.ParsePrefix(network); err == nil {
			all = append(all, p)
		}
	}
	return all
}

// section is one named section of a message.
type section struct {
	name string
	fields
}

// sections are a message's sections in charon's order.
func (f fields) sections() []section {
	var all []section
	for _, name := range f.Keys() {
		if sub, ok := f.Get(name).(*govici.Message); ok {
			all = append(all, section{name, fields{sub}})
		}
	}
	return all
}

// section is a message's section of that name, empty if there is none.
func (f fields) section(name string) fields {
	if sub, ok := f.Get(name).(*govici.Message); ok {
		return fields{sub}
	}
	return fields{govici.NewMessage()}
}

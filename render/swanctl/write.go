package swanctl

import (
	"fmt"
	"net/netip"
	"slices"
	"strings"
	"time"

	"github.com/vpnctl/vpnctl/plan/resource"
)

// fixed are the settings that every connection has. charon never starts a
// connection by itself: a reload in the middle of its own start leaves a tunnel
// down for good, so the agent initiates. unique=replace lets a peer that comes
// back take the place of its dead session.
var fixed = []Value{
	{"version", "2"},
	{"local_addrs", "%any"},
	{"encap", "yes"},
	{"mobike", "no"},
	{"unique", "replace"},
	{"keyingtries", "1"},
}

// fixedChild are the settings that every child has: always tunnel mode, and no
// action of charon's own.
var fixedChild = []Value{
	{"mode", "tunnel"},
	{"start_action", "none"},
	{"dpd_action", "clear"},
	{"close_action", "none"},
}

// Text writes swanctl.conf. It returns an error that names the value which could
// break out of its place, and never escapes one.
func (c Config) Text() (string, error) {
	root := Section{Name: "connections"}
	for _, conn := range c.Connections {
		if err := conn.check(); err != nil {
			return "", fmt.Errorf("writing swanctl.conf: connection %q: %w", conn.Name, err)
		}
		root.Sections = append(root.Sections, conn.section())
	}
	var b strings.Builder
	if err := root.write(&b, ""); err != nil {
		return "", fmt.Errorf("writing swanctl.conf: %w", err)
	}
	return b.String(), nil
}

func (c Connection) section() Section {
	children := Section{Name: "children"}
	for _, child := range c.Children {
		children.Sections = append(children.Sections, child.section())
	}
	return Section{
		Name: c.Name,
		Values: append(append([]Value{}, fixed...),
			Value{"remote_addrs", c.Address.String()},
			Value{"proposals", strings.Join(c.Proposals, ",")},
			Value{"rekey_time", seconds(c.Lifetime)},
			Value{"dpd_delay", seconds(c.DPDDelay)},
			Value{"dpd_timeout", seconds(c.DPDTimeout)},
		),
		Sections: []Section{
			{Name: "local", Values: []Value{{"auth", "psk"}, {"id", c.LocalID}}},
			{Name: "remote", Values: []Value{{"auth", "psk"}, {"id", c.RemoteID}}},
			children,
		},
	}
}

func (c Child) section() Section {
	return Section{
		Name: c.Name,
		Values: append([]Value{
			{"local_ts", c.Local.String()},
			{"remote_ts", prefixes(c.Remote)},
			{"esp_proposals", strings.Join(c.Proposals, ",")},
			{"rekey_time", seconds(c.Lifetime)},
		}, fixedChild...),
	}
}

// check refuses what a section would take for something else: an identity that
// charon would read as a pattern or a distinguished name, a list's entry that is
// two entries, an address of the other family.
func (c Connection) check() error {
	for _, id := range []string{c.LocalID, c.RemoteID} {
		if id != resource.Unknown && (!only(id, "-_.:@") || wide(id)) {
			return fmt.Errorf("identity %q is not allowed", id)
		}
	}
	if !c.Address.Is4() {
		return fmt.Errorf("address %q is not an IPv4 address", c.Address)
	}
	lists := [][]string{c.Proposals}
	for _, child := range c.Children {
		lists = append(lists, child.Proposals)
		for _, p := range append([]netip.Prefix{child.Local}, child.Remote...) {
			if !p.IsValid() || !p.Addr().Is4() {
				return fmt.Errorf("child %q: traffic selector %q is not an IPv4 network", child.Name, p)
			}
		}
	}
	for _, proposal := range slices.Concat(lists...) {
		if proposal == "" || !only(proposal, "-_") {
			return fmt.Errorf("proposal %q is not allowed", proposal)
		}
	}
	return nil
}

// wide tells whether charon reads an identity as anybody's, a range's or a
// network's. Such an identity would let other peers in.
func wide(id string) bool {
	if strings.Trim(id, "0:.") == "" {
		return true
	}
	kind, _, _ := strings.Cut(strings.ToLower(id), ":")
	switch kind {
	case "ipv4", "ipv6", "ipv4net", "ipv6net", "ipv4range", "ipv6range", "asn1dn", "asn1gn":
		return true
	}
	first, last, _ := strings.Cut(id, "-")
	_, one := netip.ParseAddr(first)
	_, two := netip.ParseAddr(last)
	return one == nil && two == nil
}

func prefixes(all []netip.Prefix) string {
	texts := make([]string, len(all))
	for i, p := range all {
		texts[i] = p.String()
	}
	return strings.Join(texts, ",")
}

func seconds(d time.Duration) string { return fmt.Sprintf("%ds", int64(d/time.Second)) }

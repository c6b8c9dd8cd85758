package swanctl

import (
	"errors"
	"fmt"
	"net/netip"
	"slices"
	"strconv"
	"strings"
	"time"
)

// Parse reads what Text wrote: an unknown or a missing setting, or a fixed one
// with another value, is an error.
func Parse(text string) (Config, error) {
	sections, err := ParseSections(text)
	if err != nil {
		return Config{}, fmt.Errorf("reading swanctl.conf: %w", err)
	}
	if len(sections) != 1 || sections[0].Name != "connections" || len(sections[0].Values) > 0 {
		return Config{}, errors.New("reading swanctl.conf: not exactly one section named connections")
	}
	var c Config
	for _, s := range sections[0].Sections {
		conn, err := connection(s)
		if err != nil {
			return Config{}, fmt.Errorf("reading swanctl.conf: connection %s: %w", s.Name, err)
		}
		c.Connections = append(c.Connections, conn)
	}
	return c, nil
}

func connection(s Section) (Connection, error) {
	if len(s.Sections) != 3 {
		return Connection{}, errors.New("wants the sections local, remote and children")
	}
	f := fieldsOf(s, fixed)
	c := Connection{
		Name:       s.Name,
		Address:    f.address("remote_addrs"),
		Proposals:  f.list("proposals"),
		Lifetime:   f.duration("rekey_time"),
		DPDDelay:   f.duration("dpd_delay"),
		DPDTimeout: f.duration("dpd_timeout"),
	}
	var err [2]error
	c.LocalID, err[0] = identity(s, "local")
	c.RemoteID, err[1] = identity(s, "remote")
	children, _ := s.Section("children")
	for _, sub := range children.Sections {
		child, err := child(sub)
		if err != nil {
			return c, fmt.Errorf("child %s: %w", sub.Name, err)
		}
		c.Children = append(c.Children, child)
	}
	return c, errors.Join(f.end(), err[0], err[1])
}

func identity(s Section, side string) (string, error) {
	section, _ := s.Section(side)
	f := fieldsOf(section, []Value{{"auth", "psk"}})
	id := f.text("id")
	if err := f.end(); err != nil {
		return "", fmt.Errorf("%s: %w", side, err)
	}
	return id, nil
}

func child(s Section) (Child, error) {
	f := fieldsOf(s, fixedChild)
	c := Child{
		Name:      s.Name,
		Local:     f.prefix(f.text("local_ts")),
		Proposals: f.list("esp_proposals"),
		Lifetime:  f.duration("rekey_time"),
	}
	for _, text := range f.list("remote_ts") {
		c.Remote = append(c.Remote, f.prefix(text))
	}
	return c, f.end()
}

// fields takes a section's values one by one and remembers the first thing wrong.
type fields struct {
	section Section
	taken   []string
	err     error
}

func fieldsOf(s Section, fixed []Value) *fields {
	f := &fields{section: s}
	for _, v := range fixed {
		if got := f.text(v.Key); got != v.Text {
			f.fail(fmt.Errorf("%s is %q, not %q", v.Key, got, v.Text))
		}
	}
	return f
}

func (f *fields) fail(err error) {
	if f.err == nil {
		f.err = err
	}
}

func (f *fields) text(key string) string {
	text, ok := f.section.Get(key)
	if !ok {
		f.fail(fmt.Errorf("%s is missing", key))
	}
	f.taken = append(f.taken, key)
	return text
}

func (f *fields) list(key string) []string { return strings.Split(f.text(key), ",") }

func (f *fields) address(key string) netip.Addr {
	a, err := netip.ParseAddr(f.text(key))
	if err != nil {
		f.fail(fmt.Errorf("%s: %w", key, err))
	}
	return a
}

func (f *fields) prefix(text string) netip.Prefix {
	p, err := netip.ParsePrefix(text)
	if err != nil {
		f.fail(err)
	}
	return p
}

func (f *fields) duration(key string) time.Duration {
	n, ok := strings.CutSuffix(f.text(key), "s")
	seconds, err := strconv.ParseInt(n, 10, 32)
	if !ok || err != nil {
		f.fail(fmt.Errorf("%s is not a number of seconds", key))
	}
	return time.Duration(seconds) * time.Second
}

// end reports the first thing wrong, a value that nobody took included.
func (f *fields) end() error {
	for _, v := range f.section.Values {
		if !slices.Contains(f.taken, v.Key) {
			f.fail(fmt.Errorf("%s is not known", v.Key))
		}
	}
	return f.err
}

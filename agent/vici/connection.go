package vici

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	govici "github.com/strongswan/govici/vici"

	"github.com/vpnctl/vpnctl/plan/resource"
	"github.com/vpnctl/vpnctl/render/swanctl"
)

// lists are the settings that VICI takes as lists, and swanctl.conf as one text
// separated by commas.
var lists = []string{"local_addrs", "remote_addrs", "proposals", "esp_proposals", "local_ts", "remote_ts"}

// Load adds a connection, or replaces the one of its name. SAs that are up stay as
// they were negotiated. charon takes a connection whole or refuses it whole.
func (s *Session) Load(ctx context.Context, c swanctl.Connection) error {
	in, err := loadMessage(c)
	if err != nil {
		return err
	}
	if _, err := s.call(ctx, "load-conn", in); err != nil {
		return fmt.Errorf("loading connection %s: %w", c.Name, err)
	}
	return nil
}

// Unload drops a connection; that it isn't there is no error. Its SAs stay up, and
// can be ended by its name.
func (s *Session) Unload(ctx context.Context, name string) error {
	in, err := message("name", name)
	if err != nil {
		return err
	}
	_, err = s.call(ctx, "unload-conn", in)
	if refused(err, "not found") {
		return nil
	}
	if err != nil {
		return fmt.Errorf("unloading connection %s: %w", name, err)
	}
	return nil
}

// Connections are the names of the connections that charon has loaded, in charon's
// order.
func (s *Session) Connections(ctx context.Context) ([]string, error) {
	answer, err := s.call(ctx, "get-conns", nil)
	if err != nil {
		return nil, err
	}
	return fields{answer}.list("conns"), nil
}

// loadMessage is what swanctl --load-conns sends for the rendered file. It is made
// from that text, so that the writer's rules and settings hold here too.
func loadMessage(c swanctl.Connection) (*govici.Message, error) {
	text, err := swanctl.Config{Connections: []swanctl.Connection{c}}.Text()
	if err != nil {
		return nil, err
	}
	if strings.Contains(text, resource.Unknown) {
		return nil, fmt.Errorf("connection %s: a value is not known yet", c.Name)
	}
	parsed, err := swanctl.ParseSections(text)
	if err != nil {
		return nil, err
	}
	return sectionMessage(parsed[0])
}

func sectionMessage(s swanctl.Section) (*govici.Message, error) {
	m := govici.NewMessage()
	for _, v := range s.Values {
		var value any = v.Text
		if slices.Contains(lists, v.Key) {
			value = strings.Split(v.Text, ",")
		}
		if err := m.Set(v.Key, value); err != nil {
			return nil, err
		}
	}
	for _, sub := range s.Sections {
		if len(sub.Name) > maxName {
			return nil, fmt.Errorf("%s: a name of %d bytes; VICI carries %d", sub.Name, len(sub.Name), maxName)
		}
		value, err := sectionMessage(sub)
		if err != nil {
			return nil, err
		}
		if err := m.Set(sub.Name, value); err != nil {
			return nil, err
		}
	}
	return m, nil
}

// What VICI's length fields hold. The library cuts the length of a longer text
// without a word.
const (
	maxName  = 1<<8 - 1
	maxValue = 1<<16 - 1
)

// message holds pairs of a key and a text.
func message(pairs ...string) (*govici.Message, error) {
	m := govici.NewMessage()
	for i := 0; i < len(pairs); i += 2 {
		if len(pairs[i+1]) > maxValue {
			return nil, fmt.Errorf("%s: %d bytes; VICI carries %d", pairs[i], len(pairs[i+1]), maxValue)
		}
		if err := m.Set(pairs[i], pairs[i+1]); err != nil {
			return nil, fmt.Errorf("%s: %w", pairs[i], err)
		}
	}
	return m, nil
}

// refused tells whether charon refused a command with such words.
func refused(err error, words string) bool {
	var no refusal
	return errors.As(err, &no) && strings.Contains(string(no), words)
}

package wgconf

import (
	"fmt"
	"net/netip"
	"strconv"
	"strings"
)

// Parse reads what Text wrote; an unknown key, a key twice, or anything that Text
// would refuse is an error with its line.
func Parse(text string) (Config, error) {
	var p parser
	for i, line := range strings.Split(text, "\n") {
		if err := p.line(line); err != nil {
			return Config{}, fmt.Errorf("reading the WireGuard file: line %d: %w", i+1, err)
		}
	}
	if _, err := p.config.Text(); err != nil {
		return Config{}, fmt.Errorf("reading the WireGuard file: %w", err)
	}
	return p.config, nil
}

type parser struct {
	config Config
	name   string          // from the comment before the next peer
	seen   map[string]bool // keys of the current section
	peer   bool            // the current section is a peer's
}

func (p *parser) line(line string) error {
	if name, ok := strings.CutPrefix(line, nameComment); ok {
		p.name = name
		return nil
	}
	switch key, value, isValue := strings.Cut(line, " = "); {
	case line == "" || strings.HasPrefix(line, "#"):
		return nil
	case line == "[Interface]" && p.seen == nil:
		p.seen = map[string]bool{}
		return nil
	case line == "[Peer]" && p.seen != nil:
		p.config.Peers = append(p.config.Peers, Peer{Name: p.name})
		p.seen, p.peer, p.name = map[string]bool{}, true, ""
		return nil
	case isValue && p.seen != nil && !p.seen[key]:
		p.seen[key] = true
		if p.peer {
			return p.config.Peers[len(p.config.Peers)-1].set(key, value)
		}
		return p.config.set(key, value)
	}
	return fmt.Errorf("%q is out of place", line)
}

func (c *Config) set(key, value string) (err error) {
	if key != "ListenPort" {
		return fmt.Errorf("%q is not known", key)
	}
	c.ListenPort, err = strconv.Atoi(value)
	return err
}

func (p *Peer) set(key, value string) (err error) {
	switch key {
	case "PublicKey":
		p.PublicKey = value
	case "AllowedIPs":
		for _, text := range strings.Split(value, ", ") {
			prefix, err := netip.ParsePrefix(text)
			if err != nil {
				return err
			}
			p.AllowedIPs = append(p.AllowedIPs, prefix)
		}
	case "Endpoint":
		p.Endpoint = value
	case "PersistentKeepalive":
		p.Keepalive, err = strconv.Atoi(value)
	default:
		return fmt.Errorf("%q is not known", key)
	}
	return err
}

package fakecharon

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
)

// Message is a section: values are text, lists of text and sections.
type Message map[string]any

func (m Message) text(key string) string {
	text, _ := m[key].(string)
	return text
}

func (m Message) list(key string) []string {
	list, _ := m[key].([]string)
	return list
}

func (m Message) section(key string) Message {
	sub, _ := m[key].(Message)
	return sub
}

// Kinds of packets.
const (
	request byte = iota
	response
	requestUnknown
	register
	unregister
	confirm
	eventUnknown
	event
)

// Kinds of a message's elements.
const (
	sectionStart byte = iota + 1
	sectionEnd
	keyValue
	listStart
	listItem
	listEnd
)

// maxPacket is charon's limit.
const maxPacket = 512 * 1024

type packet struct {
	kind byte
	name string // of a request, a registration and an event
	body Message
}

func named(kind byte) bool {
	return kind == request || kind == register || kind == unregister || kind == event
}

func (p packet) write(w io.Writer) error {
	b := append(make([]byte, 4), p.kind)
	if named(p.kind) {
		b = append(append(b, byte(len(p.name))), p.name...)
	}
	b = p.body.append(b)
	binary.BigEndian.PutUint32(b, uint32(len(b)-4))
	_, err := w.Write(b)
	return err
}

// append writes the elements sorted by key, sections last: swanctl prints as it
// reads, and counts on a section's values before its subsections.
func (m Message) append(b []byte) []byte {
	var sections []string
	for _, key := range slices.Sorted(maps.Keys(m)) {
		switch v := m[key].(type) {
		case string:
			b = appendValue(appendKey(b, keyValue, key), v)
		case []string:
			b = appendKey(b, listStart, key)
			for _, item := range v {
				b = appendValue(append(b, listItem), item)
			}
			b = append(b, listEnd)
		case Message:
			sections = append(sections, key)
		default:
			panic(fmt.Sprintf("fakecharon: %s is a %T", key, v))
		}
	}
	for _, key := range sections {
		b = append(m.section(key).append(appendKey(b, sectionStart, key)), sectionEnd)
	}
	return b
}

func appendKey(b []byte, kind byte, key string) []byte {
	return append(append(b, kind, byte(len(key))), key...)
}

func appendValue(b []byte, value string) []byte {
	return append(binary.BigEndian.AppendUint16(b, uint16(len(value))), value...)
}

func readPacket(r io.Reader) (packet, error) {
	var length [4]byte
	if _, err := io.ReadFull(r, length[:]); err != nil {
		return packet{}, err
	}
	n := binary.BigEndian.Uint32(length[:])
	if n == 0 || n > maxPacket {
		return packet{}, errMalformed
	}
	b := make([]byte, n)
	if _, err := io.ReadFull(r, b); err != nil {
		return packet{}, err
	}
	c := &cursor{rest: b}
	p := packet{kind: c.octet()}
	if named(p.kind) {
		p.name = c.take(int(c.octet()))
	}
	p.body = c.message(false)
	return p, c.err
}

var errMalformed = errors.New("malformed packet")

// cursor reads a packet from front to end and remembers that it was too short.
type cursor struct {
	rest []byte
	err  error
}

func (c *cursor) take(n int) string {
	if n > len(c.rest) {
		c.err, c.rest = errMalformed, nil
		return ""
	}
	taken := string(c.rest[:n])
	c.rest = c.rest[n:]
	return taken
}

func (c *cursor) octet() byte {
	if text := c.take(1); text != "" {
		return text[0]
	}
	return 0
}

func (c *cursor) value() string {
	high, low := c.octet(), c.octet()
	return c.take(int(high)<<8 | int(low))
}

// message reads elements up to the end of the section, or of the packet.
func (c *cursor) message(nested bool) Message {
	m := Message{}
	for c.err == nil && (nested || len(c.rest) > 0) {
		kind := c.octet()
		if kind == sectionEnd && nested {
			return m
		}
		key := c.take(int(c.octet()))
		switch kind {
		case keyValue:
			m[key] = c.value()
		case sectionStart:
			m[key] = c.message(true)
		case listStart:
			m[key] = c.items()
		default:
			c.err = errMalformed
		}
	}
	return m
}

func (c *cursor) items() []string {
	list := []string{}
	for c.err == nil {
		switch c.octet() {
		case listItem:
			list = append(list, c.value())
		case listEnd:
			return list
		default:
			c.err = errMalformed
		}
	}
	return list
}

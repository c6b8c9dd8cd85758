package swanctl

import (
	"fmt"
	"strings"

	"github.com/vpnctl/vpnctl/plan/resource"
)

// Section is a named block of settings, as strongSwan's configuration files nest
// them. Its values and sections keep the order of the file.
type Section struct {
	Name     string
	Values   []Value
	Sections []Section
}

// Value is one setting. Lists are one text, separated by commas.
type Value struct{ Key, Text string }

// Get finds a value.
func (s Section) Get(key string) (string, bool) {
	for _, v := range s.Values {
		if v.Key == key {
			return v.Text, true
		}
	}
	return "", false
}

// Section finds a nested section.
func (s Section) Section(name string) (Section, bool) {
	for _, sub := range s.Sections {
		if sub.Name == name {
			return sub, true
		}
	}
	return Section{}, false
}

// write appends the section's text, refusing what would not be read back as it is.
func (s Section) write(b *strings.Builder, indent string) error {
	if !isName(s.Name) {
		return fmt.Errorf("section name %q is not allowed", s.Name)
	}
	b.WriteString(indent + s.Name + " {\n")
	for _, v := range s.Values {
		if !isName(v.Key) || !isText(v.Text) {
			return fmt.Errorf("%s: value %q of %s is not allowed", s.Name, v.Text, v.Key)
		}
		b.WriteString(indent + "  " + v.Key + " = " + v.Text + "\n")
	}
	for _, sub := range s.Sections {
		if err := sub.write(b, indent+"  "); err != nil {
			return fmt.Errorf("%s: %w", s.Name, err)
		}
	}
	b.WriteString(indent + "}\n")
	return nil
}

// isName allows what a section or key of ours is made of. A dot, a colon and a
// comma mean something to strongSwan in a name, and so does the word include.
func isName(s string) bool {
	return s != "" && s != "include" && only(s, "-_")
}

// isText allows a plain value: no quotes, no braces, no comment sign, no line
// break, no space at its ends. The mark of what is not known yet is let through: such
// a text is shown and never loaded.
func isText(s string) bool {
	if s == resource.Unknown {
		return true
	}
	return s != "" && only(s, "-_.:/@,% ") && strings.TrimSpace(s) == s
}

func only(s, extra string) bool {
	for _, r := range s {
		letter := r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9'
		if !letter && !strings.ContainsRune(extra, r) {
			return false
		}
	}
	return true
}

package nat

import (
	"fmt"
	"strings"

	"github.com/vpnctl/vpnctl/plan/resource"
)

// TableName is the one table of a gateway pod. Its family is inet, so that the
// forward policy holds for IPv6 as well.
const TableName = "vpnctl"

// Table is a ruleset as nftables structures it.
type Table struct {
	Sets   []Set
	Chains []Chain
}

// Set is a named set, or a named map where its type has a colon.
type Set struct {
	Name     string
	Type     string // "ipv4_addr . inet_service : verdict"
	Interval bool
	Size     int // of a set that the kernel fills, as packets come; 0: it doesn't
	Elements []Element
}

// Element is one element in nft's own spelling, with a note for people.
type Element struct {
	Text string
	Note string
}

// Chain is a base chain. Base is its type, hook, priority and policy.
type Chain struct {
	Name  string
	Base  string
	Rules []string
}

// Set finds a set or map by name.
func (t Table) Set(name string) (Set, bool) {
	for _, s := range t.Sets {
		if s.Name == name {
			return s, true
		}
	}
	return Set{}, false
}

func (s Set) keyword() string {
	if strings.Contains(s.Type, ":") {
		return "map"
	}
	return "set"
}

// Text writes the ruleset. The pair of lines at its head makes the replacement
// atomic: declaring the table first keeps deleting it from failing. What could
// break out of its place is an error that names it.
func (t Table) Text() (string, error) {
	if err := t.check(); err != nil {
		return "", fmt.Errorf("writing the nftables ruleset: %w", err)
	}
	var b strings.Builder
	fmt.Fprintf(&b, "table inet %s\ndelete table inet %s\ntable inet %s {\n", TableName, TableName, TableName)
	for _, s := range t.Sets {
		s.write(&b)
	}
	for _, c := range t.Chains {
		fmt.Fprintf(&b, "\tchain %s {\n\t\t%s\n", c.Name, c.Base)
		for _, r := range c.Rules {
			b.WriteString("\t\t" + r + "\n")
		}
		b.WriteString("\t}\n")
	}
	b.WriteString("}\n")
	return b.String(), nil
}

// write puts one element on each line, so that a diff shows which grant changed.
func (s Set) write(b *strings.Builder) {
	fmt.Fprintf(b, "\t%s %s {\n\t\ttype %s\n", s.keyword(), s.Name, s.Type)
	if s.Interval {
		b.WriteString("\t\tflags interval\n")
	}
	if s.Size > 0 {
		fmt.Fprintf(b, "\t\tflags dynamic\n\t\tsize %d\n", s.Size)
	}
	if len(s.Elements) > 0 {
		b.WriteString("\t\telements = {\n")
		for _, e := range s.Elements {
			b.WriteString("\t\t\t" + e.Text + ",")
			if e.Note != "" {
				b.WriteString(" # " + e.Note)
			}
			b.WriteString("\n")
		}
		b.WriteString("\t\t}\n")
	}
	b.WriteString("\t}\n")
}

func (t Table) check() error {
	for _, s := range t.Sets {
		if !isName(s.Name) || !only(s.Type, "_.: ") || strings.TrimSpace(s.Type) != s.Type || s.Type == "" {
			return fmt.Errorf("set %q of type %q is not allowed", s.Name, s.Type)
		}
		for _, e := range s.Elements {
			if !isElement(e.Text) || !only(e.Note, "-./, ") || strings.TrimSpace(e.Note) != e.Note {
				return fmt.Errorf("set %s: element %q (%s) is not allowed", s.Name, e.Text, e.Note)
			}
		}
	}
	for _, c := range t.Chains {
		if !isName(c.Name) || !isRule(c.Base) {
			return fmt.Errorf("chain %q is not allowed", c.Name)
		}
		for _, r := range c.Rules {
			if !isRule(r) {
				return fmt.Errorf("chain %s: rule %q is not allowed", c.Name, r)
			}
		}
	}
	return nil
}

func isName(s string) bool {
	return s != "" && only(s, "-_") && !strings.ContainsAny(s[:1], "-0123456789")
}

// isElement allows addresses, networks, port ranges and verdicts, joined as nft
// joins them, and the mark of what is not known yet.
func isElement(s string) bool {
	s = strings.ReplaceAll(s, resource.Unknown, "x")
	return s != "" && only(s, "./:- ") && strings.TrimSpace(s) == s
}

// isRule allows what rules of ours are made of: one line, and braces only in
// pairs on that line.
func isRule(s string) bool {
	s = strings.ReplaceAll(s, resource.Unknown, "x")
	return s != "" && only(s, `./:-_ {},@!="+;`) && strings.TrimSpace(s) == s &&
		strings.Count(s, "{") == strings.Count(s, "}") && !strings.HasPrefix(s, "}") && !strings.HasSuffix(s, "{")
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

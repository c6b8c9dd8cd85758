package nat

import (
	"fmt"
	"strconv"
	"strings"
)

// Parse reads what Text wrote; any other shape is an error with its line.
func Parse(text string) (Table, error) {
	p := &parser{lines: strings.Split(text, "\n")}
	t, err := p.table()
	if err != nil {
		return Table{}, fmt.Errorf("reading the nftables ruleset: line %d: %w", p.next, err)
	}
	return t, t.check()
}

type parser struct {
	lines []string
	next  int
}

// line takes the next line without its indentation.
func (p *parser) line() string {
	if p.next >= len(p.lines) {
		p.next++
		return ""
	}
	p.next++
	return strings.TrimLeft(p.lines[p.next-1], "\t")
}

func (p *parser) table() (t Table, err error) {
	for _, want := range []string{"table inet " + TableName, "delete table inet " + TableName, "table inet " + TableName + " {"} {
		if got := p.line(); got != want {
			return t, fmt.Errorf("%q, not %q", got, want)
		}
	}
	for {
		line := p.line()
		name, open := strings.CutSuffix(line, " {")
		keyword, name, _ := strings.Cut(name, " ")
		switch {
		case line == "}":
			if p.line() != "" || p.next != len(p.lines) {
				return t, fmt.Errorf("text behind the table")
			}
			return t, nil
		case open && (keyword == "set" || keyword == "map"):
			s, err := p.set(keyword, name)
			if err != nil {
				return t, err
			}
			t.Sets = append(t.Sets, s)
		case open && keyword == "chain":
			c, err := p.chain(name)
			if err != nil {
				return t, err
			}
			t.Chains = append(t.Chains, c)
		default:
			return t, fmt.Errorf("%q is out of place", line)
		}
	}
}

func (p *parser) set(keyword, name string) (Set, error) {
	s := Set{Name: name}
	kind, ok := strings.CutPrefix(p.line(), "type ")
	s.Type = kind
	if !ok || s.keyword() != keyword {
		return s, fmt.Errorf("%s %s has no type that fits", keyword, name)
	}
	for {
		switch line := p.line(); line {
		case "flags interval":
			s.Interval = true
		case "flags dynamic":
			size, _ := strings.CutPrefix(p.line(), "size ")
			var err error
			if s.Size, err = strconv.Atoi(size); err != nil {
				return s, fmt.Errorf("size of %s %s: %w", keyword, name, err)
			}
		case "elements = {":
			var err error
			if s.Elements, err = p.elements(); err != nil {
				return s, err
			}
		case "}":
			return s, nil
		default:
			return s, fmt.Errorf("%q is out of place in %s %s", line, keyword, name)
		}
	}
}

func (p *parser) elements() ([]Element, error) {
	var all []Element
	for {
		line := p.line()
		if line == "}" {
			return all, nil
		}
		text, note, _ := strings.Cut(line, " # ")
		text, ok := strings.CutSuffix(text, ",")
		if !ok {
			return nil, fmt.Errorf("%q is no element", line)
		}
		all = append(all, Element{Text: text, Note: note})
	}
}

func (p *parser) chain(name string) (Chain, error) {
	c := Chain{Name: name, Base: p.line()}
	for {
		switch line := p.line(); line {
		case "}":
			return c, nil
		case "":
			return c, fmt.Errorf("the text ends inside of chain %s", name)
		default:
			c.Rules = append(c.Rules, line)
		}
	}
}

package swanctl

import (
	"fmt"
	"strings"
)

// ParseSections reads a configuration text as nested sections. It knows the part
// of strongSwan's syntax that Text writes, and whole-line comments; anything else
// is an error with its line.
func ParseSections(text string) ([]Section, error) {
	r := &reader{lines: strings.Split(text, "\n")}
	root, err := r.body(0)
	if err != nil {
		return nil, fmt.Errorf("line %d: %w", r.next, err)
	}
	if len(root.Values) > 0 {
		return nil, fmt.Errorf("%s stands outside of every section", root.Values[0].Key)
	}
	return root.Sections, nil
}

// maxDepth bounds the nesting; the deepest of ours is 4.
const maxDepth = 8

type reader struct {
	lines []string
	next  int
}

// body reads values and sections up to the closing brace, or the end of the text
// for the outermost.
func (r *reader) body(depth int) (Section, error) {
	var s Section
	if depth > maxDepth {
		return s, fmt.Errorf("nested too deep")
	}
	for r.next < len(r.lines) {
		line := strings.TrimSpace(r.lines[r.next])
		r.next++
		switch key, value, isValue := strings.Cut(line, "="); {
		case line == "" || strings.HasPrefix(line, "#"):
		case line == "}" && depth > 0:
			return s, nil
		case isValue:
			if err := s.add(strings.TrimSpace(key), strings.TrimSpace(value)); err != nil {
				return s, err
			}
		case strings.HasSuffix(line, "{"):
			sub, err := r.section(strings.TrimSpace(strings.TrimSuffix(line, "{")), depth)
			if err != nil {
				return s, err
			}
			if _, twice := s.Section(sub.Name); twice {
				return s, fmt.Errorf("section %s is there twice", sub.Name)
			}
			s.Sections = append(s.Sections, sub)
		default:
			return s, fmt.Errorf("%q is neither a value nor a section", line)
		}
	}
	if depth > 0 {
		return s, fmt.Errorf("the text ends inside of a section")
	}
	return s, nil
}

func (r *reader) section(name string, depth int) (Section, error) {
	if !isName(name) {
		return Section{}, fmt.Errorf("section name %q is not allowed", name)
	}
	s, err := r.body(depth + 1)
	s.Name = name
	return s, err
}

func (s *Section) add(key, text string) error {
	if !isName(key) || !isText(text) {
		return fmt.Errorf("value %q of %q is not allowed", text, key)
	}
	if _, twice := s.Get(key); twice {
		return fmt.Errorf("%s is there twice", key)
	}
	s.Values = append(s.Values, Value{key, text})
	return nil
}

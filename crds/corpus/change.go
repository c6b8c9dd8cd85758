package corpus

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// change carries out one line on an object.
func change(object map[string]any, line string) error {
	if at, ok := strings.CutPrefix(line, "- "); ok {
		return put(object, at, nil, true)
	}
	times := 0
	if count, rest, ok := strings.Cut(line, " "); ok {
		if n, err := strconv.Atoi(count); err == nil {
			times, line = n, rest
		}
	}
	at, text, ok := strings.Cut(line, ": ")
	if !ok {
		return fmt.Errorf("a line is <field>: <value>")
	}
	value, err := value(text, times)
	if err != nil {
		return err
	}
	return put(object, at, value, false)
}

// value reads YAML, and repeats a text or a list's only entry as often as is said.
func value(text string, times int) (any, error) {
	one, err := read("value: " + text)
	if err != nil {
		return nil, err
	}
	switch v := one["value"].(type) {
	case string:
		return strings.Repeat(v, max(times, 1)), nil
	case []any:
		if times > 0 {
			return repeat(text, times)
		}
	}
	return one["value"], nil
}

func repeat(text string, times int) (any, error) {
	var all []any
	for i := range times {
		one, err := read("value: " + strings.ReplaceAll(text, "%", strconv.Itoa(i)))
		if err != nil {
			return nil, err
		}
		all = append(all, one["value"].([]any)...)
	}
	return all, nil
}

// put sets or removes what is at a path, such as spec.tunnels[0].name. Mappings on the
// way are made; entries of lists have to be there, or be the next one.
func put(object map[string]any, path string, value any, remove bool) error {
	steps := strings.FieldsFunc(path, func(r rune) bool { return r == '.' || r == '[' || r == ']' })
	_, err := within(object, steps, value, remove)
	return err
}

// within gives what is to stand in the place of what it was given.
func within(node any, steps []string, value any, remove bool) (any, error) {
	step, last := steps[0], len(steps) == 1
	i, err := strconv.Atoi(step)
	if node == nil && err == nil {
		node = []any{}
	}
	if list, ok := node.([]any); ok {
		switch {
		case err != nil || i > len(list):
			return nil, fmt.Errorf("there is no entry %s", step)
		case last && remove:
			return slices.Delete(list, i, i+1), nil
		case i == len(list):
			list = append(list, nil)
		}
		list[i], err = inside(list[i], steps, value, remove)
		return list, err
	}
	if node == nil {
		node = map[string]any{}
	}
	fields, ok := node.(map[string]any)
	if !ok {
		return nil, fmt.Errorf("%s is in no mapping", step)
	}
	if last && remove {
		if _, ok := fields[step]; !ok {
			return nil, fmt.Errorf("there is no %s to remove", step)
		}
		delete(fields, step)
		return fields, nil
	}
	fields[step], err = inside(fields[step], steps, value, remove)
	return fields, err
}

func inside(node any, steps []string, value any, remove bool) (any, error) {
	if len(steps) == 1 {
		return value, nil
	}
	return within(node, steps[1:], value, remove)
}

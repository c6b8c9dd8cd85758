package view

import (
	"slices"
	"strings"

	"github.com/vpnctl/vpnctl/plan"
)

// attributes writes what differs, below a change. A create or delete says it
// only when everything was asked for.
func (t *text) attributes(c plan.Change) {
	if (c.Action == plan.Create || c.Action == plan.Delete) && !t.o.Verbose {
		return
	}
	reasons := ruleReasons(c)
	for _, a := range c.Attributes {
		if first(c, a) && !t.o.Verbose {
			continue
		}
		lines := difference(a)
		if len(c.Attributes) == 1 && a.Diff != "" {
			lines = lines[1:] // it is clear what differs
		}
		if a.Diff != "" && !t.o.Verbose {
			lines = withoutAgent(lines)
		}
		for _, line := range lines {
			t.signed(diffSign(line), detailIndent, t.ink.diff(line), reasons[strings.TrimPrefix(line, "+ ")])
		}
	}
}

// first tells whether an attribute is one that a security group, when it is adopted, is the
// first to have: the line itself says which allocations go on its ledger.
func first(c plan.Change, a plan.Attribute) bool {
	return c.Action == plan.Adopt && c.After.SecurityGroup != nil && len(c.Before.SecurityGroup.Ledger) == 0 && a.Name != "rules" && a.Before == ""
}

// diffSign is the sign of a line of a diff, ' ' where it has none.
func diffSign(line string) byte {
	if line != "" && strings.IndexByte("+-@", line[0]) >= 0 {
		return line[0]
	}
	return ' '
}

// ruleReasons says for whom the rules of a security group are.
func ruleReasons(c plan.Change) map[string]string {
	reasons := map[string]string{}
	if c.After != nil && c.After.SecurityGroup != nil {
		for _, r := range c.After.SecurityGroup.Rules {
			reasons[Plain(r.String())] = "  " + Plain(r.Why)
		}
	}
	return reasons
}

// difference writes one attribute as the lines of a diff: "address: a → b"
// where both sides are short, + and - lines where one is a list, or the unified
// diff of a text.
func difference(a plan.Attribute) []string {
	name := Plain(a.Name)
	switch {
	case a.Diff != "":
		return append([]string{"@@ " + name}, textLines(a.Diff)...)
	case a.Name == "rules" || !single(a.Before) || !single(a.After):
		return append([]string{name}, setDifference(textLines(a.Before), textLines(a.After))...)
	case a.Before == "":
		return []string{"+ " + name + ": " + Plain(a.After)}
	case a.After == "":
		return []string{"- " + name + ": " + Plain(a.Before)}
	}
	return []string{name + ": " + Plain(a.Before) + " → " + Plain(a.After)}
}

func single(s string) bool { return !strings.Contains(strings.TrimSuffix(s, "\n"), "\n") }

// setDifference lists what comes and what goes; lines on both sides are left out.
func setDifference(before, after []string) []string {
	var all []string
	for _, line := range after {
		if !slices.Contains(before, line) {
			all = append(all, "+ "+line)
		}
	}
	for _, line := range before {
		if !slices.Contains(after, line) {
			all = append(all, "- "+line)
		}
	}
	return all
}

func textLines(s string) []string {
	if s == "" {
		return nil
	}
	lines := strings.Split(strings.TrimSuffix(s, "\n"), "\n")
	for i, line := range lines {
		lines[i] = plainText(line)
	}
	return lines
}

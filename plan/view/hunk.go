package view

import (
	"fmt"
	"strings"
)

// agentFile heads the hunks of what the agent alone reads: it repeats what the
// other files of the ConfigMap and the table of grants say.
const agentFile = "@@ data.agent.json"

// withoutAgent leaves out the hunks of agent.json, and says how many. A hunk
// that reaches into another file stays.
func withoutAgent(lines []string) []string {
	var kept []string
	hidden := 0
	for start := 0; start < len(lines); {
		end := start + 1
		for end < len(lines) && !strings.HasPrefix(lines[end], "@@") {
			end++
		}
		if hunk := lines[start:end]; strings.HasPrefix(hunk[0], agentFile) && within(hunk[1:]) {
			hidden++
		} else {
			kept = append(kept, hunk...)
		}
		start = end
	}
	if hidden > 0 {
		kept = append(kept, fmt.Sprintf("agent.json too, in %s: -v", count(hidden, "place")))
	}
	return kept
}

// within tells whether all lines of a hunk are deep inside one file: a key of
// the ConfigMap itself stands two columns in.
func within(hunk []string) bool {
	for _, line := range hunk {
		if text := strings.TrimPrefix(line, line[:min(1, len(line))]); text != "" && !strings.HasPrefix(text, "   ") {
			return false
		}
	}
	return true
}

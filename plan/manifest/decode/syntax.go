package decode

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"regexp"
	"sort"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"
)

// maxSearched bounds the text that is read again to find the line of an error.
const maxSearched = 4 << 20

// yamlLine is how the YAML reader names a line in its errors.
var yamlLine = regexp.MustCompile(`^(?:yaml: )?(?:line (\d+): )?`)

// syntax turns an error of the YAML reader into a problem. The reader names the
// line where the block starts that it was in, which may be far above; the line
// where it stopped is found by reading again.
func syntax(c chunk, err error) Problem {
	lines := bytes.SplitAfter(c.text, []byte("\n"))
	said := yamlLine.FindStringSubmatch(err.Error())
	line, _ := strconv.Atoi(said[1])
	text := strings.TrimPrefix(err.Error(), said[0])
	if len(c.text) <= maxSearched {
		line = stopped(c.text, lines, err)
	}
	line = min(max(line, 1), len(lines))
	if tab := tabbed(lines, line); tab > 0 {
		return Problem{Line: tab + c.line, Column: 1, Message: "not YAML: a tab used for indentation", Hint: "indent with spaces"}
	}
	p := Problem{Line: line + c.line, Column: 1 + indentation(lines[line-1]), Message: "not YAML: " + text}
	if other := misaligned(lines, line); other > 0 && !strings.Contains(text, "',' or") {
		p.Message += fmt.Sprintf(", indented differently from line %d", other+c.line)
	}
	if strings.Contains(text, "unexpected end") || strings.Contains(text, "end of stream") {
		p.Hint = "the file ends too early"
	}
	return p
}

// stopped finds the first line with which the text has this very error: the lines
// before it are sound, or lack only their end.
func stopped(text []byte, lines [][]byte, err error) int {
	ends := make([]int, len(lines))
	end := 0
	for i, line := range lines {
		end += len(line)
		ends[i] = end
	}
	return 1 + sort.Search(len(lines)-1, func(i int) bool {
		found := failure(text[:ends[i]])
		return found != nil && found.Error() == err.Error()
	})
}

// failure is the first error of the YAML reader on a text.
func failure(text []byte) error {
	dec := yaml.NewDecoder(bytes.NewReader(text))
	for {
		var node yaml.Node
		switch err := dec.Decode(&node); {
		case errors.Is(err, io.EOF):
			return nil
		case err != nil:
			return err
		}
	}
}

// tabbed finds a line indented by a tab at or next to the one given.
func tabbed(lines [][]byte, line int) int {
	for _, n := range []int{line, line + 1, line - 1} {
		if n >= 1 && n <= len(lines) && bytes.HasPrefix(bytes.TrimLeft(lines[n-1], " "), []byte("\t")) {
			return n
		}
	}
	return 0
}

func indentation(line []byte) int { return len(line) - len(bytes.TrimLeft(line, " ")) }

// misaligned returns the line before one whose indentation fits no line above
// it, and 0 for all others.
func misaligned(lines [][]byte, line int) int {
	var levels []int
	last, opens := 0, false
	for n, text := range lines[:line-1] {
		content := bytes.TrimSpace(text)
		if len(content) == 0 || content[0] == '#' || separator(text) {
			continue
		}
		levels = level(levels, indentation(text))
		for rest := text; bytes.HasPrefix(bytes.TrimLeft(rest, " "), []byte("- ")); { // what follows is a level of its own
			dash := bytes.IndexByte(rest, '-')
			rest = append(bytes.Repeat([]byte(" "), dash+1), rest[dash+1:]...)
			levels = level(levels, indentation(rest))
		}
		last, opens = n+1, bytes.HasSuffix(content, []byte(":")) || bytes.HasSuffix(content, []byte("-"))
	}
	if last == 0 {
		return 0
	}
	indent, top := indentation(lines[line-1]), levels[len(levels)-1]
	i := sort.SearchInts(levels, indent)
	if i < len(levels) && levels[i] == indent || indent > top && opens {
		return 0
	}
	return last
}

// level ends the levels that lie deeper than an indentation, and adds that.
func level(levels []int, indent int) []int {
	for len(levels) > 0 && levels[len(levels)-1] >= indent {
		levels = levels[:len(levels)-1]
	}
	return append(levels, indent)
}

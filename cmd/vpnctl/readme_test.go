package main

import (
	"bytes"
	"flag"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

var rewrite = flag.Bool("update", false, "rewrite the output in the README's console blocks")

const readme = root + "README.md"

// TestReadmeConsole carries out what the README shows. A block
//
//	```console acme
//	$ vpnctl plan --sim
//	what it prints
//	```
//
// runs in a copy of examples/acme, in bash; blocks with the same words continue in
// the same copy ("console acme" and "console acme prune" are two). A line "..."
// stands for any lines. With -update, output that differs is written anew, with one
// "..." where it stood before.
func TestReadmeConsole(t *testing.T) {
	lines := readmeLines(t)
	places := map[string]*place{}
	var out []string
	steps := 0
	for i := 0; i < len(lines); i++ {
		out = append(out, lines[i])
		words, ok := strings.CutPrefix(lines[i], "```console")
		if !ok {
			continue
		}
		p := places[words]
		if p == nil {
			p = newPlace(t, words, i+1)
			places[words] = p
		}
		first := i + 1
		for i++; i < len(lines) && lines[i] != "```"; i++ {
		}
		for _, s := range stepsOf(t, lines[first:i], first) {
			steps++
			out = append(out, "$ "+s.command)
			out = append(out, p.check(t, s)...)
		}
		out = append(out, "```")
	}
	if steps < 10 {
		t.Errorf("the README shows %d commands: is the test looking at the right file?", steps)
	}
	if *rewrite && !t.Failed() {
		if err := os.WriteFile(readme, []byte(strings.Join(out, "\n")), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

// TestReadmeFiles: a block "```yaml FILE" shows that file. A line "..." stands for any
// lines.
func TestReadmeFiles(t *testing.T) {
	lines := readmeLines(t)
	shown := 0
	for i, line := range lines {
		name, ok := strings.CutPrefix(line, "```yaml examples/")
		if !ok {
			continue
		}
		shown++
		block := lines[i+1 : i+1+slices.Index(lines[i+1:], "```")]
		file := strings.Split(strings.TrimRight(source(t, "examples/"+name), "\n"), "\n")
		if !matches(block, file) {
			t.Errorf("README.md:%d: examples/%s (-README +file):\n%s", i+1, name, cmp.Diff(block, file))
		}
	}
	if shown < 5 {
		t.Errorf("the README shows %d files", shown)
	}
}

func readmeLines(t *testing.T) []string {
	t.Helper()
	text, err := os.ReadFile(readme)
	if err != nil {
		t.Fatal(err)
	}
	return strings.Split(string(text), "\n")
}

// step is one command and what stands below it.
type step struct {
	command string
	line    int // in the README
	want    []string
}

func stepsOf(t *testing.T, block []string, offset int) []step {
	t.Helper()
	var steps []step
	for i, line := range block {
		command, ok := strings.CutPrefix(line, "$ ")
		switch {
		case ok:
			steps = append(steps, step{command: command, line: offset + i + 1})
		case len(steps) == 0:
			t.Fatalf("README.md:%d: output without a command", offset+i+1)
		default:
			s := &steps[len(steps)-1]
			s.want = append(s.want, line)
		}
	}
	return steps
}

// place is a copy of an example and the exit code of the last command there.
type place struct {
	dir  string
	code int
}

func newPlace(t *testing.T, words string, line int) *place {
	t.Helper()
	example := strings.Fields(words)
	if len(example) == 0 {
		t.Fatalf("README.md:%d: the block names no example", line)
	}
	dir := t.TempDir()
	if err := os.CopyFS(dir, os.DirFS(filepath.Join(root, "examples", example[0]))); err != nil {
		t.Fatalf("README.md:%d: %v", line, err)
	}
	return &place{dir: dir}
}

// check runs a step and returns the lines that belong below it.
func (p *place) check(t *testing.T, s step) []string {
	t.Helper()
	got := p.run(t, s.command)
	if matches(s.want, got) {
		return s.want
	}
	if !*rewrite {
		t.Errorf("README.md:%d: $ %s (-README +real):\n%s", s.line, s.command, cmp.Diff(s.want, got))
	}
	return shortened(s.want, got)
}

// shortened leaves out what stands between as many first and last lines as were
// shown before.
func shortened(want, got []string) []string {
	head := slices.Index(want, "...")
	tail := len(want) - head - 1
	if head < 0 || len(got) <= head+tail || slices.Contains(want[head+1:], "...") {
		return got
	}
	return slices.Concat(got[:head], []string{"..."}, got[len(got)-tail:])
}

// run gives what a terminal would show: stdout and stderr as they come. $? is the
// exit code of the command before.
func (p *place) run(t *testing.T, command string) []string {
	t.Helper()
	c := exec.CommandContext(t.Context(), "bash", "-c", `(exit "$CODE")`+"\n"+command)
	c.Dir = p.dir
	c.Env = []string{"PATH=" + os.Getenv("PATH"), "HOME=" + p.dir, "CODE=" + strconv.Itoa(p.code)}
	var out bytes.Buffer
	c.Stdout, c.Stderr = &out, &out
	if err := c.Run(); c.ProcessState == nil { // one that fails is part of what is shown
		t.Fatal(err)
	}
	p.code = c.ProcessState.ExitCode()
	text := strings.TrimRight(out.String(), "\n")
	if text == "" {
		return nil
	}
	return strings.Split(text, "\n")
}

// matches compares with what the README shows. Something must be shown where
// something is printed.
func matches(want, got []string) bool {
	var pattern strings.Builder
	shown := 0
	for _, line := range want {
		if line == "..." {
			pattern.WriteString(`(?:.*\n)*`)
			continue
		}
		shown++
		pattern.WriteString(regexp.QuoteMeta(normal(line)) + `\n`)
	}
	var text strings.Builder
	for _, line := range got {
		text.WriteString(normal(line) + "\n")
	}
	whole := regexp.MustCompile(`^` + pattern.String() + `$`)
	return (shown > 0 || len(got) == 0) && whole.MatchString(text.String())
}

// What differs from run to run: how long something took, what time it is, and
// the number of a request to OpenStack.
var changing = []struct {
	pattern *regexp.Regexp
	instead string
}{
	{regexp.MustCompile(`\b\d+\.\d s\b`), "0.0 s"},
	{regexp.MustCompile(`\b\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ`), "2026-01-01T00:00:00Z"},
	{regexp.MustCompile(`\breq-[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}\b`), "req-0"},
}

func normal(line string) string {
	for _, c := range changing {
		line = c.pattern.ReplaceAllString(line, c.instead)
	}
	return line
}

func TestReadmeMatches(t *testing.T) {
	got := []string{"Plan: no changes.", "7 API calls, 0.9 s"}
	for name, c := range map[string]struct {
		want []string
		ok   bool
	}{
		"the same":               {got, true},
		"another duration":       {[]string{"Plan: no changes.", "7 API calls, 12.0 s"}, true},
		"another number":         {[]string{"Plan: no changes.", "8 API calls, 0.9 s"}, false},
		"a line too few":         {got[:1], false},
		"a line too many":        {append([]string{"Estate"}, got...), false},
		"the rest left out":      {[]string{"Plan: no changes.", "..."}, true},
		"the beginning left out": {[]string{"...", "7 API calls, 0.9 s"}, true},
		"everything left out":    {[]string{"..."}, false},
		"nothing":                {nil, false},
	} {
		if matches(c.want, got) != c.ok {
			t.Errorf("%s: matches is %t", name, !c.ok)
		}
	}
}

func TestReadmeShortened(t *testing.T) {
	got := []string{"Estate", "a", "b", "c", "Plan"}
	for name, c := range map[string]struct{ was, want []string }{
		"first and last lines":   {[]string{"x", "...", "y"}, []string{"Estate", "...", "Plan"}},
		"last lines":             {[]string{"...", "x", "y"}, []string{"...", "c", "Plan"}},
		"nothing was left out":   {[]string{"x", "y"}, got},
		"two gaps":               {[]string{"...", "x", "..."}, got},
		"nothing is left to cut": {[]string{"x", "x", "x", "...", "y", "y"}, got},
	} {
		if diff := cmp.Diff(c.want, shortened(c.was, got)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}

package main

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/alecthomas/kong"
)

// everywhere is the README's section on the flags of all commands.
const everywhere = "Flags of every command"

// TestReadmeReference wants a section "### `vpnctl plan`" for each command, and in
// it each of its flags with every value that it takes.
func TestReadmeReference(t *testing.T) {
	sections := readmeSections(t)
	var g grammar
	parser, err := newParser(&g, &streams{stdout: &bytes.Buffer{}, stderr: &bytes.Buffer{}})
	if err != nil {
		t.Fatal(err)
	}
	known := map[string]bool{}
	described := func(title string, flags []*kong.Flag) {
		text, ok := sections[title]
		if !ok {
			t.Errorf("README.md has no section %q", title)
		}
		for _, f := range flags {
			known[f.Name] = true
			for _, missing := range undescribed(text, f) {
				t.Errorf("README.md, %s: nothing about %s", title, missing)
			}
		}
	}
	described(everywhere, parser.Model.Flags)
	for _, leaf := range parser.Model.Leaves(true) {
		described("`"+typed(leaf)+"`", leaf.Flags)
	}
	for _, name := range readmeFlags(t) {
		if !known[name] {
			t.Errorf("README.md speaks of --%s, which no command has", name)
		}
	}
}

// typed is a command as one types it, without its arguments.
func typed(n *kong.Node) string {
	if n.Parent == nil {
		return n.Name
	}
	return typed(n.Parent) + " " + n.Name
}

// undescribed lists what of a flag a section does not show.
func undescribed(section string, f *kong.Flag) []string {
	var missing []string
	if !regexp.MustCompile("`--" + regexp.QuoteMeta(f.Name) + "[` =\\[]").MatchString(section) {
		missing = append(missing, "--"+f.Name)
	}
	if f.Short != 0 && !strings.Contains(section, "`-"+string(f.Short)) {
		missing = append(missing, "-"+string(f.Short))
	}
	for _, value := range enumOf(f.Value) {
		if !strings.Contains(section, value) {
			missing = append(missing, "--"+f.Name+" "+value)
		}
	}
	return missing
}

// readmeSections are the texts below the README's third-level titles.
func readmeSections(t *testing.T) map[string]string {
	t.Helper()
	sections := map[string]string{}
	title := ""
	for _, line := range readmeLines(t) {
		if strings.HasPrefix(line, "#") {
			title = strings.TrimPrefix(line, "### ")
			continue
		}
		if title != "" {
			sections[title] += line + "\n"
		}
	}
	return sections
}

// readmeFlags are the long flags that the README writes as `--flag`.
func readmeFlags(t *testing.T) []string {
	t.Helper()
	var names []string
	for _, m := range regexp.MustCompile("`--([a-z-]+)").FindAllStringSubmatch(strings.Join(readmeLines(t), "\n"), -1) {
		names = append(names, m[1])
	}
	return names
}

// TestReadmeLinks wants every file that the README points to.
func TestReadmeLinks(t *testing.T) {
	links := regexp.MustCompile(`\]\(([^)#:]+)\)`).FindAllStringSubmatch(strings.Join(readmeLines(t), "\n"), -1)
	if len(links) == 0 {
		t.Error("the README points to no file")
	}
	for _, m := range links {
		if _, err := os.Stat(filepath.Join(root, m[1])); err != nil {
			t.Errorf("README.md: %v", err)
		}
	}
}

func TestDemo(t *testing.T) {
	vpnctl, err := exec.LookPath("vpnctl")
	if err != nil {
		t.Fatal(err)
	}
	deaf, err := exec.LookPath("true")
	if err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		binary string
		code   int
		says   string
	}{
		"as it should be":            {vpnctl, 0, "The demo went as it should."},
		"a binary that says nothing": {deaf, 1, "The demo went wrong: "},
		"a binary that is not there": {filepath.Join(t.TempDir(), "vpnctl"), 1, "The demo went wrong: exit code 127"},
	} {
		demo := exec.CommandContext(t.Context(), root+"examples/demo.sh", c.binary)
		out, _ := demo.CombinedOutput()
		if code := demo.ProcessState.ExitCode(); code != c.code || !strings.Contains(string(out), c.says) {
			t.Errorf("%s: exit code %d, want %d and %q in:\n%s", name, code, c.code, c.says, out)
		}
	}
}

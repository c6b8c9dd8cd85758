package main

import (
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func completionScript(t *testing.T, shell string) string {
	t.Helper()
	var out strings.Builder
	s := &streams{stdin: strings.NewReader(""), stdout: &out, stderr: &out}
	if code := run([]string{"completion", shell}, s); code != exitDone {
		t.Fatalf("exit %d: %s", code, out.String())
	}
	return out.String()
}

// complete asks a real shell what it offers for a line, in a folder.
var complete = map[string]func(t *testing.T, script, line string) *exec.Cmd{
	"bash": func(_ *testing.T, script, line string) *exec.Cmd {
		var words []string
		for _, w := range strings.Split(strings.ReplaceAll(line, "=", " = "), " ") { // as bash does it
			words = append(words, quote(w))
		}
		return exec.Command("bash", "-c", script+"\nCOMP_WORDS=("+strings.Join(words, " ")+")\nCOMP_CWORD=$((${#COMP_WORDS[@]}-1))\n_vpnctl\nprintf '%s\\n' \"${COMPREPLY[@]}\"")
	},
	"zsh": func(t *testing.T, script, line string) *exec.Cmd {
		inner, err := filepath.Abs("testdata/complete.zsh")
		if err != nil {
			t.Fatal(err)
		}
		return exec.Command("zsh", "-f", inner, kept(t, script), line)
	},
	"fish": func(t *testing.T, script, line string) *exec.Cmd {
		return exec.Command("fish", "--no-config", "-c", "source "+kept(t, script)+"; complete -C "+quote(line))
	},
}

func kept(t *testing.T, script string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "script")
	if err := os.WriteFile(path, []byte(script), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// offers are the words that a shell offers, each once, without what was typed before an equals
// sign, what it says of them, and the slash of a folder.
func offers(t *testing.T, shell, script, dir, line string) []string {
	t.Helper()
	cmd := complete[shell](t, script, line)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "HOME="+dir)
	out, err := cmd.Output()
	if err != nil {
		t.Fatal(err)
	}
	var words []string
	for offer := range strings.Lines(string(out)) {
		word, _, _ := strings.Cut(strings.TrimSpace(offer), "\t")
		word = strings.TrimSuffix(word[strings.Index(word, "=")+1:], "/")
		if word != "" && !strings.HasPrefix(word, ".") {
			words = append(words, word)
		}
	}
	slices.Sort(words)
	return slices.Compact(words)
}

// TestShellsComplete runs the scripts in every shell that this machine has; bash
// always is there.
func TestShellsComplete(t *testing.T) {
	dir := t.TempDir()
	for _, folder := range []string{"gateways", "plan"} {
		if err := os.Mkdir(filepath.Join(dir, folder), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	for _, file := range []string{"gateway.yaml", "other.yaml"} {
		if err := os.WriteFile(filepath.Join(dir, file), nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for _, shell := range []string{"bash", "zsh", "fish"} {
		if _, err := exec.LookPath(shell); err != nil && shell != "bash" {
			t.Logf("%s is not installed here", shell)
			continue
		}
		script := completionScript(t, shell)
		for name, c := range map[string]struct {
			line string
			want []string
		}{
			"commands by their beginning":           {"vpnctl ver", []string{"version"}},
			"commands after a flag":                 {"vpnctl --sim va", []string{"validate"}},
			"commands after the value of a flag":    {"vpnctl --color never cr", []string{"crds"}},
			"a value that is called as a command":   {"vpnctl --estate plan cr", []string{"crds"}},
			"flags of the program":                  {"vpnctl --est", []string{"--estate"}},
			"flags of the program after a command":  {"vpnctl version --est", []string{"--estate"}},
			"flags of a command":                    {"vpnctl plan --allow", []string{"--allow-empty"}},
			"flags of another command":              {"vpnctl version --allow", nil},
			"a flag that may be given again":        {"vpnctl plan --gateway a/b --gat", []string{"--gateway"}},
			"the values of a flag":                  {"vpnctl --color n", []string{"never"}},
			"the values after an equals sign":       {"vpnctl --color=al", []string{"always"}},
			"all values after an equals sign":       {"vpnctl plan --only=", []string{"cloud", "kubernetes"}},
			"the values that one command knows":     {"vpnctl validate --format sa", []string{"sarif"}},
			"and another doesn't":                   {"vpnctl plan --format sa", nil},
			"the values of an argument":             {"vpnctl completion z", []string{"zsh"}},
			"what stands below a command":           {"vpnctl simulator req", []string{"request"}},
			"what needs no name of its own":         {"vpnctl simulator --faul", []string{"--faults"}},
			"flags of what stands below":            {"vpnctl simulator serve --faul", []string{"--faults"}},
			"flags of what stands beside":           {"vpnctl simulator request --faul", nil},
			"files for a command":                   {"vpnctl plan gat", []string{"gateway.yaml", "gateways"}},
			"files for what needs no name":          {"vpnctl render gat", []string{"gateway.yaml", "gateways"}},
			"what stands beside that":               {"vpnctl render con", []string{"controller"}},
			"the values of an argument below":       {"vpnctl render health f", []string{"flux"}},
			"files for one that takes none":         {"vpnctl crds gat", nil},
			"files for a flag":                      {"vpnctl crds --estate gateway.", []string{"gateway.yaml"}},
			"folders for a flag":                    {"vpnctl render --out gat", []string{"gateways"}},
			"folders for a value one may leave out": {"vpnctl plan --sim=gateways", []string{"gateways"}},
			"files for a value that is none":        {"vpnctl plan --gateway gat", nil},
			"nothing where nothing fits":            {"vpnctl version --nope", nil},
		} {
			t.Run(shell+": "+name, func(t *testing.T) {
				t.Parallel()
				if diff := cmp.Diff(c.want, offers(t, shell, script, dir, c.line)); diff != "" {
					t.Errorf("%s (-want +got):\n%s", c.line, diff)
				}
			})
		}
	}
}

// TestFlagsTakeValuesEverywhere: the scripts know by a flag's name alone whether a
// value follows, because the command may stand behind it.
func TestFlagsTakeValuesEverywhere(t *testing.T) {
	parser, err := newParser(&grammar{}, &streams{stdout: io.Discard, stderr: io.Discard})
	if err != nil {
		t.Fatal(err)
	}
	takes := map[string]string{}
	for _, c := range completables(parser.Model.Node, "", nil).all() {
		for _, f := range c.flags {
			for _, name := range f.dashed() {
				if before, known := takes[name]; known && before != fmt.Sprint(f.value) {
					t.Errorf("%s: a value follows it in one command only", name)
				}
				takes[name] = fmt.Sprint(f.value)
			}
		}
	}
	if takes["--out"] != "true" || takes["--prune"] != "false" {
		t.Errorf("known are %v", takes)
	}
}

func TestCompletionQuotesHelp(t *testing.T) {
	program := completable{below: []completable{{path: "x", help: "it's [one]: two", flags: []completableFlag{{name: "f", help: "it's [one]: two"}}}}}
	for shell, c := range map[string]struct{ script, want string }{
		"zsh":  {zshScript(program), `'--f[it'\''s \[one\]\: two]'`},
		"fish": {fishScript(program), `-d 'it'\''s [one]: two'`},
	} {
		if !strings.Contains(c.script, c.want) {
			t.Errorf("%s: no %s in\n%s", shell, c.want, c.script)
		}
	}
}

// TestShellsParse is run for every shell that this machine has; bash always is.
func TestShellsParse(t *testing.T) {
	for _, shell := range []string{"bash", "zsh", "fish"} {
		path, err := exec.LookPath(shell)
		if err != nil {
			t.Logf("%s is not installed here", shell)
			continue
		}
		cmd := exec.Command(path, "-n")
		cmd.Stdin = strings.NewReader(completionScript(t, shell))
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Errorf("%s: %v\n%s", filepath.Base(path), err, out)
		}
	}
}

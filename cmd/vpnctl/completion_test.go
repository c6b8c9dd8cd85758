package main

import (
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

// TestBashCompletes runs the script in a real bash.
func TestBashCompletes(t *testing.T) {
	script := completionScript(t, "bash")
	dir := t.TempDir()
	for name, c := range map[string]struct {
		line []string
		want []string
	}{
		"commands by their beginning":   {[]string{"vpnctl", "ver"}, []string{"version"}},
		"flags of a command":            {[]string{"vpnctl", "version", "--est"}, []string{"--estate"}},
		"the values of a flag":          {[]string{"vpnctl", "--color", "n"}, []string{"never"}},
		"the values after a split sign": {[]string{"vpnctl", "--color", "=", "al"}, []string{"always"}},
		"the values of an argument":     {[]string{"vpnctl", "completion", "z"}, []string{"zsh"}},
		"what stands below a command":   {[]string{"vpnctl", "simulator", "req"}, []string{"request"}},
		"flags of what stands below":    {[]string{"vpnctl", "simulator", "--faul"}, []string{"--faults"}},
		"nothing where nothing fits":    {[]string{"vpnctl", "version", "--nope"}, nil},
	} {
		t.Run(name, func(t *testing.T) {
			var words []string
			for _, w := range c.line {
				words = append(words, quote(w))
			}
			cmd := exec.Command("bash", "-c", script+"\nCOMP_WORDS=("+strings.Join(words, " ")+")\nCOMP_CWORD=$((${#COMP_WORDS[@]}-1))\n_vpnctl\nprintf '%s\\n' \"${COMPREPLY[@]}\"")
			cmd.Dir = dir
			out, err := cmd.Output()
			if err != nil {
				t.Fatal(err)
			}
			got := strings.Fields(string(out))
			slices.Sort(got)
			if diff := cmp.Diff(c.want, got); diff != "" && len(c.want)+len(got) > 0 {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

func TestCompletionQuotesHelp(t *testing.T) {
	all := []completable{{}, {name: "x", help: "it's [one]: two", flags: []completableFlag{{name: "f", help: "it's [one]: two"}}}}
	for shell, c := range map[string]struct{ script, want string }{
		"zsh":  {zshScript(all), `'--f[it'\''s \[one\]\: two]'`},
		"fish": {fishScript(all), `-d 'it'\''s [one]: two'`},
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

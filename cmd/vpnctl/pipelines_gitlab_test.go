package main

import (
	"maps"
	"strings"

	"go.yaml.in/yaml/v3"
)

// gitlabJob is what a runner needs of one.
type gitlabJob struct {
	Before []any `yaml:"before_script"`
	Script []any
}

func (r *runner) gitlab(job string) {
	r.t.Helper()
	if err := r.tryGitLab(job); err != nil {
		r.t.Fatalf("%s: %v", job, err)
	}
}

// tryGitLab runs a job's lines in one shell, after those of the default.
func (r *runner) tryGitLab(job string) error {
	r.t.Helper()
	var all map[string]yaml.Node
	if err := yaml.Unmarshal([]byte(source(r.t, "examples/pipelines/gitlab/.gitlab-ci.yml")), &all); err != nil {
		r.t.Fatal(err)
	}
	var parts [2]gitlabJob
	for i, name := range []string{"default", job} {
		node, ok := all[name]
		if !ok {
			r.t.Fatalf("there is no job %s", name)
		}
		if err := node.Decode(&parts[i]); err != nil {
			r.t.Fatalf("%s: %v", name, err)
		}
	}
	lines := append(flat(parts[0].Before), flat(parts[1].Script)...)
	folder := r.workspace()
	env := map[string]string{"CI_COMMIT_SHA": r.git(folder, "rev-parse", "HEAD")}
	maps.Copy(env, r.variables)
	return r.bash(folder, "", env, strings.Join(lines, "\n"))
}

// artifact reads a file that the last job has left.
func (r *runner) artifact(name string) string {
	r.t.Helper()
	return r.text(r.last() + "/" + name)
}

// flat gives the lines of a script, which may hold lists of lines.
func flat(script []any) []string {
	var lines []string
	for _, entry := range script {
		switch e := entry.(type) {
		case string:
			lines = append(lines, e)
		case []any:
			lines = append(lines, flat(e)...)
		}
	}
	return lines
}

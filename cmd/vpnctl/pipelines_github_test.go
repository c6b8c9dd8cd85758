package main

import (
	"maps"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"go.yaml.in/yaml/v3"
)

// workflow is what a runner needs of one of GitHub's, or of an action.
type workflow struct {
	Jobs map[string]struct {
		Env   map[string]string
		Steps []workflowStep
	}
	Inputs map[string]struct{ Default string }
	Runs   struct{ Steps []workflowStep }
}

type workflowStep struct {
	Name, ID, If, Uses, Run string
	With, Env               map[string]string
	Folder                  string `yaml:"working-directory"`
}

func workflowOf(t *testing.T, path string) workflow {
	t.Helper()
	var w workflow
	if err := yaml.Unmarshal([]byte(source(t, path)), &w); err != nil {
		t.Fatalf("%s: %v", path, err)
	}
	return w
}

func (r *runner) github(file, event string) {
	r.t.Helper()
	if err := r.tryGitHub(file, event); err != nil {
		r.t.Fatalf("%s on %s: %v", file, event, err)
	}
}

// tryGitHub runs the one job of a workflow.
func (r *runner) tryGitHub(file, event string) error {
	r.t.Helper()
	j := githubJob{runner: r, event: event, folder: r.workspace(), outputs: map[string]string{}}
	w := workflowOf(r.t, "examples/pipelines/github/"+file)
	if len(w.Jobs) != 1 {
		r.t.Fatalf("%s has %d jobs", file, len(w.Jobs))
	}
	for _, job := range w.Jobs {
		j.env = j.filled(job.Env, nil)
		j.steps(job.Steps, nil)
	}
	return j.failed
}

func (r *runner) comment() string { return r.text("comment.md") }

// githubJob is one run of a job.
type githubJob struct {
	*runner
	event, folder string
	env           map[string]string
	outputs       map[string]string // of steps, as steps.plan.outputs.code
	failed        error             // the first step that failed
}

func (j *githubJob) steps(all []workflowStep, inputs map[string]string) {
	for _, s := range all {
		if j.goesOn(s.If) {
			j.step(s, inputs)
		}
	}
}

// goesOn evaluates a condition: without cancelled() in it, a failure ends the job.
func (j *githubJob) goesOn(condition string) bool {
	j.t.Helper()
	on, late := true, false
	for _, term := range strings.Split(strings.Trim(condition, "${} "), " && ") {
		switch {
		case term == "":
		case term == "!cancelled()":
			late = true
		case term == "github.event.pull_request.number":
			on = on && j.event == "pull_request"
		case strings.HasPrefix(term, "github.event_name == "):
			on = on && term == "github.event_name == '"+j.event+"'"
		default:
			j.t.Fatalf("the condition %q is not known", condition)
		}
	}
	return on && (j.failed == nil || late)
}

func (j *githubJob) step(s workflowStep, inputs map[string]string) {
	j.t.Helper()
	with := j.filled(s.With, inputs)
	switch {
	case s.Run != "":
		j.run(s, inputs)
	case strings.HasPrefix(s.Uses, "actions/setup-go@"): // go is imitated
	case strings.HasPrefix(s.Uses, "actions/checkout@"):
		if with["repository"] == "example/deploy" && with["path"] != "" {
			j.git("", "clone", "--quiet", j.path("deploy.git"), j.path(filepath.Join(j.folder, with["path"])))
		}
	case strings.HasPrefix(s.Uses, "vpnctl/vpnctl/.github/actions/plan@"):
		action := workflowOf(j.t, ".github/actions/plan/action.yaml")
		for name, in := range action.Inputs {
			if _, given := with[name]; !given {
				with[name] = j.fill(in.Default, nil)
			}
		}
		j.steps(action.Runs.Steps, with)
	default:
		j.t.Fatalf("the step %+v is not known", s)
	}
}

func (j *githubJob) run(s workflowStep, inputs map[string]string) {
	files := j.folder + "-files/"
	for _, name := range []string{"output", "summary", "path"} {
		j.write(files+name, "")
	}
	env := maps.Clone(j.env)
	maps.Copy(env, j.filled(s.Env, inputs))
	maps.Copy(env, map[string]string{
		"RUNNER_TEMP": j.path(files), "GITHUB_OUTPUT": j.path(files + "output"), "GITHUB_PATH": j.path(files + "path"),
		"GITHUB_STEP_SUMMARY": j.path(files + "summary"), "GITHUB_REPOSITORY": "example/gateways", "GITHUB_SHA": j.git(j.folder, "rev-parse", "HEAD"),
	})
	if err := j.bash(filepath.Join(j.folder, s.Folder), j.outputs["path"], env, s.Run); err != nil && j.failed == nil {
		j.failed = err
	}
	for line := range strings.Lines(j.text(files + "output")) {
		name, value, _ := strings.Cut(strings.TrimSpace(line), "=")
		j.outputs["steps."+s.ID+".outputs."+name] = value
	}
	for line := range strings.Lines(j.text(files + "path")) {
		j.outputs["path"] += strings.TrimSpace(line) + ":"
	}
}

func (j *githubJob) filled(in, inputs map[string]string) map[string]string {
	out := map[string]string{}
	for name, value := range in {
		out[name] = j.fill(value, inputs)
	}
	return out
}

var expression = regexp.MustCompile(`\$\{\{ *([^}]*?) *\}\}`)

// fill puts values in the place of expressions. One that isn't known fails the test.
func (j *githubJob) fill(text string, inputs map[string]string) string {
	j.t.Helper()
	return expression.ReplaceAllStringFunc(text, func(whole string) string {
		name := expression.FindStringSubmatch(whole)[1]
		group, rest, _ := strings.Cut(name, ".")
		value, ok := map[string]string{"github.token": "token", "github.event.pull_request.number": "7"}[name]
		switch group {
		case "vars", "secrets":
			value, ok = j.variables[rest]
		case "inputs":
			value, ok = inputs[rest]
		case "steps":
			value, ok = j.outputs[name], true // empty where the step didn't say
		}
		if !ok {
			j.t.Fatalf("the expression %s is not known", whole)
		}
		return value
	})
}

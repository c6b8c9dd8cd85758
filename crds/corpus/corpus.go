package corpus

import (
	"embed"
	"fmt"
	"path"
	"strings"

	"github.com/rogpeppe/go-internal/txtar"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/json"
	"sigs.k8s.io/yaml"
)

//go:embed testdata/*.txtar
var files embed.FS

// Case is one request to an API server.
type Case struct {
	Archive string // file in testdata
	Name    string // the sentence
	Company string // other objects, as YAML, that validation wants to read as well
	Old     map[string]any
	Object  map[string]any // to create, or in the place of Old where that is set
	Refused []string       // why it is refused, as "<field>: <sentence>"; empty if it isn't
}

// Cases reads all archives, in the order of their names.
func Cases() ([]Case, error) {
	names, err := files.ReadDir("testdata")
	if err != nil {
		return nil, err
	}
	var all []Case
	for _, n := range names {
		cases, err := archive(path.Join("testdata", n.Name()))
		if err != nil {
			return nil, fmt.Errorf("reading %s: %w", n.Name(), err)
		}
		all = append(all, cases...)
	}
	return all, nil
}

func archive(name string) ([]Case, error) {
	data, err := files.ReadFile(name)
	if err != nil {
		return nil, err
	}
	entries := txtar.Parse(data).Files
	if len(entries) < 2 || entries[0].Name != "company.yaml" || entries[1].Name != "subject.yaml" {
		return nil, fmt.Errorf("it doesn't begin with company.yaml and subject.yaml")
	}
	subject, err := read(string(entries[1].Data))
	if err != nil {
		return nil, err
	}
	all := []Case{{Archive: name, Name: "the subject is accepted", Company: string(entries[0].Data), Object: subject}}
	for _, e := range entries[2:] {
		c := Case{Archive: name, Name: e.Name, Company: string(entries[0].Data)}
		if err := c.edit(subject, string(e.Data)); err != nil {
			return nil, fmt.Errorf("%s: %w", e.Name, err)
		}
		all = append(all, c)
	}
	return all, nil
}

// edit carries out a case's lines.
func (c *Case) edit(subject map[string]any, text string) error {
	c.Object = runtime.DeepCopyJSON(subject)
	for line := range strings.Lines(text) {
		line = strings.TrimSuffix(line, "\n")
		if reason, ok := strings.CutPrefix(line, "~ "); ok {
			c.Refused = append(c.Refused, reason)
			continue
		}
		on := c.Object
		if was, ok := strings.CutPrefix(line, "was "); ok {
			if c.Old == nil {
				c.Old = runtime.DeepCopyJSON(subject)
			}
			on, line = c.Old, was
		}
		if line == "" {
			continue
		}
		if err := change(on, line); err != nil {
			return fmt.Errorf("%s: %w", line, err)
		}
	}
	return nil
}

// read reads YAML the way an API server reads JSON: whole numbers are int64.
func read(text string) (map[string]any, error) {
	var out map[string]any
	raw, err := yaml.YAMLToJSONStrict([]byte(text))
	if err != nil {
		return nil, err
	}
	return out, json.Unmarshal(raw, &out)
}

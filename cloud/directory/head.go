package directory

import (
	"strconv"
	"strings"

	"sigs.k8s.io/yaml"

	"github.com/vpnctl/vpnctl/plan/resource"
)

// head reads what identifies an object. Files as they are written say it in lines of
// their own; only where those don't is the YAML decoded, which takes a hundred times
// as long. Of a text that is no YAML the fields stay empty.
func head(content string) resource.Object {
	o := lines(content)
	if o.Kind != "" && (o.Name != "" || o.Kind == "Kustomization") {
		return o
	}
	var decoded struct {
		APIVersion string `json:"apiVersion"`
		Kind       string `json:"kind"`
		Metadata   struct {
			Name      string `json:"name"`
			Namespace string `json:"namespace"`
		} `json:"metadata"`
	}
	if err := yaml.Unmarshal([]byte(content), &decoded); err != nil {
		return resource.Object{}
	}
	return resource.Object{
		APIVersion: decoded.APIVersion, Kind: decoded.Kind, Namespace: decoded.Metadata.Namespace, Name: decoded.Metadata.Name,
	}
}

func lines(content string) resource.Object {
	var o resource.Object
	section := ""
	for line := range strings.Lines(content) {
		line = strings.TrimRight(line, "\n")
		key, value, isField := strings.Cut(line, ":")
		if !isField || strings.HasPrefix(line, "#") {
			continue
		}
		value, ok := plain(strings.TrimSpace(value))
		switch {
		case !ok && (section == "metadata" || !strings.HasPrefix(line, " ")):
			return resource.Object{}
		case !strings.HasPrefix(line, " "):
			if section == "metadata" { // all that is looked for stands before this
				return o
			}
			section = key
			switch key {
			case "apiVersion":
				o.APIVersion = value
			case "kind":
				o.Kind = value
			}
		case section == "metadata" && key == "  name":
			o.Name = value
		case section == "metadata" && key == "  namespace":
			o.Namespace = value
		}
	}
	return o
}

// plain reads a text on one line. It reports false for what only a YAML reader
// understands.
func plain(value string) (string, bool) {
	if strings.HasPrefix(value, `"`) {
		text, err := strconv.Unquote(value)
		return text, err == nil
	}
	return value, !strings.ContainsAny(value, "'#&*|>{[!,")
}

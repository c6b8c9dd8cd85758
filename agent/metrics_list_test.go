package agent

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/prometheus/client_golang/prometheus"
)

var update = flag.Bool("update", false, "rewrite examples/monitoring/metrics.txt")

const monitoring = "../examples/monitoring/"

// described is how client_golang shows a metric's description.
var described = regexp.MustCompile(`^Desc{fqName: "([^"]*)", help: "(.*?)"(?:, unit: "[^"]*")?, constLabels: {}, variableLabels: {([^}]*)}`)

// metricsListed are the agent's metrics: labels and help by name.
func metricsListed(t *testing.T) (labels map[string][]string, help map[string]string) {
	t.Helper()
	ch := make(chan *prometheus.Desc)
	go func() {
		defer close(ch)
		Metrics{}.Describe(ch)
	}()
	labels, help = map[string][]string{}, map[string]string{}
	for d := range ch {
		m := described.FindStringSubmatch(d.String())
		if m == nil {
			t.Fatalf("can't read %s", d)
		}
		labels[m[1]], help[m[1]] = nil, m[2]
		if m[3] != "" {
			labels[m[1]] = strings.Split(m[3], ",")
		}
	}
	return labels, help
}

// TestMetricsAreListed in a file for those who write queries.
func TestMetricsAreListed(t *testing.T) {
	labels, help := metricsListed(t)
	var lines []string
	for name := range labels {
		lines = append(lines, fmt.Sprintf("%s{%s}\n    %s\n", name, strings.Join(labels[name], ", "), help[name]))
	}
	slices.Sort(lines)
	want := strings.Join(lines, "")
	if *update {
		if err := os.WriteFile(monitoring+"metrics.txt", []byte(want), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	got, err := os.ReadFile(monitoring + "metrics.txt")
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, string(got)); diff != "" {
		t.Errorf("run with -update (-want +got)\n%s", diff)
	}
}

// TestQueriesNameWhatThereIs: metrics that alerts and dashboard ask for are shown, and
// have the labels that they are asked by.
func TestQueriesNameWhatThereIs(t *testing.T) {
	labels, _ := metricsListed(t)
	metric := regexp.MustCompile(`\b((?:vpnctl|strongswan)_[a-z_]+)(?:\{([^}]*)\})?`)
	matcher := regexp.MustCompile(`(\w+)\s*(?:=~|!~|!=|=)`)
	files, err := filepath.Glob(monitoring + "*")
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range files {
		if filepath.Base(file) == "controller.yaml" { // of vpnctl reconcile
			continue
		}
		data, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		found := metric.FindAllStringSubmatch(strings.ReplaceAll(string(data), `\"`, `'`), -1)
		if len(found) < 10 {
			t.Errorf("%s asks for %d metrics only", file, len(found))
		}
		for _, m := range found {
			if _, ok := labels[m[1]]; !ok {
				t.Errorf("%s asks for %s, which there isn't", file, m[1])
			}
			for _, l := range matcher.FindAllStringSubmatch(m[2], -1) {
				if !slices.Contains(labels[m[1]], l[1]) {
					t.Errorf("%s asks for %s by %s, which it hasn't", file, m[1], l[1])
				}
			}
		}
	}
}

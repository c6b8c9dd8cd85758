package alerts

import (
	"cmp"
	"os"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/prometheus/model/labels"
	"github.com/prometheus/prometheus/promql"
	"github.com/prometheus/prometheus/storage"
	"go.yaml.in/yaml/v3"
)

// The rules of all gateways, and those of the gateway initech/old.
const (
	ofAll = "../../examples/monitoring/alerts.yaml"
	ofOne = "../golden/before-create/initech/old/prometheusrule-old.yaml"
)

type rule struct {
	Alert, Expr string
	For         string
	Labels      map[string]string
	Annotations map[string]string
}

func rules(t *testing.T, file string) []rule {
	t.Helper()
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	var object struct {
		Spec struct {
			Groups []struct{ Rules []rule }
		}
	}
	if err := yaml.Unmarshal(data, &object); err != nil {
		t.Fatal(err)
	}
	return object.Spec.Groups[0].Rules
}

// firing are the alerts that fire in the given minute, as "Name{label="value"}",
// evaluated each minute. An alert fires once it has been active at every evaluation for
// as long as its rule says.
func firing(t *testing.T, engine *promql.Engine, from storage.Queryable, r rule, at int) []string {
	t.Helper()
	wait, err := time.ParseDuration(r.For)
	if err != nil {
		t.Fatal(err)
	}
	since := map[string]int{}
	var fire []string
	for minute := 0; minute <= at; minute++ {
		query, err := engine.NewInstantQuery(t.Context(), from, nil, r.Expr, time.Unix(int64(minute)*60, 0))
		if err != nil {
			t.Fatalf("%s: %v", r.Alert, err)
		}
		vector, err := query.Exec(t.Context()).Vector()
		if err != nil {
			t.Fatalf("%s: %v", r.Alert, err)
		}
		active := map[string]int{}
		fire = nil
		for _, s := range vector {
			l := s.Metric.String()
			explained(t, r, s.Metric)
			active[l] = minute
			if first, was := since[l]; was {
				active[l] = first
			}
			if time.Duration(minute-active[l])*time.Minute >= wait {
				fire = append(fire, r.Alert+l)
			}
		}
		query.Close()
		since = active
	}
	return fire
}

var template = regexp.MustCompile(`\$labels\.(\w+)`)

// explained tells of an alert whose words name a label that it doesn't have.
func explained(t *testing.T, r rule, has labels.Labels) {
	t.Helper()
	for _, text := range r.Annotations {
		for _, m := range template.FindAllStringSubmatch(text, -1) {
			if !has.Has(m[1]) {
				t.Errorf("%s says %s, and has only %s", r.Alert, m[0], has)
			}
		}
	}
	if r.Labels["severity"] != "critical" && r.Labels["severity"] != "warning" {
		t.Errorf("%s has the severity %q", r.Alert, r.Labels["severity"])
	}
}

const (
	gateway = `{gateway="old", namespace="initech"}`
	peer    = `{gateway="old", namespace="initech", peer="plant"}`
	tunnel  = `{gateway="old", namespace="initech", peer="plant", tunnel="plant-a"}`
)

// series writes lines for promqltest: each metric of the pod "a" and its values. A name
// with @b is of the pod "b"; what stands behind # is the label of its own.
func series(lines ...string) string {
	var b strings.Builder
	b.WriteString("load 1m\n")
	for _, line := range lines {
		metric, values, _ := strings.Cut(line, " ")
		metric, detail, _ := strings.Cut(metric, "#")
		metric, pod, other := strings.Cut(metric, "@")
		if !other {
			pod = "a"
		}
		own := ""
		switch {
		case strings.HasPrefix(metric, "vpnctl_tunnel"):
			own = `,peer="plant",tunnel="plant-a"`
		case metric == "vpnctl_peer_pending":
			own = `,peer="plant",what="` + cmp.Or(detail, "timers") + `"`
		case strings.HasPrefix(metric, "vpnctl_peer"):
			own = `,peer="plant"`
		case metric == "vpnctl_problems":
			own = `,part="` + cmp.Or(detail, "dns") + `"`
		case metric == "kube_configmap_info":
			own = `,configmap="` + cmp.Or(detail, "old-nat") + `"`
		case strings.HasPrefix(metric, "kube_"):
			own = `,deployment="old"`
		}
		of := `namespace="initech",pod="` + pod + `"` + own
		if !strings.HasPrefix(metric, "kube_") {
			of += `,gateway="old"`
		}
		b.WriteString("  " + metric + "{" + of + "} " + values + "\n")
	}
	return b.String()
}

// well are series of a gateway with which all is well, but for those that are given.
func well(but ...string) string {
	lines := but
	for metric, values := range map[string]string{
		"vpnctl_tunnel_up": "1x60", "vpnctl_tunnel_known": "1x60", "vpnctl_charon_up": "1x60", "vpnctl_config_in_force": "1x60", "vpnctl_config_info": "1x60",
		"vpnctl_ruleset_in_force": "1x60", "vpnctl_dataplane_age_seconds": "3x60", "vpnctl_problems": "0x60", "vpnctl_peer_secret_missing": "0x60",
		"vpnctl_reload_errors_total": "0x60", "vpnctl_secret_errors_total": "0x60", "vpnctl_charon_reconnects_total": "0x60",
		"vpnctl_peer_sent_bytes_total": "0+500x60", "kube_deployment_spec_replicas": "1x60", "kube_configmap_info": "1x60",
	} {
		given := false
		for _, line := range but {
			name, _, _ := strings.Cut(line, " ")
			name, _, _ = strings.Cut(name, "@")
			name, _, _ = strings.Cut(name, "#")
			given = given || name == metric
		}
		if !given {
			lines = append(lines, metric+" "+values)
		}
	}
	kept := lines[:0:0]
	for _, line := range lines {
		if !strings.HasSuffix(line, " none") {
			kept = append(kept, line)
		}
	}
	return series(kept...)
}

package alerts

import (
	"strings"
	"testing"
)

// ofController are the rules of the controller.
const ofController = "../../examples/monitoring/controller.yaml"

// replica writes lines for promqltest: metrics of a controller's pod, "a" unless the name
// ends in @b. What stands behind # is the label of its own.
func replica(lines ...string) string {
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
		switch metric {
		case "gateways", "links":
			own = `,ready="` + detail + `"`
		case "changes_total":
			own = `,action="create",result="` + detail + `"`
		}
		name := "vpnctl_reconcile_" + metric
		if metric == "ratio" {
			name = "ipsec_operator_servicecidr_allocated_ratio"
		}
		b.WriteString("  " + name + `{namespace="vpnctl-system",pod="` + pod + `"` + own + "} " + values + "\n")
	}
	return b.String()
}

// steady is a controller with which all is well, but for the series that are given: those
// of the same name, whatever is behind @ or #, are left out.
func steady(but ...string) string {
	lines := but
	base := func(line string) string {
		name, _, _ := strings.Cut(line, " ")
		name, _, _ = strings.Cut(name, "#")
		name, _, _ = strings.Cut(name, "@")
		return name
	}
	given := map[string]bool{}
	for _, line := range but {
		given[base(line)] = true
	}
	for _, line := range []string{
		"leader 1x90", "leader@b 0x90", "last_success_timestamp_seconds 0+60x90", "unobserved_total 0x90", "unobserved_total@b 0x90",
		"changes_total#done 0+1x90", "gateways#true 7x90", "gateways#false 0x90", "gateways#unknown 0x90", "links#true 2x90", "links#false 0x90", "orphans 0x90", "estate_valid 1x90", "ratio 0.2x90",
	} {
		if !given[base(line)] {
			lines = append(lines, line)
		}
	}
	return replica(lines...)
}

func TestControllerAlerts(t *testing.T) {
	fired := map[string]bool{}
	for _, c := range []struct {
		name string
		load string
		at   int
		want []string
	}{
		{"all is well", steady(), 90, nil},
		{"nobody leads", steady("leader 1x10 0x80", "leader@b 0x90", "last_success_timestamp_seconds 0+60x10 stale"), 17, []string{"VPNControllerAbsent{}"}},
		{"there is nobody", replica(), 5, []string{"VPNControllerAbsent{}"}},
		{"another one takes over", steady("leader 1x10 0x80", "leader@b 0x12 1x78", "last_success_timestamp_seconds 0+60x10 stale",
			"last_success_timestamp_seconds@b _x13 780+60x70"), 40, nil},
		{"a round fails now and then", steady("last_success_timestamp_seconds 0+60x20 1200x25 2700+60x40"), 50, nil},
		{"no round has succeeded for long", steady("last_success_timestamp_seconds 0+60x10 600x80"), 52, []string{"VPNControllerStale{}"}},
		{"no round has ever succeeded", steady("last_success_timestamp_seconds stale"), 11, []string{"VPNControllerStale{}"}},
		{"no round has succeeded yet", steady("last_success_timestamp_seconds _x8 480+60x80"), 9, nil},
		{"the cloud is away", steady("unobserved_total 0x10 1+1x80"), 22, []string{"VPNControllerUnobserved{}"}},
		{"the cloud was away for a moment", steady("unobserved_total 0x10 1 2x80"), 40, nil},
		{"a change fails, try after try", steady("changes_total#failed 0+4x90"), 40, []string{`VPNControllerChangesFail{action="create"}`}},
		{"a change failed once", steady("changes_total#failed 0x10 1x80"), 60, nil},
		{"gateways aren't ready", steady("gateways#true 5x90", "gateways#false 1x90", "gateways#unknown 1x90"), 16, []string{"VPNGatewaysNotReady{}"}},
		{"a new gateway isn't ready yet", steady("gateways#true 5x90", "gateways#false 0x10 1x10 0x70"), 30, nil},
		{"a link isn't ready", steady("links#true 1x90", "links#false 1x90"), 16, []string{"VPNLinksNotReady{}"}},
		{"a new link isn't ready yet", steady("links#true 1x90", "links#unknown 0x10 1x10 0x70"), 30, nil},
		{"a manifest vanished", steady("orphans 0x5 1x80"), 25, []string{"VPNGatewaysOrphaned{}"}},
		{"the Estate's file is broken", steady("estate_valid 1x5 0x80"), 20, []string{"VPNEstateInvalid{}"}},
		{"the Estate's file was broken for a moment", steady("estate_valid 1x5 0x3 1x80"), 20, nil},
		{"the pool is almost used up", steady("ratio 0.95x90"), 20, []string{"VPNServiceCIDRsRunOut{}"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			for _, name := range check(t, ofController, c.load, c.at, c.want) {
				name, _, _ = strings.Cut(name, "{")
				fired[name] = true
			}
		})
	}
	for _, r := range rules(t, ofController) {
		if !fired[r.Alert] {
			t.Errorf("%s never fired", r.Alert)
		}
	}
}

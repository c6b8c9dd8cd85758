package render

import (
	"reflect"
	"slices"
	"strings"

	"sigs.k8s.io/yaml"

	"github.com/vpnctl/vpnctl/plan"
	"github.com/vpnctl/vpnctl/plan/resource"
	"github.com/vpnctl/vpnctl/render/pod"
)

// Judge says what it does to tunnels when an object's content changes from before to
// after. Restarts concern every peer of the gateway, which the object itself doesn't
// name: then Interrupts is empty.
//
//	swanctl.conf, wg0.conf      connection by connection, see judge_ipsec.go, judge_wireguard.go
//	agent.json                  another private key: customer; another exposure alone: none; else reload
//	nat.nft                     lines added alone: none; else reload
//	strongswan.conf             reload
//	pod template, attachment    restart
//	metadata, rights, the rest  none
func Judge(before, after resource.Resource) plan.Verdict {
	if before.Object == nil || after.Object == nil {
		return plan.Verdict{}
	}
	a, b := decode(before.Object.Content), decode(after.Object.Content)
	switch after.Object.Kind {
	case "ConfigMap":
		return judgeConfig(a.Data, b.Data)
	case "Deployment":
		if !reflect.DeepEqual(a.Spec["template"], b.Spec["template"]) {
			return plan.Verdict{Impact: plan.ImpactRestart, Consequence: "the pod rolls: every tunnel of the gateway is down for about a minute"}
		}
	case "NetworkAttachmentDefinition":
		if !reflect.DeepEqual(a.Spec, b.Spec) {
			return plan.Verdict{Impact: plan.ImpactRestart, Consequence: "an interface is configured when a pod starts, so the pod rolls"}
		}
	}
	return plan.Verdict{}
}

// document is what a verdict looks at. Of a text that is no YAML nothing is seen,
// and so everything differs.
type document struct {
	Spec map[string]any    `json:"spec"`
	Data map[string]string `json:"data"`
}

func decode(content string) document {
	var d document
	if err := yaml.Unmarshal([]byte(content), &d); err != nil {
		return document{}
	}
	return d
}

// judges look at one key of a ConfigMap, whose text differs.
var judges = map[string]func(before, after string) plan.Verdict{
	pod.KeySwanctl:   judgeConnections,
	pod.KeyWireGuard: judgeInterface,
	pod.KeyAgent:     judgeExpectation,
	pod.KeyDaemon: func(_, _ string) plan.Verdict {
		return plan.Verdict{Impact: plan.ImpactReload, Consequence: "in force when the pod starts the next time"}
	},
	pod.KeyRules: func(before, after string) plan.Verdict {
		if grows(before, after) {
			return plan.Verdict{}
		}
		return plan.Verdict{Impact: plan.ImpactReload}
	},
}

// grows tells whether a text has all its lines still, and more besides: no packet
// notices that something else may pass.
func grows(before, after string) bool {
	left := map[string]int{}
	for line := range strings.Lines(after) {
		left[strings.Trim(line, ", \t\n")]++
	}
	for line := range strings.Lines(before) {
		line = strings.Trim(line, ", \t\n")
		if left[line]--; left[line] < 0 {
			return false
		}
	}
	return true
}

func judgeConfig(before, after map[string]string) plan.Verdict {
	var all verdicts
	for key, judge := range judges {
		if before[key] != after[key] {
			all = append(all, judge(before[key], after[key]))
		}
	}
	return all.sum()
}

// verdicts are those of a change's parts.
type verdicts []plan.Verdict

func (all *verdicts) add(impact plan.Impact, peer, consequence string) {
	v := plan.Verdict{Impact: impact, Consequence: consequence}
	if impact >= plan.ImpactReconnect {
		v.Interrupts = []string{peer}
	}
	if impact == plan.ImpactCustomer {
		v.Customers = []string{peer}
	}
	*all = append(*all, v)
}

// sum is the worst impact, with all the people and everything that is said.
func (all verdicts) sum() plan.Verdict {
	var sum plan.Verdict
	var words []string
	for _, v := range all {
		sum.Impact = max(sum.Impact, v.Impact)
		sum.Interrupts = append(sum.Interrupts, v.Interrupts...)
		sum.Customers = append(sum.Customers, v.Customers...)
		if v.Consequence != "" {
			words = append(words, v.Consequence)
		}
	}
	sum.Interrupts, sum.Customers, words = distinct(sum.Interrupts), distinct(sum.Customers), distinct(words)
	sum.Consequence = strings.Join(words, "; ")
	return sum
}

func distinct(all []string) []string {
	slices.Sort(all)
	return slices.Compact(all)
}

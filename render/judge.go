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

// Judge says what it does to the tunnels of a living gateway when an object's content
// changes from before to after, or when the object goes: after is zero then. A create
// does nothing. Restarts concern every peer of the gateway, which the object itself
// doesn't name: then Interrupts is empty.
//
//	swanctl.conf, wg0.conf      connection by connection, see judge_ipsec.go, judge_wireguard.go;
//	                            another name of a peer, see rename.go;
//	                            where one of the two can't be read, all of them reconnect
//	agent.json                  another key: see judge_wireguard.go; another exposure alone: none; else reload
//	nat.nft                     lines added alone: none; else reload
//	strongswan.conf             reload
//	pod template, attachment    restart
//	no replica any more         restart
//	a Deployment, attachment
//	or ConfigMap that goes      restart
//	metadata, rights, the rest  none
func Judge(before, after resource.Resource) plan.Verdict {
	switch {
	case before.Object == nil:
		return plan.Verdict{}
	case after.Object == nil:
		return judgeRemoval(before.Object.Kind)
	}
	a, b := decode(before.Object.Content), decode(after.Object.Content)
	switch after.Object.Kind {
	case "ConfigMap":
		return judgeConfig(a.Data, b.Data)
	case "Deployment":
		return judgeDeployment(a.Spec, b.Spec)
	case "NetworkAttachmentDefinition":
		if !reflect.DeepEqual(a.Spec, b.Spec) {
			return plan.Verdict{Impact: plan.ImpactRestart, Consequence: "an interface is configured when a pod starts, so the pod rolls"}
		}
	}
	return plan.Verdict{}
}

func judgeDeployment(before, after map[string]any) plan.Verdict {
	switch {
	case stopped(after) && !stopped(before):
		return plan.Verdict{Impact: plan.ImpactRestart, Consequence: "no pod runs: every tunnel of the gateway is down until it is back"}
	case !reflect.DeepEqual(before["template"], after["template"]):
		return plan.Verdict{Impact: plan.ImpactRestart, Consequence: "the pod rolls: every tunnel of the gateway is down for about a minute"}
	}
	return plan.Verdict{}
}

// stopped tells whether a Deployment asks for no pod; without a number it asks for one.
func stopped(spec map[string]any) bool {
	n, given := spec["replicas"].(float64)
	return given && n == 0
}

// judgeRemoval is the end of one object of a gateway that lives on.
func judgeRemoval(kind string) plan.Verdict {
	switch kind {
	case "Deployment":
		return plan.Verdict{Impact: plan.ImpactRestart, Consequence: "the pod ends: every tunnel of the gateway is down until it is back"}
	case "NetworkAttachmentDefinition", "ConfigMap":
		return plan.Verdict{Impact: plan.ImpactRestart, Consequence: "the pod can't start again without it: from its next start every tunnel of the gateway is down"}
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
// Who only gets another name, old → new, has a verdict already.
var judges = map[string]func(before, after string, names map[string]string) plan.Verdict{
	pod.KeySwanctl:   judgeConnections,
	pod.KeyWireGuard: judgeInterface,
	pod.KeyAgent:     judgeExpectation,
	pod.KeyDaemon: func(_, _ string, _ map[string]string) plan.Verdict {
		return plan.Verdict{Impact: plan.ImpactReload, Consequence: "charon's own settings are in force when the pod starts the next time"}
	},
	pod.KeyRules: func(before, after string, _ map[string]string) plan.Verdict {
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
	var names map[string]string
	old, oldOK := tunnelsIn(before)
	if now, ok := tunnelsIn(after); oldOK && ok {
		names = renamed(old, now)
		all = judgeRenames(old, now, names)
	}
	for key, judge := range judges {
		if before[key] != after[key] {
			all = append(all, judge(before[key], after[key], names))
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

// both reads the two sides of a configuration. One may have been edited by hand, or
// patched, so that it can't be read: what differs is not known then, and the verdict
// is that every tunnel of the other side starts anew.
func both[T any](before, after string, parse func(string) (T, error), peers func(T) []string) (old, now T, unread verdicts) {
	old, oldErr := parse(before)
	now, err := parse(after)
	switch {
	case oldErr != nil:
		unread = renegotiate(peers(now), "what is in force now can't be read")
	case err != nil:
		unread = renegotiate(peers(old), "what comes can't be read back")
	}
	return old, now, unread
}

func renegotiate(peers []string, why string) verdicts {
	return verdicts{{
		Impact: plan.ImpactReconnect, Interrupts: peers, Consequence: why + ", so that every tunnel is taken to renegotiate",
	}}
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

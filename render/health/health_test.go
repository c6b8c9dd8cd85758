package health

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/cel-go/cel"
	lua "github.com/yuin/gopher-lua"
	"sigs.k8s.io/yaml"
)

// object is one as a cluster holds it.
func object(finalizer string, deleting bool, conditions ...map[string]any) map[string]any {
	o := map[string]any{"metadata": map[string]any{"name": "x", "generation": int64(2)}}
	meta := o["metadata"].(map[string]any)
	if finalizer != "" {
		meta["finalizers"] = []any{"other/one", finalizer}
		o["status"] = map[string]any{}
	}
	if deleting {
		meta["deletionTimestamp"] = "2026-11-30T00:00:00Z"
	}
	if len(conditions) > 0 {
		var all []any
		for _, c := range conditions {
			all = append(all, c)
		}
		o["status"] = map[string]any{"conditions": all}
	}
	if _, there := o["status"]; there { // as the API server notes it down
		meta["managedFields"] = []any{map[string]any{"manager": "kubectl"}, map[string]any{"manager": "vpnctl", "subresource": "status"}}
	}
	return o
}

func condition(kind, status, reason string, generation int64) map[string]any {
	return map[string]any{"type": kind, "status": status, "reason": reason, "message": "in words", "observedGeneration": generation}
}

const finalizer = "vpn.bnerd.net/cleanup"

// cases are what a gateway or a link may look like, and what each engine has to say of it.
var cases = map[string]verdict{
	"as CI applied it":             {object("", false), "Healthy", "current"},
	"with a status of the agent's": {object("", false, condition("Other", "False", "X", 2)), "Healthy", "current"},
	"just made, held by reconcile": {object(finalizer, false), "Progressing", "inProgress"},
	"held, with other conditions":  {object(finalizer, false, condition("Other", "True", "X", 2)), "Progressing", "inProgress"},
	"true":                         {object(finalizer, false, condition("Ready", "True", "X", 2)), "Healthy", "current"},
	"true, of an older edit":       {object(finalizer, false, condition("Ready", "True", "X", 1)), "Progressing", "inProgress"},
	"false":                        {object(finalizer, false, condition("Ready", "False", "X", 2)), "Degraded", "failed"},
	"false, of an older edit":      {object(finalizer, false, condition("Ready", "False", "X", 1)), "Progressing", "inProgress"},
	"unknown":                      {object(finalizer, false, condition("Ready", "Unknown", "Pending", 2)), "Progressing", "inProgress"},
	"the last of several":          {object(finalizer, false, condition("Other", "False", "X", 2), condition("Ready", "True", "X", 2)), "Healthy", "current"},
}

// peers are the same of a VPNPeer, which has no finalizer of ours, with what is written
// into its status.
var peers = map[string]verdict{
	"nobody has written anything": {object("", false), "Healthy", "current"},
	"only its pod has":            {tunnel(object("", false)), "Healthy", "current"},
	"in force":                    {tunnel(peer("True", "Ready", "True", "Authorized", 2)), "Healthy", "current"},
	"without a grant":             {peer("True", "Ready", "False", "NoGrants", 2), "Healthy", "current"},
	"edited since":                {peer("True", "Ready", "True", "Authorized", 1), "Progressing", "inProgress"},
	"not valid":                   {peer("False", "InvalidSpec", "False", "InvalidSpec", 2), "Degraded", "failed"},
	"was not valid, and edited":   {peer("False", "InvalidSpec", "False", "InvalidSpec", 1), "Progressing", "inProgress"},
	"a grant of what isn't there": {peer("False", "UnknownGrant", "False", "UnknownGrant", 2), "Degraded", "failed"},
	"its Secret is missing":       {peer("False", "PeerSecretMissing", "True", "Authorized", 2), "Degraded", "failed"},
	"its gateway isn't ready":     {peer("False", "GatewayNotReady", "True", "Authorized", 2), "Degraded", "failed"},
	"its gateway isn't looked at": {peer("Unknown", "GatewayNotReady", "True", "Authorized", 2), "Progressing", "inProgress"},
	"new, beside an invalid one":  {object("", false, condition("Ready", "False", "GatewayNotReady", 2)), "Degraded", "failed"},
}

// verdict is an object, and what the engines are to say of it.
type verdict struct {
	object     map[string]any
	argo, flux string
}

// peer is one as reconcile and apply write its status.
func peer(ready, reason, authorized, why string, generation int64) map[string]any {
	return object("", false, condition("Ready", ready, reason, generation), condition("Authorized", authorized, why, generation))
}

// tunnel is an object with what the gateway's pod reports of it.
func tunnel(o map[string]any) map[string]any {
	status, _ := o["status"].(map[string]any)
	if status == nil {
		status = map[string]any{}
		o["status"] = status
	}
	status["state"], status["up"] = "ESTABLISHED", "1/1"
	o["metadata"].(map[string]any)["managedFields"] = []any{map[string]any{"manager": "vpnctl-agent", "subresource": "status"}}
	return o
}

// cases are those of a kind.
func (r rule) cases() map[string]verdict {
	if r.kind == "VPNPeer" {
		return peers
	}
	return cases
}

func TestArgoCD(t *testing.T) {
	var patch struct{ Data map[string]string }
	if err := yaml.UnmarshalStrict([]byte(ArgoCD()), &patch); err != nil {
		t.Fatal(err)
	}
	for _, r := range rules {
		check := patch.Data[fmt.Sprintf("resource.customizations.health.%s_%s", r.group, r.kind)]
		for name, c := range r.cases() {
			if status, message := inLua(t, check, c.object); status != c.argo || message == "" {
				t.Errorf("%s %s: %s %q, want %s", r.kind, name, status, message, c.argo)
			}
		}
		if status, _ := inLua(t, check, object(finalizer, true, condition("Ready", "True", "X", 2))); status != "Progressing" {
			t.Errorf("%s being deleted: %s", r.kind, status)
		}
	}
}

// inLua runs a script as Argo CD does.
func inLua(t *testing.T, check string, object map[string]any) (status, message string) {
	t.Helper()
	l := lua.NewState()
	defer l.Close()
	l.SetGlobal("obj", value(l, object))
	if err := l.DoString(check); err != nil {
		t.Fatalf("%v\n%s", err, check)
	}
	result := l.Get(-1).(*lua.LTable)
	return lua.LVAsString(result.RawGetString("status")), lua.LVAsString(result.RawGetString("message"))
}

func value(l *lua.LState, v any) lua.LValue {
	switch v := v.(type) {
	case map[string]any:
		table := l.NewTable()
		for key, item := range v {
			table.RawSetString(key, value(l, item))
		}
		return table
	case []any:
		table := l.NewTable()
		for _, item := range v {
			table.Append(value(l, item))
		}
		return table
	case int64:
		return lua.LNumber(v)
	}
	return lua.LString(v.(string))
}

func TestFlux(t *testing.T) {
	var patch struct {
		Spec struct {
			Wait             bool
			HealthCheckExprs []struct{ APIVersion, Kind, InProgress, Failed, Current string }
		}
	}
	if err := yaml.UnmarshalStrict([]byte(Flux()), &patch); err != nil {
		t.Fatal(err)
	}
	for i, r := range rules {
		e := patch.Spec.HealthCheckExprs[i]
		if e.APIVersion != r.group+"/"+r.version || e.Kind != r.kind {
			t.Fatalf("%s %s, want %s", e.APIVersion, e.Kind, r.kind)
		}
		ask := func(o map[string]any) string {
			for _, q := range []struct{ name, text string }{{"inProgress", e.InProgress}, {"failed", e.Failed}, {"current", e.Current}} {
				if inCEL(t, q.text, o) {
					return q.name
				}
			}
			return "inProgress"
		}
		for name, c := range r.cases() {
			if got := ask(c.object); got != c.flux {
				t.Errorf("%s %s: %s, want %s", r.kind, name, got, c.flux)
			}
		}
	}
}

// inCEL evaluates an expression as Flux does: parsed alone, with the object's fields as
// variables.
func inCEL(t *testing.T, text string, object map[string]any) bool {
	t.Helper()
	env, err := cel.NewEnv(cel.HomogeneousAggregateLiterals(), cel.CrossTypeNumericComparisons(true), cel.OptionalTypes())
	if err != nil {
		t.Fatal(err)
	}
	parsed, issues := env.Parse(strings.TrimSpace(text))
	if issues.Err() != nil {
		t.Fatal(issues.Err())
	}
	program, err := env.Program(parsed)
	if err != nil {
		t.Fatal(err)
	}
	out, _, err := program.Eval(object)
	if err != nil {
		t.Fatalf("%s of %v: %v", text, object, err)
	}
	return out.Value().(bool)
}

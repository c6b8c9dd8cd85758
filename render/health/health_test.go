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
	return o
}

func condition(kind, status, reason string, generation int64) map[string]any {
	return map[string]any{"type": kind, "status": status, "reason": reason, "message": "in words", "observedGeneration": generation}
}

const finalizer = "vpn.bnerd.net/cleanup"

// cases are what an object may look like, and what each engine has to say of it. READY
// stands for the condition that counts.
var cases = map[string]struct {
	object     func(ready string) map[string]any
	argo, flux string
}{
	"as CI applied it":             {func(string) map[string]any { return object("", false) }, "Healthy", "current"},
	"with a status of the agent's": {func(string) map[string]any { return object("", false, condition("Other", "False", "X", 2)) }, "Healthy", "current"},
	"just made, held by reconcile": {func(string) map[string]any { return object(finalizer, false) }, "Progressing", "inProgress"},
	"held, with other conditions":  {func(string) map[string]any { return object(finalizer, false, condition("Other", "True", "X", 2)) }, "Progressing", "inProgress"},
	"true":                         {func(r string) map[string]any { return object(finalizer, false, condition(r, "True", "X", 2)) }, "Healthy", "current"},
	"true, of an older edit":       {func(r string) map[string]any { return object(finalizer, false, condition(r, "True", "X", 1)) }, "Progressing", "inProgress"},
	"false":                        {func(r string) map[string]any { return object(finalizer, false, condition(r, "False", "X", 2)) }, "Degraded", "failed"},
	"false, of an older edit":      {func(r string) map[string]any { return object(finalizer, false, condition(r, "False", "X", 1)) }, "Progressing", "inProgress"},
	"unknown":                      {func(r string) map[string]any { return object(finalizer, false, condition(r, "Unknown", "Pending", 2)) }, "Progressing", "inProgress"},
	"the last of several": {func(r string) map[string]any {
		return object(finalizer, false, condition("Other", "False", "X", 2), condition(r, "True", "X", 2))
	}, "Healthy", "current"},
}

func TestArgoCD(t *testing.T) {
	var patch struct{ Data map[string]string }
	if err := yaml.UnmarshalStrict([]byte(ArgoCD()), &patch); err != nil {
		t.Fatal(err)
	}
	for _, r := range rules {
		check := patch.Data[fmt.Sprintf("resource.customizations.health.%s_%s", r.group, r.kind)]
		for name, c := range cases {
			if status, message := inLua(t, check, c.object(r.condition)); status != c.argo || message == "" {
				t.Errorf("%s %s: %s %q, want %s", r.kind, name, status, message, c.argo)
			}
		}
		if status, _ := inLua(t, check, object(finalizer, true, condition(r.condition, "True", "X", 2))); status != "Progressing" {
			t.Errorf("%s being deleted: %s", r.kind, status)
		}
		for _, reason := range r.harmless {
			if status, _ := inLua(t, check, object(finalizer, false, condition(r.condition, "False", reason, 2))); status != "Healthy" {
				t.Errorf("%s %s: %s", r.kind, reason, status)
			}
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
		for name, c := range cases {
			if got := ask(c.object(r.condition)); got != c.flux {
				t.Errorf("%s %s: %s, want %s", r.kind, name, got, c.flux)
			}
		}
		for _, reason := range r.harmless {
			if got := ask(object(finalizer, false, condition(r.condition, "False", reason, 2))); got != "current" {
				t.Errorf("%s %s: %s", r.kind, reason, got)
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

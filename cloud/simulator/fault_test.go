package simulator_test

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/vpnctl/vpnctl/cloud/simulator"
)

func faulty(t *testing.T, script string) (*simulator.Server, *api, string) {
	t.Helper()
	s := cloud(t, simulator.Options{Faults: strings.NewReader(script)})
	a := connect(t, s, "operator")
	return s, a, a.network("vpn-transit") // the first call
}

// outcome is what a client sees of a call.
func outcome(r reply) string {
	switch {
	case r.err != nil && r.status != 0:
		return "cut"
	case r.err != nil:
		return "closed"
	}
	text := http.StatusText(r.status)
	if after := r.header.Get("Retry-After"); after != "" {
		text += " after " + after
	}
	if typ := r.errorType(); typ != "" {
		text += " " + typ
	}
	return text
}

func TestFaults(t *testing.T) {
	const create = `{"match": {"method": "POST", "path": "/v2.0/ports"}, `
	for sentence, c := range map[string]struct {
		script string
		want   []string // of three creates in a row
		ports  int      // made in the end
	}{
		"a call by its number fails with a type":        {`{"call": 3, "do": "fail", "status": 409, "type": "OverQuota"}`, []string{"Created", "Conflict OverQuota", "Created"}, 2},
		"a failure is 500 unless said":                  {`{"call": 2, "do": "fail"}`, []string{"Internal Server Error HTTPInternalServerError", "Created", "Created"}, 2},
		"401 is in Keystone's form":                     {`{"call": 2, "do": "fail", "status": 401}`, []string{"Unauthorized", "Created", "Created"}, 2},
		"every matching call":                           {create + `"do": "fail"}`, []string{"Internal Server Error HTTPInternalServerError", "Internal Server Error HTTPInternalServerError", "Internal Server Error HTTPInternalServerError"}, 0},
		"the second matching call":                      {create + `"nth": 2, "do": "drop"}`, []string{"Created", "closed", "Created"}, 3},
		"the first two matching calls":                  {create + `"times": 2, "do": "throttle", "retryAfter": 7}`, []string{"Too Many Requests after 7 HTTPTooManyRequests", "Too Many Requests after 7 HTTPTooManyRequests", "Created"}, 1},
		"a throttle may be a 503":                       {create + `"nth": 1, "do": "throttle", "status": 503}`, []string{"Service Unavailable after 1 HTTPServiceUnavailable", "Created", "Created"}, 2},
		"a dropped answer leaves the work done":         {`{"call": 2, "do": "drop"}`, []string{"closed", "Created", "Created"}, 3},
		"a cut answer leaves the work done":             {`{"call": 2, "do": "cut"}`, []string{"cut", "Created", "Created"}, 3},
		"after a stop nothing is reached":               {`{"call": 2, "do": "stop"}`, []string{"Created", "closed", "closed"}, 1},
		"Keystone's calls count where the fault asks":   {`{"call": 3, "keystone": true, "do": "fail"}`, []string{"Internal Server Error HTTPInternalServerError", "Created", "Created"}, 2},
		"comments and empty lines are left out":         {"# nothing\n\n" + `{"call": 99, "do": "fail"}`, []string{"Created", "Created", "Created"}, 3},
		"a delay comes before another fault":            {create + `"nth": 1, "do": "delay", "ms": 1}` + "\n" + create + `"nth": 1, "do": "fail"}`, []string{"Internal Server Error HTTPInternalServerError", "Created", "Created"}, 2},
		"a fault for one path leaves other paths alone": {`{"match": {"path": "/v2.0/ports/{id}"}, "do": "fail"}`, []string{"Created", "Created", "Created"}, 3},
	} {
		t.Run(sentence, func(t *testing.T) {
			s, a, network := faulty(t, c.script)
			var got []string
			for range 3 {
				got = append(got, outcome(a.do("POST", "/network/v2.0/ports", `{"port": {"name": "probe", "network_id": "`+network+`"}}`)))
			}
			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Errorf("outcomes (-want +got):\n%s", diff)
			}
			snap := must(s.Snapshot())(t)
			made := snap.Only(func(o simulator.Object) bool { return o.Kind == "port" && o.Text("name") == "probe" })
			if len(made) != c.ports {
				t.Errorf("%d ports were made, want %d", len(made), c.ports)
			}
		})
	}
}

func TestFaultDelays(t *testing.T) {
	_, a, _ := faulty(t, `{"match": {"path": "/v2.0/routers"}, "do": "delay", "ms": 60}`)
	start := time.Now()
	a.net("GET", "/routers", "", 200)
	if took := time.Since(start); took < 60*time.Millisecond {
		t.Errorf("the delayed call took %v", took)
	}
}

func TestFaultHides(t *testing.T) {
	_, a, network := faulty(t, `{"match": {"method": "POST", "path": "/v2.0/ports"}, "do": "hide", "reads": 2}`)
	id := a.port(network, `, "name": "new"`).id("port")
	if n := len(a.net("GET", "/ports?name=new", "", 200).list("ports")); n != 0 {
		t.Errorf("the first read lists %d ports, want none", n)
	}
	a.net("GET", "/ports/"+id, "", 404)
	a.net("GET", "/ports/"+id, "", 200)
	if n := len(a.net("GET", "/ports?name=new", "", 200).list("ports")); n != 1 {
		t.Errorf("the fourth read lists %d ports, want one", n)
	}
}

// What a race does on real services: two equal rules, and a guard by revision number that lets a stale write in.
func TestFaultRaces(t *testing.T) {
	_, a, network := faulty(t, `{"match": {"method": "POST", "path": "/v2.0/security-group-rules"}, "nth": 3, "do": "race"}
		{"match": {"method": "PUT", "path": "/v2.0/ports/{id}"}, "nth": 2, "do": "race"}`)
	group := a.net("POST", "/security-groups", `{"security_group": {"name": "g"}}`, 201).id("security_group")
	rule := `{"security_group_rule": {"security_group_id": "` + group + `", "direction": "ingress"}}`
	for _, status := range []int{201, 409, 201, 409} {
		a.net("POST", "/security-group-rules", rule, status)
	}
	if n := len(a.net("GET", "/security-group-rules?direction=ingress&security_group_id="+group, "", 200).list("security_group_rules")); n != 2 {
		t.Errorf("%d equal rules, want two", n)
	}
	port := a.port(network, "").id("port")
	a.header.Set("If-Match", "revision_number=0")
	for _, status := range []int{412, 200, 412} {
		a.net("PUT", "/ports/"+port, `{"port": {"name": "n"}}`, status)
	}
}

func TestFaultScriptIsStrict(t *testing.T) {
	for sentence, script := range map[string]string{
		"an unknown key":                 `{"call": 1, "do": "fail", "state": 500}`,
		"an unknown key of match":        `{"match": {"url": "/"}, "do": "fail"}`,
		"an unknown action":              `{"call": 1, "do": "explode"}`,
		"no action":                      `{"call": 1}`,
		"neither call nor match":         `{"do": "fail"}`,
		"call and match":                 `{"call": 1, "match": {"method": "GET"}, "do": "fail"}`,
		"a key that has no effect":       `{"call": 1, "do": "drop", "status": 500}`,
		"nth of a single call":           `{"call": 1, "nth": 2, "do": "drop"}`,
		"a negative count":               `{"match": {}, "times": -1, "do": "drop"}`,
		"a status that is no error":      `{"call": 1, "do": "fail", "status": 204}`,
		"a status that is none":          `{"call": 1, "do": "throttle", "status": 42}`,
		"two objects in a line":          `{"call": 1, "do": "drop"} {"call": 2, "do": "drop"}`,
		"a line that is not JSON":        `call 7 fails`,
		"a wrong line after a right one": "{\"call\": 1, \"do\": \"drop\"}\n{",
	} {
		t.Run(sentence, func(t *testing.T) {
			if _, err := simulator.New(simulator.Options{Faults: strings.NewReader(script)}); err == nil {
				t.Errorf("accepted: %s", script)
			}
		})
	}
}

// A stopped server goes on after Reset, with the state that the stop left.
func TestInterceptStopsAndResetGoesOn(t *testing.T) {
	stopAt := 3
	s := cloud(t, simulator.Options{Intercept: func(n int, _ *http.Request) simulator.Fault {
		if n == stopAt {
			return simulator.Fault{Do: simulator.Stop}
		}
		return simulator.Fault{}
	}})
	a := connect(t, s, "operator")
	network := a.network("vpn-transit")
	a.port(network, "")
	a.port(network, "")
	if r := a.do("GET", "/network/v2.0/ports", ""); r.err == nil {
		t.Fatalf("a call after the stop was answered: %d", r.status)
	}
	stopAt = 0
	s.Reset()
	a.port(network, "")
	if diff := cmp.Diff(map[string]int{"POST /v2.0/ports": 1}, simulator.Count(s.Calls()).By); diff != "" {
		t.Errorf("calls since the reset (-want +got):\n%s", diff)
	}
}

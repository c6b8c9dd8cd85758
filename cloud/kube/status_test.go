package kube

import (
	"encoding/json"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/vpnctl/vpnctl/cloud"
)

// TestStatusPatch: what is written of a status, and that nothing is where nothing
// differs.
func TestStatusPatch(t *testing.T) {
	now := metav1.NewTime(time.Date(2026, 11, 30, 4, 0, 0, 0, time.UTC))
	const held = `{"serviceCIDR":"100.64.0.0/24","virtualIPs":[{"name":"web","ip":"100.64.0.10"}],"peers":[{"name":"plant1","state":"ESTABLISHED"}],` +
		`"conditions":[{"type":"Ready","status":"True","reason":"Ready","message":"","observedGeneration":2,"lastTransitionTime":"2026-11-29T00:00:00Z"},` +
		`{"type":"Theirs","status":"True","reason":"X","message":"","lastTransitionTime":"2026-11-29T00:00:00Z"}]}`
	ready := cloud.Condition{Type: "Ready", Status: "True", Reason: "Ready"}
	const theirs = `{"type":"Theirs","status":"True","lastTransitionTime":"2026-11-29T00:00:00Z","reason":"X","message":""}`
	for name, tt := range map[string]struct {
		status string
		said   cloud.Status
		want   string // the status of the patch; empty: none
	}{
		"the same": {held, cloud.Status{
			Fields:     map[string]any{"serviceCIDR": "100.64.0.0/24", "virtualIPs": []map[string]string{{"name": "web", "ip": "100.64.0.10"}}},
			Conditions: []cloud.Condition{ready},
		}, ""},
		"nothing to say": {held, cloud.Status{}, ""},
		"a first status": {"", cloud.Status{Conditions: []cloud.Condition{ready}},
			`{"conditions":[{"type":"Ready","status":"True","observedGeneration":2,"lastTransitionTime":"2026-11-30T04:00:00Z","reason":"Ready","message":""}]}`},
		"a field that moved": {held, cloud.Status{Fields: map[string]any{"serviceCIDR": "100.64.1.0/24"}, Conditions: []cloud.Condition{ready}},
			`{"serviceCIDR":"100.64.1.0/24"}`},
		"another reason keeps the time": {held, cloud.Status{Conditions: []cloud.Condition{{Type: "Ready", Status: "True", Reason: "Other"}}},
			`{"conditions":[{"type":"Ready","status":"True","observedGeneration":2,"lastTransitionTime":"2026-11-29T00:00:00Z","reason":"Other","message":""},` + theirs + `]}`},
		"another status has a new time": {held, cloud.Status{Conditions: []cloud.Condition{{Type: "Ready", Status: "False", Reason: "Ready", Message: "no"}}},
			`{"conditions":[{"type":"Ready","status":"False","observedGeneration":2,"lastTransitionTime":"2026-11-30T04:00:00Z","reason":"Ready","message":"no"},` + theirs + `]}`},
		"a condition that is none is left out": {
			`{"conditions":[{"type":"Ready","status":"True","reason":5},{"type":"Theirs","status":"True","reason":"X","message":"","lastTransitionTime":"2026-11-29T00:00:00Z"}]}`,
			cloud.Status{Conditions: []cloud.Condition{ready}},
			`{"conditions":[` + theirs + `,{"type":"Ready","status":"True","observedGeneration":2,"lastTransitionTime":"2026-11-30T04:00:00Z","reason":"Ready","message":""}]}`},
		"with nothing to say besides": {`{"conditions":[7]}`, cloud.Status{}, `{"conditions":null}`},
		"conditions that are no list": {`{"conditions":"fine"}`, cloud.Status{Conditions: []cloud.Condition{ready}},
			`{"conditions":[{"type":"Ready","status":"True","observedGeneration":2,"lastTransitionTime":"2026-11-30T04:00:00Z","reason":"Ready","message":""}]}`},
		"a status that is none": {`"fine"`, cloud.Status{Fields: map[string]any{"nodeName": "n1"}, Conditions: []cloud.Condition{ready}},
			`{"nodeName":"n1","conditions":[{"type":"Ready","status":"True","observedGeneration":2,"lastTransitionTime":"2026-11-30T04:00:00Z","reason":"Ready","message":""}]}`},
	} {
		m := cloud.Manifest{Kind: "VPNGateway", Namespace: "acme", Name: "dc1", UID: "u", Version: "7", Generation: 2}
		if tt.status != "" {
			m.Status = []byte(tt.status)
		}
		patch, err := statusPatch(m, tt.said, now)
		if err != nil {
			t.Fatal(err)
		}
		want := ""
		if tt.want != "" {
			want = `{"metadata":{"resourceVersion":"7"},"status":` + tt.want + `}`
		}
		if diff := cmp.Diff(plain(t, want), plain(t, string(patch))); diff != "" {
			t.Errorf("%s (-want +got)\n%s", name, diff)
		}
	}
}

func plain(t *testing.T, text string) (v any) {
	t.Helper()
	if text == "" {
		return nil
	}
	if err := json.Unmarshal([]byte(text), &v); err != nil {
		t.Fatal(err)
	}
	return v
}

// TestLongMessages: the API refuses them, so they are cut, between characters.
func TestLongMessages(t *testing.T) {
	for _, text := range []string{"short", strings.Repeat("x", longest), strings.Repeat("ä", longest), strings.Repeat("日", longest)} {
		got := bounded(text, longest)
		if len(got) > longest || !utf8.ValidString(got) || len(text) <= longest && got != text || len(text) > longest && len(got) < longest-4 {
			t.Errorf("%.10q of %d bytes became %d", text, len(text), len(got))
		}
	}
}

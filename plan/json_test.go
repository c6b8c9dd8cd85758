package plan

import (
	"bytes"
	"encoding/json"
	"errors"
	"net/netip"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/vpnctl/vpnctl/plan/vpn"
)

func encoded(t testing.TB, p Plan) string {
	t.Helper()
	var b strings.Builder
	if err := p.Encode(&b); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

func TestDecodeRefuses(t *testing.T) {
	good := encoded(t, Make(between(nil, []site{dc1()}).Input))
	if _, err := Decode(strings.NewReader(good)); err != nil {
		t.Fatal(err)
	}
	var first Plan
	if err := json.Unmarshal([]byte(good), &first); err != nil {
		t.Fatal(err)
	}
	edited := func(edit func(*Plan)) string {
		p := first
		p.Changes = append([]Change(nil), first.Changes...)
		edit(&p)
		return encoded(t, p)
	}
	for name, text := range map[string]string{
		"nothing":               "",
		"half a file":           good[:len(good)/2],
		"something else":        `{"kind": "List"}`,
		"another version":       strings.Replace(good, "plan/v1", "plan/v2", 1),
		"a field it can't know": strings.Replace(good, `"estate"`, `"surprise":1,"estate"`, 1),
		"two documents":         good + good,
		"an unknown action":     strings.Replace(good, `"action":"create"`, `"action":"destroy"`, 1),
		"an unknown impact":     strings.Replace(good, `"impact":"none"`, `"impact":"mild"`, 1),
		"an ID without a place": strings.Replace(good, `"openstack.port/acme/dc1"`, `"openstack.port//dc1"`, 1),
		"a change twice":        edited(func(p *Plan) { p.Changes = append(p.Changes, p.Changes[0]) }),
		"a wrong order":         edited(func(p *Plan) { p.Changes[0], p.Changes[1] = p.Changes[1], p.Changes[0] }),
		"a delete of nothing":   edited(func(p *Plan) { p.Changes[0].Action = Delete }),
	} {
		t.Run(name, func(t *testing.T) {
			if p, err := Decode(strings.NewReader(text)); err == nil {
				t.Errorf("accepted: %v", outline(p))
			}
		})
	}
}

func TestDecodeNamesTheVersion(t *testing.T) {
	_, err := Decode(strings.NewReader(`{"version": "vpnctl.bnerd.net/plan/v9"}`))
	if !errors.Is(err, ErrVersion) {
		t.Errorf("error %v", err)
	}
}

func TestDecodeOfAFormattedPlan(t *testing.T) {
	p := Make(between(nil, []site{dc1()}).Input)
	p.Input = &vpn.Estate{
		Name:            "prod",
		ServiceCIDRPool: netip.MustParsePrefix("100.64.0.0/16"),
		Kubernetes:      vpn.Kubernetes{Target: vpn.TargetDirectory},
		Pod:             vpn.Pod{Resources: json.RawMessage(`{"limits":{"cpu":"1"}}`), Tolerations: json.RawMessage(`[{"key":"a"}]`)},
		Patches:         []vpn.Patch{{Patch: "x", Target: json.RawMessage(`{"kind":"Deployment"}`)}},
	}
	var b bytes.Buffer
	if err := json.Indent(&b, []byte(encoded(t, p)), "", "  "); err != nil {
		t.Fatal(err)
	}
	read, err := Decode(&b)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(p, read, addresses); diff != "" {
		t.Errorf("read back (-want +got):\n%s", diff)
	}
}

func FuzzPlanJSON(f *testing.F) {
	for _, w := range []*world{
		between(nil, []site{dc1()}), between([]site{two()}, []site{dc1()}), gone(nil), gone(tree),
		between([]site{dc1()}, []site{dc1().with(func(s *site) { s.address, s.pinned, s.cidr = "203.0.113.8", true, "100.64.8.0/24" })}),
	} {
		p := Make(w.Input)
		p.Input = &w.Estate
		f.Add(encoded(f, p))
	}
	f.Fuzz(func(t *testing.T, text string) {
		p, err := Decode(strings.NewReader(text))
		if err != nil {
			return
		}
		once := encoded(t, p)
		again, err := Decode(strings.NewReader(once))
		if err != nil {
			t.Fatalf("what was written can't be read: %v\n%s", err, once)
		}
		if twice := encoded(t, again); twice != once {
			t.Errorf("read back differently:\n%s\n%s", once, twice)
		}
		p.Summary()
		if stale := Compare(p, again); len(stale) > 0 {
			t.Errorf("differs from itself: %v", stale)
		}
	})
}

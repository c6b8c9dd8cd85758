package simulator_test

import (
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/vpnctl/vpnctl/cloud/simulator"
)

func TestStateOutlivesTheProcess(t *testing.T) {
	dir, clk := t.TempDir(), newClock()
	first := cloud(t, simulator.Options{Dir: dir, Clock: clk.Now})
	a := connect(t, first, "operator")
	id := a.port(a.network("vpn-transit"), `, "name": "kept"`).id("port")
	a.net("PUT", "/ports/"+id+"/tags", `{"tags": ["x=1", "a/b"]}`, 200)
	want := string(must(first.Snapshot())(t).Bytes())

	for _, how := range []string{"while the first still runs", "after the first was closed"} {
		second := cloud(t, simulator.Options{Dir: dir, Clock: clk.Now})
		if diff := cmp.Diff(want, string(must(second.Snapshot())(t).Bytes())); diff != "" {
			t.Errorf("opened %s (-want +got):\n%s", how, diff)
		}
		if r := connect(t, second, "operator").net("GET", "/ports/"+id, "", 200); r.one("port")["name"] != "kept" {
			t.Errorf("opened %s: %s", how, r.raw)
		}
		if err := first.Close(); err != nil && how == "while the first still runs" {
			t.Fatal(err)
		}
		// the token of the first server is good at the second
		b := connect(t, second, "operator")
		b.token = a.token
		b.net("GET", "/ports/"+id, "", 200)
	}
}

// Two servers on one directory see each other's changes and give no address twice, while both write.
func TestTwoServersShareADirectory(t *testing.T) {
	dir := t.TempDir()
	var wg sync.WaitGroup
	for i := range 2 {
		s := cloud(t, simulator.Options{Dir: dir})
		a := connect(t, s, "operator")
		network := a.network("vpn-transit")
		wg.Go(func() {
			for j := range 40 {
				r := a.do("POST", "/network/v2.0/ports", fmt.Sprintf(`{"port": {"network_id": %q, "name": "p%d-%d"}}`, network, i, j))
				if r.status != 201 {
					t.Errorf("creating a port: %d %s", r.status, r.raw)
				}
			}
		})
	}
	wg.Wait()
	s := cloud(t, simulator.Options{Dir: dir})
	a := connect(t, s, "operator")
	seen := map[string]bool{}
	list := a.net("GET", "/ports?device_id=&network_id="+a.network("vpn-transit"), "", 200).list("ports")
	for _, p := range list {
		for _, ip := range p["fixed_ips"].([]any) {
			seen[ip.(map[string]any)["ip_address"].(string)] = true
		}
	}
	if len(list) != 80 || len(seen) != 80 {
		t.Errorf("%d ports with %d addresses, want 80 of each", len(list), len(seen))
	}
}

// A process that was killed in the middle of writing leaves half a line: it is as if the call had never come.
func TestHalfAWrittenCallIsForgotten(t *testing.T) {
	dir := t.TempDir()
	s := cloud(t, simulator.Options{Dir: dir})
	a := connect(t, s, "operator")
	a.port(a.network("vpn-transit"), `, "name": "whole"`)
	journals, err := filepath.Glob(filepath.Join(dir, "journal-*"))
	if err != nil || len(journals) != 1 {
		t.Fatalf("journals: %v, %v", journals, err)
	}
	f, err := os.OpenFile(journals[0], os.O_APPEND|os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := f.WriteString(`{"counter":99,"operations":[{"kind":"port","key":"x","val`); err != nil {
		t.Fatal(err)
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
	a.port(a.network("vpn-transit"), `, "name": "next"`)
	again := connect(t, cloud(t, simulator.Options{Dir: dir}), "operator")
	for _, name := range []string{"whole", "next"} {
		if n := len(again.net("GET", "/ports?name="+name, "", 200).list("ports")); n != 1 {
			t.Errorf("%d ports named %s, want one", n, name)
		}
	}
}

func TestAnUnreadableStateIsRefused(t *testing.T) {
	for sentence, content := range map[string]string{
		"not JSON":       "state",
		"another format": `{"format": "vpnctl-simulator/0", "journal": "journal-0"}`,
		"unknown kind":   `{"format": "vpnctl-simulator/1", "journal": "journal-0", "objects": [{"kind": "volume", "key": "a", "value": {}}]}`,
	} {
		t.Run(sentence, func(t *testing.T) {
			dir := t.TempDir()
			if err := os.WriteFile(filepath.Join(dir, "state.json"), []byte(content), 0o600); err != nil {
				t.Fatal(err)
			}
			if _, err := simulator.New(simulator.Options{Dir: dir}); err == nil {
				t.Error("opened")
			}
		})
	}
}

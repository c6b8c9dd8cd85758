package firewall

import (
	"net/netip"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/vpnctl/vpnctl/render/nat"
)

func TestHostsGoIntoTheRulesetsTransaction(t *testing.T) {
	address := netip.MustParseAddr
	ruleset, err := nat.Table{Sets: []nat.Set{
		{Name: "host_erp", Type: "ipv4_addr : ipv4_addr"}, {Name: "host_log", Type: "ipv4_addr : ipv4_addr"},
	}}.Text()
	if err != nil {
		t.Fatal(err)
	}
	erp, log := Host{"host_erp", address("100.64.7.12"), address("10.20.0.9")}, Host{"host_log", address("100.64.7.13"), address("10.20.0.8")}
	const addErp, addLog = "add element inet vpnctl host_erp { 100.64.7.12 : 10.20.0.9 }\n", "add element inet vpnctl host_log { 100.64.7.13 : 10.20.0.8 }\n"
	for sentence, c := range map[string]struct {
		hosts []Host
		want  string
	}{
		"none":                           {nil, ""},
		"both, in one order":             {[]Host{log, erp}, addErp + addLog},
		"one without a target":           {[]Host{erp, {Map: "host_log", VirtualIP: log.VirtualIP}}, addErp},
		"one that the ruleset lacks":     {[]Host{{"host_x", address("100.64.7.14"), address("10.20.0.8")}, log}, addLog},
		"an address of the other family": {[]Host{{"host_erp", address("100.64.7.12"), address("2001:db8::1")}}, ""},
	} {
		got, err := transaction(ruleset, c.hosts)
		if err != nil {
			t.Errorf("%s: %v", sentence, err)
		}
		if diff := cmp.Diff(ruleset+c.want, got); diff != "" {
			t.Errorf("%s (-want +got)\n%s", sentence, diff)
		}
	}
}

func TestNftsFirstComplaintIsTheError(t *testing.T) {
	dir := t.TempDir()
	for sentence, c := range map[string]struct{ script, want string }{
		"what it printed": {"#!/bin/sh\ncat >/dev/null; echo '/dev/stdin:3:1-5: Error: no such thing' >&2; echo '  table' >&2; exit 1\n", "nft: 3:1-5: Error: no such thing: exit status 1"},
		"nothing printed": {"#!/bin/sh\ncat >/dev/null; exit 3\n", "nft: exit status 3"},
		"read nothing":    {"#!/bin/sh\nexit 4\n", "nft: exit status 4"},
		"no such program": {"", "no such file or directory"},
	} {
		program := filepath.Join(dir, strings.ReplaceAll(sentence, " ", "-"))
		if c.script != "" {
			if err := os.WriteFile(program, []byte(c.script), 0o700); err != nil {
				t.Fatal(err)
			}
		}
		_, err := (&Table{Nft: program}).nft(t.Context(), strings.Repeat("x", 1<<20), "-f", "-")
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %q", sentence, err, c.want)
		}
	}
}

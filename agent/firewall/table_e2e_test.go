//go:build e2e

package firewall

import (
	"context"
	"fmt"
	"net/netip"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/vpnctl/vpnctl/plan/vpn"
)

func (l *lab) intact(table *Table) (intact bool) {
	l.t.Helper()
	l.in(func() (err error) {
		intact, err = table.Intact(l.t.Context())
		return err
	})
	return intact
}

func TestTamperingIsNoticed(t *testing.T) {
	for sentence, c := range map[string]struct {
		script string
		want   bool
	}{
		"nothing happened":                {"true", true},
		"another table came":              {"nft add table ip other; nft add chain ip other c", true},
		"the table is gone":               {"nft delete table inet vpnctl", false},
		"the table is empty":              {"nft flush table inet vpnctl", false},
		"everything is gone":              {"nft flush ruleset", false},
		"a rule was added":                {"nft insert rule inet vpnctl forward accept", false},
		"a rule was removed":              {"nft flush chain inet vpnctl sealed", false},
		"a grant was added":               {"nft add element inet vpnctl grants_any '{ 192.168.99.0/24 . 100.64.7.11 }'", false},
		"a grant was removed":             {"nft delete element inet vpnctl grants_any '{ 192.168.40.0/24 . 100.64.7.11 }'", false},
		"a host was filled by another":    {"nft add element inet vpnctl host_erp '{ 100.64.7.12 : 10.20.0.9 }'", false},
		"the policy of a chain is other":  {"nft add chain inet vpnctl forward '{ policy accept; }'", false},
		"a rule came and went":            {"nft add chain inet vpnctl x; nft delete chain inet vpnctl x", true},
		"the same ruleset, by other hand": {"nft list table inet vpnctl > $1/t; (echo delete table inet vpnctl; cat $1/t) > $1/u; nft -f $1/u", false},
	} {
		t.Run(sentence, func(t *testing.T) {
			l := newLab(t)
			table := &Table{}
			if l.intact(table) {
				t.Error("intact before anything was applied")
			}
			l.apply(table, gateway())
			for range 2 {
				if !l.intact(table) {
					t.Fatal("not intact after Apply")
				}
			}
			l.Gateway.Run(t, "sh", "-euc", c.script, "sh", t.TempDir())
			for range 2 {
				if got := l.intact(table); got != c.want {
					t.Errorf("intact: %t, want %t", got, c.want)
				}
			}
			changed, _ := l.apply(table, gateway())
			if changed == c.want {
				t.Errorf("applied anew: %t, want %t", changed, !c.want)
			}
			if !l.intact(table) {
				t.Error("not intact after it was applied anew")
			}
		})
	}
}

// A hand that comes between Apply and the first look is noticed too.
func TestTamperingBeforeTheFirstLookIsNoticed(t *testing.T) {
	l := newLab(t)
	table := &Table{}
	l.apply(table, gateway())
	l.Gateway.Run(t, "nft", "insert", "rule", "inet", "vpnctl", "forward", "accept")
	if l.intact(table) {
		t.Error("intact, though a rule was added")
	}
}

// What the kernel counts isn't another hand's.
func TestConnectionsAreNoTampering(t *testing.T) {
	l := newLab(t)
	table := &Table{}
	l.apply(table, gateway())
	if !l.intact(table) {
		t.Fatal("not intact after Apply")
	}
	l.Ours.Echo(t, "10.20.0.9:7")
	l.Peer.Stream(t, berlin, "100.64.7.11:7")
	if !strings.Contains(l.Gateway.Run(t, "nft", "list", "set", "inet", "vpnctl", "connections"), "ct count over") {
		t.Fatal("nothing was counted: that proves nothing")
	}
	l.Gateway.Run(t, "nft", "add", "table", "ip", "other")
	if !l.intact(table) {
		t.Error("not intact, though a connection was counted, and no more")
	}
}

func TestApplyIsOneTransaction(t *testing.T) {
	l := newLab(t)
	table := &Table{}
	l.Gateway.Run(t, "nft", "add", "table", "ip", "other")
	erp := Host{Map: "host_erp", VirtualIP: netip.MustParseAddr("100.64.7.12"), Target: netip.MustParseAddr("10.20.0.9")}
	unresolved := Host{Map: "host_erp", VirtualIP: netip.MustParseAddr("100.64.7.12")}
	unknown := Host{Map: "host_new", VirtualIP: netip.MustParseAddr("100.64.7.13"), Target: netip.MustParseAddr("10.20.0.9")}
	list := func() string { return l.Gateway.Run(t, "nft", "list", "ruleset") }

	if changed, _ := l.apply(table, gateway(), unresolved, unknown); !changed || strings.Contains(list(), "10.20.0.9 }\n\t}\n\n\tchain") {
		t.Error("not applied, or a host has a target that it hasn't")
	}
	if changed, _ := l.apply(table, gateway(), erp); !changed || !strings.Contains(list(), "elements = { 100.64.7.12 : 10.20.0.9 }") {
		t.Error("a host that resolves now is not in its map")
	}
	if changed, _ := l.apply(table, gateway(), erp); changed {
		t.Error("applied anew, though nothing changed")
	}
	// A second agent's first Apply replaces what the first one left.
	if changed, _ := l.apply(&Table{}, gateway(), erp); !changed {
		t.Error("an agent that has just started must not trust what it finds")
	}

	want := list()
	for sentence, text := range map[string]string{
		"a file that was cut off":           "table inet vpnctl\ndelete table inet vpnctl\ntable inet vpnctl {\n",
		"an empty file":                     "",
		"a file that reaches another table": "table ip other\ndelete table ip other\n",
		"a rule that nft doesn't know":      strings.Replace(second(ruleset(t, gateway())), "ct state established ", "ct state ordinary ", 1),
		"a map that isn't there":            strings.Replace(second(ruleset(t, gateway())), "@grants_any", "@grants_all", 1),
	} {
		l.in(func() error {
			changed, err := table.Apply(t.Context(), text, nil)
			if changed || err == nil {
				t.Errorf("%s: changed %t, error %v", sentence, changed, err)
			} else {
				t.Logf("%s: %v", sentence, err)
			}
			return nil
		})
	}
	if diff := cmp.Diff(want, list()); diff != "" {
		t.Errorf("what was in force isn't any more (-want +got)\n%s", diff)
	}
}

func second[A, B any](_ A, b B) B { return b }

func TestInterruptedApplyIsRepeated(t *testing.T) {
	l := newLab(t)
	table := &Table{}
	l.apply(table, gateway())
	_, text := ruleset(t, gateway())
	l.in(func() error {
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		if _, err := table.Apply(ctx, strings.Replace(text, "# berlin", "# bremen", 1), nil); err == nil {
			t.Error("no error from an interrupted run")
		}
		return nil
	})
	if changed, _ := l.apply(table, gateway()); !changed {
		t.Error("what an interrupted run left behind was taken for the ruleset before it")
	}
}

// TestTenThousandElements prints what large rulesets cost.
func TestTenThousandElements(t *testing.T) {
	in := gateway()
	in.Gateway.Peers = nil
	for i := range 5000 {
		in.Gateway.Peers = append(in.Gateway.Peers, vpn.Peer{
			Name:    fmt.Sprintf("peer-%d", i),
			Subnets: []netip.Prefix{netip.PrefixFrom(netip.AddrFrom4([4]byte{172, 16 + byte(i>>8), byte(i), 0}), 24)},
			Grants:  &vpn.Grants{Exposures: []string{"web"}},
		})
	}
	l := newLab(t)
	table := &Table{}
	rules, text := ruleset(t, in)
	elements := 0
	for _, s := range rules.Sets {
		elements += len(s.Elements)
	}
	l.in(func() error {
		timed := func(what string, f func() error) {
			start := time.Now()
			if err := f(); err != nil {
				t.Error(err)
			}
			t.Logf("%d elements: %s %v", elements, what, time.Since(start))
		}
		intact := func() error {
			intact, err := table.Intact(t.Context())
			if err == nil && !intact {
				err = fmt.Errorf("not intact")
			}
			return err
		}
		apply := func() error { _, err := table.Apply(t.Context(), text, nil); return err }
		timed("applied in", apply)
		timed("applied again, unchanged, in", apply)
		timed("noted in", intact)
		timed("intact, by the count alone, in", intact)
		timed("grants read in", func() error { _, err := grantsOf(rules, nil); return err })
		return nil
	})
	l.Gateway.Run(t, "nft", "add", "table", "ip", "other")
	l.in(func() error {
		start := time.Now()
		intact, err := table.Intact(t.Context())
		t.Logf("%d elements: intact: %t, by comparison, in %v", elements, intact, time.Since(start))
		return err
	})
}

package firewall

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"net/netip"
	"os/exec"
	"slices"
	"strings"

	"github.com/vpnctl/vpnctl/render/nat"
)

// Host is what the host name of an exposure resolves to.
type Host struct {
	Map       string     // of the ruleset
	VirtualIP netip.Addr // of the exposure, the map's only key
	Target    netip.Addr // invalid: nothing is known yet, and the exposure leads nowhere
}

// Table is the gateway's nftables table. The zero value knows nothing of what is in
// force, so its first Apply writes. It is for one goroutine.
type Table struct {
	Nft string // the program; default nft, looked up in PATH

	applied    string // the text in force, empty: none that we know of
	generation uint32 // of the kernel's ruleset, when the table was seen to be ours
	listing    string // of the table as it then was, empty: not taken yet
}

// Apply replaces the table by a ruleset of render/nat with the host maps filled, in
// one transaction, unless that is in force already. Hosts without a target and maps
// that the ruleset doesn't declare are left out: the two files of a gateway arrive
// one after the other. On an error what was in force stays so.
func (t *Table) Apply(ctx context.Context, ruleset string, hosts []Host) (changed bool, err error) {
	text, err := transaction(ruleset, hosts)
	if err != nil || text == t.applied {
		return false, err
	}
	before, err := generation()
	if err != nil {
		return false, err
	}
	if _, err := t.nft(ctx, text, "-f", "-"); err != nil {
		if ctx.Err() != nil {
			t.forget() // an nft that was interrupted may have committed
		}
		return false, fmt.Errorf("applying the ruleset: %w", err)
	}
	t.applied, t.listing, t.generation = text, "", before+1
	return true, nil
}

// transaction is the text for nft: the ruleset, whose shape is checked, so that no
// file reaches another table, and an element for each host.
func transaction(ruleset string, hosts []Host) (string, error) {
	table, err := nat.Parse(ruleset)
	if err != nil {
		return "", err
	}
	var b strings.Builder
	b.WriteString(ruleset)
	hosts = slices.SortedFunc(slices.Values(hosts), func(a, b Host) int { return cmp.Compare(a.Map, b.Map) })
	for _, h := range hosts {
		if _, declared := table.Set(h.Map); declared && h.VirtualIP.Is4() && h.Target.Is4() {
			fmt.Fprintf(&b, "add element inet %s %s { %s : %s }\n", nat.TableName, h.Map, h.VirtualIP, h.Target)
		}
	}
	return b.String(), nil
}

// nft runs the program and returns what it printed. Its first complaint is the
// error's text.
func (t *Table) nft(ctx context.Context, input string, args ...string) (string, error) {
	command := exec.CommandContext(ctx, cmp.Or(t.Nft, "nft"), args...)
	var out, complaint bytes.Buffer
	command.Stdin, command.Stdout, command.Stderr = strings.NewReader(input), &out, &complaint
	if err := command.Run(); err != nil {
		if first, _, _ := strings.Cut(strings.TrimSpace(complaint.String()), "\n"); first != "" {
			return "", fmt.Errorf("nft: %s: %w", strings.TrimPrefix(first, "/dev/stdin:"), err)
		}
		return "", fmt.Errorf("nft: %w", err)
	}
	return out.String(), nil
}

package firewall

import (
	"context"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"os/exec"

	"github.com/vishvananda/netlink/nl"
	"github.com/vpnctl/vpnctl/render/nat"
	"golang.org/x/sys/unix"
)

// Intact tells whether the table is as Apply left it; false after any change to it,
// and then the next Apply writes it anew. Where nobody changed anything it costs one
// small message, however large the ruleset.
//
// The kernel counts every transaction on the rulesets of a network namespace:
//
//	count            table               → intact
//	as we left it    (first time: noted) → yes
//	another          as it was noted     → yes: it was another table's transaction
//	another          not noted, or else  → no
func (t *Table) Intact(ctx context.Context) (bool, error) {
	if t.applied == "" {
		return false, nil
	}
	now, err := generation()
	if err != nil {
		return false, err
	}
	if now == t.generation && t.listing != "" {
		return true, nil
	}
	if now != t.generation && t.listing == "" {
		t.forget()
		return false, nil
	}
	return t.compare(ctx, now)
}

// compare lists the table, either to note it or to hold it against the note. It
// counts only if the ruleset stood still meanwhile.
func (t *Table) compare(ctx context.Context, now uint32) (bool, error) {
	listing, err := t.list(ctx)
	if err != nil {
		return false, err
	}
	after, err := generation()
	if err != nil {
		return false, err
	}
	if listing == "" || t.listing != "" && listing != t.listing {
		t.forget()
		return false, nil
	}
	if after == now {
		t.listing, t.generation = listing, now
	}
	return true, nil
}

// list prints the table as the kernel has it, or nothing if it is gone.
func (t *Table) list(ctx context.Context) (string, error) {
	listing, err := t.nft(ctx, "", "--json", "--handle", "list", "table", "inet", nat.TableName)
	if exit := (*exec.ExitError)(nil); errors.As(err, &exit) && ctx.Err() == nil {
		return "", nil
	}
	if err != nil {
		return "", fmt.Errorf("listing the ruleset: %w", err)
	}
	return uncounted(listing)
}

// uncounted is a listing without what the kernel itself has put into the table.
func uncounted(listing string) (string, error) {
	var all struct {
		Objects []json.RawMessage `json:"nftables"`
	}
	if err := json.Unmarshal([]byte(listing), &all); err != nil {
		return "", fmt.Errorf("reading nft's list of the ruleset: %w", err)
	}
	for i, object := range all.Objects {
		var counted struct {
			Set *struct {
				Name   string
				Size   int
				Handle int
			}
		}
		if err := json.Unmarshal(object, &counted); err != nil || counted.Set == nil || counted.Set.Name != nat.ConnectionSet {
			continue // of another shape: it stays as it is
		}
		var err error
		if all.Objects[i], err = json.Marshal(counted); err != nil {
			return "", err
		}
	}
	text, err := json.Marshal(all.Objects)
	return string(text), err
}

func (t *Table) forget() { t.applied, t.listing = "", "" }

// nftaGenID is the attribute that holds the count of transactions
// (linux/netfilter/nf_tables.h).
const nftaGenID = 1

// generation is the kernel's count of transactions on this network namespace's
// rulesets, of whatever table.
func generation() (uint32, error) {
	request := nl.NewNetlinkRequest(unix.NFNL_SUBSYS_NFTABLES<<8|unix.NFT_MSG_GETGEN, 0)
	request.AddData(&nl.Nfgenmsg{NfgenFamily: unix.AF_UNSPEC, Version: nl.NFNETLINK_V0})
	answers, err := request.Execute(unix.NETLINK_NETFILTER, 0)
	if err != nil {
		return 0, fmt.Errorf("reading the ruleset's generation: %w", err)
	}
	for _, answer := range answers {
		var id []byte
		err := attributes(answer[min(len(answer), nl.SizeofNfgenmsg):], func(kind uint16, a attribute) {
			if kind == nftaGenID {
				id = a.value()
			}
		})
		if err == nil && len(id) == 4 {
			return binary.BigEndian.Uint32(id), nil
		}
	}
	return 0, errors.New("reading the ruleset's generation: the kernel's answer has none")
}

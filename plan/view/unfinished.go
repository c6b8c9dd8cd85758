package view

import (
	"cmp"
	"fmt"
	"regexp"
	"strings"

	"github.com/vpnctl/vpnctl/plan/vpn"
)

// ownerOutcome is what became of one gateway.
type ownerOutcome struct {
	owner        vpn.Owner
	failed       []Outcome
	done, undone []string
	good, all    int    // of those that count: done ones, and all
	last         string // the last step that was done
	stopped      bool
	why          error // of the first change that was not begun
}

func (o *ownerOutcome) finished() bool { return len(o.failed)+len(o.undone) == 0 }

func owners(outcomes []Outcome) []*ownerOutcome {
	var all []*ownerOutcome
	index := map[vpn.Owner]*ownerOutcome{}
	of := map[vpn.Owner][]Outcome{}
	for _, x := range outcomes {
		of[x.Change.Owner] = append(of[x.Change.Owner], x)
		o := index[x.Change.Owner]
		if o == nil {
			o = &ownerOutcome{owner: x.Change.Owner}
			index[x.Change.Owner] = o
			all = append(all, o)
		}
		switch {
		case x.Done:
			o.last = step(x.Change)
			o.done = append(o.done, o.last)
		case x.Failed:
			o.failed = append(o.failed, x)
		default:
			o.undone = append(o.undone, step(x.Change))
			o.stopped = o.stopped || x.Stopped
			o.why = cmp.Or(o.why, x.Err)
		}
	}
	for _, o := range all {
		o.good, o.all = counted(of[o.owner])
	}
	return all
}

// likeShown is how many gateways of one namespace that came to the same end are told of one
// by one.
const likeShown = 3

// alike puts gateways of one namespace together that came to the same end: errors differ
// in no more than the gateway's own name. The order is that of the first of each.
func alike(all []*ownerOutcome) [][]*ownerOutcome {
	var groups [][]*ownerOutcome
	index := map[string]int{}
	for _, o := range all {
		end := o.end()
		i, known := index[end]
		if !known {
			i = len(groups)
			index[end], groups = i, append(groups, nil)
		}
		groups[i] = append(groups[i], o)
	}
	return groups
}

// end is how a gateway ended, without its name.
func (o *ownerOutcome) end() string {
	var parts []string
	for _, f := range o.failed {
		parts = append(parts, step(f.Change)+": "+oneLine(f.Err)+"\x00"+f.Cure)
	}
	if len(o.failed) == 0 {
		parts = append(parts, o.halt())
	}
	text := strings.Join(parts, "\n")
	if o.owner.Name != "" {
		text = regexp.MustCompile(`\b`+regexp.QuoteMeta(o.owner.Name)+`\b`).ReplaceAllString(text, "\x00")
	}
	return o.owner.Namespace + "\n" + text
}

// halt says why a gateway is not finished although nothing of it failed.
func (o *ownerOutcome) halt() string {
	switch {
	case o.stopped && len(o.done) > 0:
		return fmt.Sprintf("stopped after %s, %d of %s", o.last, o.good, count(o.all, "change"))
	case o.stopped:
		return "stopped before it began"
	}
	return oneLine(o.why)
}

// advice says what to do about a gateway that is not finished.
func (o *ownerOutcome) advice() string {
	for _, f := range o.failed {
		if f.Cure != "" {
			return "nothing needs undoing: " + Plain(f.Cure) + ", then run apply again"
		}
	}
	return "nothing needs undoing, run apply again"
}

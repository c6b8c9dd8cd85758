package view

import (
	"bytes"
	"errors"
	"testing"
	"time"

	"github.com/vpnctl/vpnctl/plan"
)

func TestOutcomes(t *testing.T) {
	all := everything().Pending()
	failed := errors.New("attaching port 3f2a to server worker-3: 409 conflictingRequest:\nport is still in use\x1b[2J")
	var mixed, stopped, fine []Outcome
	for _, c := range all {
		o := Outcome{Change: c, Done: true}
		fine = append(fine, o)
		switch {
		case c.Owner == remote && c.ID.Kind.Short() == "port":
			o = Outcome{Change: c, Failed: true, Err: failed}
		case c.Owner == remote && c.ID.Kind.Short() != "security-group":
			o = Outcome{Change: c, Err: errors.New("needs openstack.port/globex/remote")}
		}
		mixed = append(mixed, o)
		stopped = append(stopped, Outcome{Change: c, Done: c.Owner == dc1, Err: errors.New("stopped before it began")})
	}
	for name, c := range map[string][]Outcome{
		"all is done":                  fine,
		"one gateway failed":           mixed,
		"stopped in between":           stopped,
		"nothing was there to be done": nil,
	} {
		t.Run(name, func(t *testing.T) {
			var b bytes.Buffer
			if err := Outcomes(&b, c, 1800*time.Millisecond, false); err != nil {
				t.Fatal(err)
			}
			golden(t, "outcomes_"+t.Name()[len("TestOutcomes/"):]+".txt", b.Bytes())
		})
	}
}

func TestProgress(t *testing.T) {
	for name, live := range map[string]bool{"on a terminal": true, "elsewhere": false} {
		t.Run(name, func(t *testing.T) {
			var b bytes.Buffer
			now := time.Unix(0, 0)
			changes := everything().Pending()
			p := NewProgress(&b, changes, ProgressOptions{Live: live, Width: 60, Now: func() time.Time { return now }})
			for _, c := range changes {
				p.Started(c)
				now = now.Add(1500 * time.Millisecond)
				p.Tick()
				now = now.Add(1500 * time.Millisecond)
				p.Tick()
				var err error
				if c.Action == plan.Release {
					err = errors.New("no")
				}
				p.Settled(c, false, err)
			}
			p.Close()
			golden(t, "progress_"+t.Name()[len("TestProgress/"):]+".txt", b.Bytes())
		})
	}
}

package vici

import (
	"context"
	"fmt"
	"time"

	govici "github.com/strongswan/govici/vici"
)

// EventKind tells events apart.
type EventKind string

// The kinds of events.
const (
	// Listening is the first event: from here on nothing is missed. What happened
	// before is to be seen in SAs.
	Listening EventKind = "listening"
	// Changed says that an IKE or a child SA of the connection came or went.
	Changed EventKind = "changed"
	// Failed says why a negotiation of the connection came to nothing.
	Failed EventKind = "failed"
)

// Event is something that charon reports by itself.
type Event struct {
	Kind       EventKind
	Time       time.Time
	Connection string
	SA         uint32    // the IKE SA's ID
	Reason     string    // of Failed, and of Changed if known: a word of reason.go, or a notify's name
	Children   []ChildSA // of Changed: as they were then, a child that went with its last counters
}

// events are subscribed to on a session each.
var events = []string{"log", "ike-updown", "child-updown"}

// backlog is how many events may wait while on runs; later ones are lost.
const backlog = 1 << 12

// Listen calls on for each event, one at a time, until ctx ends (it returns ctx's
// error) or charon goes away (ErrGone). It has sessions of its own. Events of
// different kinds may swap places: a tunnel that failed may be reported as changed
// before the reason is, or after it. A charon that hangs goes unnoticed here.
func Listen(ctx context.Context, socket string, on func(Event)) error {
	var feeds [3]chan govici.Event
	for i, name := range events {
		s, err := Dial(ctx, socket)
		if err != nil {
			return err
		}
		defer s.Close()
		if feeds[i], err = s.subscribe(ctx, name); err != nil {
			return err
		}
	}
	on(Event{Kind: Listening, Time: time.Now()})
	for {
		var e govici.Event
		open := true
		select {
		case <-ctx.Done():
			return ctx.Err()
		case e, open = <-feeds[0]:
		case e, open = <-feeds[1]:
		case e, open = <-feeds[2]:
		}
		if !open {
			return fmt.Errorf("listening to charon: %w", ErrGone)
		}
		for _, event := range readEvent(e) {
			on(event)
		}
	}
}

// subscribe returns the events of that name. The channel is closed when the session
// ends.
func (s *Session) subscribe(ctx context.Context, name string) (chan govici.Event, error) {
	feed := make(chan govici.Event, backlog)
	s.charon.NotifyEvents(feed)
	err := s.exchange(ctx, name, func() error { return s.charon.Subscribe(name) })
	return feed, err
}

// readEvent returns what an event says, which of a line of the log is mostly nothing.
func readEvent(e govici.Event) []Event {
	f := fields{e.Message}
	if e.Name == "log" {
		line := Event{
			Kind: Failed, Time: e.Timestamp, Connection: f.text("ikesa-name"),
			SA: uint32(f.number("ikesa-uniqueid")), Reason: reason(f.text("msg")),
		}
		if line.Reason == ClosedByPeer {
			line.Kind = Changed
		}
		if line.Reason == "" || line.Connection == "" {
			return nil
		}
		return []Event{line}
	}
	// Beside the section there is "up", if it is up: of no use, because of a
	// connection named up nothing but its section remains.
	var all []Event
	for _, sa := range f.sections() {
		all = append(all, Event{
			Kind: Changed, Time: e.Timestamp, Connection: sa.name,
			SA: uint32(sa.number("uniqueid")), Children: readChildren(sa.fields),
		})
	}
	return all
}

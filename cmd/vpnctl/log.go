package main

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"strings"

	"github.com/vpnctl/vpnctl/plan/view"
)

// log writes to stderr what -v and -vv ask for.
func (g *Globals) log(s *streams) *slog.Logger {
	switch {
	case g.Verbose > 1:
		return slog.New(slog.NewTextHandler(s.stderr, &slog.HandlerOptions{Level: slog.LevelDebug}))
	case g.Verbose > 0:
		return slog.New(slog.NewTextHandler(s.stderr, nil))
	}
	return slog.New(slog.DiscardHandler)
}

// aloud is a log of which people read the warnings, one line each.
func aloud(w io.Writer) *slog.Logger { return slog.New(warnings{w}) }

type warnings struct{ w io.Writer }

func (warnings) Enabled(_ context.Context, l slog.Level) bool { return l >= slog.LevelWarn }

// Handle writes what happened, to what, and the error after a colon; of a condition, whose
// it is, its reason and what it says.
func (h warnings) Handle(_ context.Context, r slog.Record) error {
	text, why := r.Message, ""
	said := map[string]string{}
	r.Attrs(func(a slog.Attr) bool {
		said[a.Key] = a.Value.String()
		if a.Key == "error" {
			why = ": " + a.Value.String()
		} else {
			text += " " + a.Value.String()
		}
		return true
	})
	if said["condition"] != "" {
		text = said["manifest"] + " is " + r.Message + ": " + strings.TrimSuffix(said["reason"]+": "+said["message"], ": ")
	}
	_, err := fmt.Fprintln(h.w, "! "+view.Plain(text+why))
	return err
}

func (h warnings) WithAttrs([]slog.Attr) slog.Handler { return h }
func (h warnings) WithGroup(string) slog.Handler      { return h }

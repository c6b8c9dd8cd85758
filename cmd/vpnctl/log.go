package main

import "log/slog"

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

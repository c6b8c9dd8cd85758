package main

import (
	"context"
	"errors"
	"io"
	"os"
	"strings"

	"github.com/hashicorp/go-multierror"
	"golang.org/x/term"

	"github.com/vpnctl/vpnctl/plan/view"
)

// streams are where a command reads and writes.
type streams struct {
	stdin          io.Reader
	stdout, stderr io.Writer
	code           int
	ended          bool
}

func standardStreams() *streams {
	return &streams{stdin: os.Stdin, stdout: os.Stdout, stderr: os.Stderr}
}

// exit is called by the parser once it has printed help.
func (s *streams) exit(code int) { s.code, s.ended = code, true }

func (s *streams) exited() (int, bool) { return s.code, s.ended }

// plain writes an error so that nothing in it can move a cursor: on one line,
// or one line each where several were gathered.
func (s *streams) plain(err error) string {
	if all, ok := errors.AsType[*multierror.Error](err); ok {
		var lines []string
		for _, one := range all.Errors {
			lines = append(lines, view.Plain(one.Error()))
		}
		return strings.Join(lines, "\n        ")
	}
	return view.Plain(strings.Join(strings.Fields(err.Error()), " "))
}

// interrupted is errInterrupted once a signal has ended the reading of stdin.
func (s *streams) interrupted() error {
	if in, ok := s.stdin.(interruptible); ok && in.ctx.Err() != nil {
		return context.Cause(in.ctx)
	}
	return nil
}

// terminal tells whether a stream is a terminal.
func terminal(stream any) bool {
	if in, ok := stream.(interruptible); ok {
		stream = in.from
	}
	f, ok := stream.(*os.File)
	return ok && term.IsTerminal(int(f.Fd()))
}

// width of a terminal, 0 where it is not known.
func width(stream any) int {
	f, ok := stream.(*os.File)
	if !ok {
		return 0
	}
	w, _, err := term.GetSize(int(f.Fd()))
	if err != nil {
		return 0
	}
	return w
}

// color tells whether to colour a stream.
func (g *Globals) color(stream any) bool {
	switch g.Color {
	case "always":
		return true
	case "never":
		return false
	}
	return os.Getenv("NO_COLOR") == "" && os.Getenv("TERM") != "dumb" && terminal(stream)
}

package main

import (
	"errors"
	"fmt"
	"strings"

	"github.com/alecthomas/kong"
)

// Exit codes.
const (
	exitDone        = 0
	exitError       = 1   // refused, failed, denied, or a command line that makes no sense
	exitChanges     = 2   // --detailed-exitcode: there are changes
	exitTimedOut    = 3   // wait: the time is up
	exitStuck       = 4   // wait: what is waited for can't come unless somebody edits a manifest
	exitInterrupted = 130 // Ctrl-C ended the run at once: before anything was changed, or as the second one
)

// errChanges: all went well, and there are changes.
var errChanges = exit{code: exitChanges}

// errSaid: something went wrong and the output says what.
var errSaid = exit{code: exitError}

// exit ends the program with a code; without a message nothing is printed.
type exit struct {
	code    int
	message string
}

func (e exit) Error() string { return e.message }

// fail prints an error, one line for each of several, and returns its exit
// code; no error is exitDone.
func fail(s *streams, err error) int {
	if err == nil {
		return exitDone
	}
	e, ok := errors.AsType[exit](err)
	if !ok {
		e.code = exitError
	}
	if !ok || e.message != "" {
		fmt.Fprintln(s.stderr, "vpnctl: "+s.plain(err))
	}
	return e.code
}

// usage is fail for a command line that was not understood.
func usage(s *streams, err error) int {
	code := fail(s, err)
	command := "vpnctl"
	if parsed, ok := errors.AsType[*kong.ParseError](err); ok {
		for name := range strings.FieldsSeq(parsed.Context.Command()) {
			if strings.ContainsAny(name, "<[") { // what it is about
				break
			}
			command += " " + name
		}
	}
	fmt.Fprintln(s.stderr, "Try: "+command+" --help")
	return code
}

package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"sync"
	"syscall"
)

// interrupts are Ctrl-C, the request to terminate and the end of the terminal.
// Reading ends at the first one. An apply finishes the call in flight and stops;
// the second one ends the program at once, unless it is the terminal's.
type interrupts struct {
	ctx     context.Context
	cancel  context.CancelCauseFunc
	stop    chan struct{} // closed at the first one, during an apply
	signals chan os.Signal
	w       io.Writer

	mu       sync.Mutex
	graceful bool
}

// errInterrupted is the cause of a context that a signal cancelled.
var errInterrupted = exit{code: exitInterrupted, message: "interrupted"}

func newInterrupts(w io.Writer) *interrupts {
	i := &interrupts{stop: make(chan struct{}), signals: make(chan os.Signal, 2), w: w}
	i.ctx, i.cancel = context.WithCancelCause(context.Background())
	signal.Ignore(syscall.SIGPIPE) // writing to a reader that is gone is an error like others
	signal.Notify(i.signals, os.Interrupt, syscall.SIGTERM)
	if !signal.Ignored(syscall.SIGHUP) { // nohup
		signal.Notify(i.signals, syscall.SIGHUP)
	}
	go i.wait()
	return i
}

func (i *interrupts) wait() {
	asked, first := 0, true
	for s := range i.signals {
		if s != syscall.SIGHUP { // a terminal that closes sends several, and other signals with them
			asked++
		}
		if asked > 1 {
			os.Exit(exitInterrupted)
		}
		if first {
			first = false
			i.first()
		}
	}
}

func (i *interrupts) first() {
	i.mu.Lock()
	defer i.mu.Unlock()
	if !i.graceful {
		i.cancel(errInterrupted)
	} else {
		fmt.Fprintln(i.w, "Stopping: what is in flight is finished first. Again to exit at once.")
	}
	close(i.stop)
}

// Graceful makes the first signal close stop and leave ctx alone, from here on.
func (i *interrupts) Graceful() {
	i.mu.Lock()
	defer i.mu.Unlock()
	i.graceful = true
}

// told is the error of a run, or that a signal ended it.
func (i *interrupts) told(err error) error {
	ended := errors.Is(err, context.Canceled) || errors.Is(err, errInterrupted)
	if ended && errors.Is(context.Cause(i.ctx), errInterrupted) {
		return errInterrupted
	}
	return err
}

// Close gives the signals back; the goroutine that waits for them ends.
func (i *interrupts) Close() {
	signal.Stop(i.signals)
	close(i.signals)
	i.cancel(nil)
}

// interruptible reads until a signal has ended ctx, whose cause is then the error. A
// terminal doesn't give up a read that was begun: it is left to the end of the
// program, and what it reads is lost.
type interruptible struct {
	ctx  context.Context
	from io.Reader
}

func (r interruptible) Read(p []byte) (int, error) {
	type result struct {
		n   int
		err error
	}
	own, read := make([]byte, len(p)), make(chan result, 1)
	go func() {
		n, err := r.from.Read(own)
		read <- result{n, err}
	}()
	select {
	case <-r.ctx.Done():
		return 0, context.Cause(r.ctx)
	case got := <-read:
		return copy(p, own[:got.n]), got.err
	}
}

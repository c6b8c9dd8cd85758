package main

import (
	"context"
	"fmt"
	"io"
	"strings"
	"time"

	"golang.org/x/term"

	"github.com/vpnctl/vpnctl/cloud/kube"
	"github.com/vpnctl/vpnctl/plan/roster"
	"github.com/vpnctl/vpnctl/plan/view"
)

// watch prints until a signal, which is how it ends well.
func (c statusCommand) watch(g *Globals, s *streams, stop *interrupts, at lookout) error {
	ctx, cancel := context.WithCancel(stop.ctx)
	defer cancel()
	w := &watching{command: c, globals: g, streams: s, at: at}
	sights := at.driver.Follow(ctx, at.which)
	defer func() {
		cancel()
		for range sights { // until those who read have ended
		}
	}()
	tick := time.NewTicker(time.Second)
	defer tick.Stop()
	for {
		var err error
		select {
		case sight, open := <-sights:
			if !open {
				return nil
			}
			w.sight, w.seen = sight, true
			err = w.show(true)
		case <-tick.C:
			err = w.show(false)
		}
		if err != nil {
			return err
		}
	}
}

// watching is a status that is shown all the time.
type watching struct {
	command statusCommand
	globals *Globals
	streams *streams
	at      lookout
	sight   kube.Sight
	seen    bool
	drawn   string // on the terminal
	news    view.News
	away    bool
}

// show shows what has changed, or only the time.
func (w *watching) show(changed bool) error {
	if !w.seen {
		return nil
	}
	shown, missing := w.sight.Cluster.Only(w.at.names)
	switch {
	case w.command.Output == "json" && changed:
		return w.command.print(w.streams.stdout, shown, w.sight.Away, w.command.options(w.globals, w.streams), w.at)
	case w.command.Output == "json":
		return nil
	case terminal(w.streams.stdout):
		return w.draw(shown, missing)
	}
	return w.lines(shown, missing)
}

// draw draws a terminal anew, if it would look different.
func (w *watching) draw(shown roster.Cluster, missing []roster.Name) error {
	var text strings.Builder
	if w.sight.Away.Err != nil {
		fmt.Fprintln(&text, "! "+view.Away(w.sight.Away))
	}
	if err := w.command.print(&text, shown, w.sight.Away, w.command.options(w.globals, w.streams), w.at); err != nil {
		return err
	}
	if err := absent(missing); err != nil {
		fmt.Fprintln(&text, "! "+view.Plain(err.Error()))
	}
	screen := view.Screen(text.String(), height(w.streams.stdout))
	if screen == w.drawn {
		return nil
	}
	clear := ""
	if w.drawn == "" {
		clear = "\x1b[2J"
	}
	w.drawn = screen
	_, err := io.WriteString(w.streams.stdout, clear+screen)
	return err
}

// lines prints what is new.
func (w *watching) lines(shown roster.Cluster, missing []roster.Name) error {
	now := time.Now()
	var lines []string
	switch away := w.sight.Away.Err != nil; {
	case away && !w.away:
		lines = append(lines, view.Away(w.sight.Away))
	case w.away && !away:
		lines = append(lines, "cluster is back")
	}
	w.away = w.sight.Away.Err != nil
	lines = append(lines, w.news.Since(shown, missing, now)...)
	for _, line := range lines {
		if _, err := fmt.Fprintln(w.streams.stdout, now.UTC().Format(time.RFC3339)+"  "+line); err != nil {
			return err
		}
	}
	return nil
}

// height of a terminal, 0 where it is not known.
func height(stream any) int {
	f, ok := stream.(interface{ Fd() uintptr })
	if !ok {
		return 0
	}
	_, h, err := term.GetSize(int(f.Fd()))
	if err != nil {
		return 0
	}
	return h
}

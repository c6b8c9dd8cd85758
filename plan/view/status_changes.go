package view

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/vpnctl/vpnctl/plan/roster"
)

// News tells in lines what changes in a cluster: which gateways get ready, whose tunnels
// go down. Times and figures, which change all the while, are no news.
type News struct {
	known map[string]string
}

// Since gives what is new since it was called last; the first time everything is. Missing
// are names of which there is nothing.
func (n *News) Since(c roster.Cluster, missing []roster.Name, now time.Time) []string {
	var order []string
	said := map[string]string{}
	say := func(key, text string) {
		if _, twice := said[key]; !twice {
			order = append(order, key)
		}
		said[key] = text
	}
	for _, g := range c.Gateways {
		key := Plain(g.Owner.Path())
		say(key, key+" ready: "+readyText(g.Ready())+whereabouts(g))
		for _, p := range g.Peers {
			t := g.Tunnel(p, now)
			text := key + "/" + Plain(p.Name) + " " + stateWord(p, t)
			say(key+"/"+p.Name, strings.TrimSuffix(text+": "+Plain(t.Message), ": "))
		}
	}
	for _, l := range c.Links {
		say("link "+l.Name, "link "+Plain(l.Name)+" ready: "+readyText(l.Ready()))
	}
	for _, p := range c.Strays {
		key := p.Namespace + "/" + p.Gateway + "/" + p.Name
		say(key, Plain(key)+" has no gateway")
	}
	for _, u := range c.Broken {
		say(u.Kind+" "+u.Namespace+"/"+u.Name, Plain(strings.Join(strings.Fields(u.String()), " ")))
	}
	for _, m := range missing {
		say(m.String(), Plain(m.String())+" is not in the cluster")
	}
	return n.take(order, said)
}

// take compares with what was known.
func (n *News) take(order []string, said map[string]string) []string {
	var news, gone []string
	for _, key := range order {
		if n.known[key] != said[key] {
			news = append(news, said[key])
		}
	}
	for key := range n.known {
		if _, still := said[key]; !still {
			gone = append(gone, Plain(key)+" is gone")
		}
	}
	slices.Sort(gone)
	n.known = said
	return append(news, gone...)
}

func readyText(r roster.Readiness) string {
	text := r.Word
	if r.Word == roster.Yes {
		return text
	}
	for _, more := range []string{r.Reason, r.Message} {
		if more != "" {
			text += ": " + Plain(more)
		}
	}
	return text
}

func whereabouts(g roster.Gateway) string {
	text := ""
	if g.Address != "" {
		text += ", " + Plain(g.Address)
	}
	if g.Node != "" {
		text += ", on " + Plain(g.Node)
	}
	return text
}

// Away says that a cluster doesn't answer.
func Away(a roster.Away) string {
	return fmt.Sprintf("cluster away since %s: %s", a.Since.UTC().Format(time.RFC3339), Plain(strings.Join(strings.Fields(a.Err.Error()), " ")))
}

// Screen is a text in the place of what a terminal shows, cut to its height. Lines that
// are too long are cut by the terminal.
func Screen(text string, height int) string {
	lines := strings.Split(strings.TrimSuffix(text, "\n"), "\n")
	if height > 1 && len(lines) >= height {
		more := len(lines) - height + 2
		lines = append(lines[:height-2], fmt.Sprintf("and %s", count(more, "more line")))
	}
	return "\x1b[?7l\x1b[H" + strings.Join(lines, "\x1b[K\n") + "\x1b[K\n\x1b[J\x1b[?7h"
}

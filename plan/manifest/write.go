package manifest

import (
	"encoding/json"
	"fmt"
	"io"
	"strconv"
	"strings"
)

// How many diagnostics are written: for people, and for machines.
const (
	maxText    = 50
	maxMachine = 1000
)

// shown cuts diagnostics to a number, errors before all else, each kind in the
// order of its places, and says how many are left out.
func (d Diagnostics) shown(most int) (Diagnostics, int) {
	left := len(d) - most
	if left <= 0 {
		return d, 0
	}
	room := most - min(d.Errors(), most) // for what is no error
	errors := most - room
	var out Diagnostics
	for _, x := range d {
		places := &room
		if x.Severity == Error {
			places = &errors
		}
		if *places > 0 {
			*places--
			out = append(out, x)
		}
	}
	return out, left
}

// WriteText writes one line for each diagnostic, as compilers do, and its hint
// below; after 50 it only counts them, and errors come before warnings then. Notes
// are written too; leave them out of d where they aren't wanted.
func (d Diagnostics) WriteText(w io.Writer) error {
	var b strings.Builder
	d, left := d.shown(maxText)
	for _, x := range d {
		parts := []string{x.Position().String()}
		if x.Severity != Error {
			parts = append(parts, string(x.Severity))
		}
		if x.Line == 0 && x.Object != "" {
			parts = append(parts, x.Object)
		}
		if x.Field != "" {
			parts = append(parts, x.Field)
		}
		fmt.Fprintf(&b, "%s\n", plain(strings.Join(append(parts, x.Message), ": ")))
		if x.Hint != "" {
			fmt.Fprintf(&b, "    hint: %s\n", plain(x.Hint))
		}
	}
	if left > 0 {
		fmt.Fprintf(&b, "… and %d more\n", left)
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// plain keeps a message on its line, from speaking to the terminal, and from turning
// the direction in which it is read.
func plain(s string) string {
	if !strings.ContainsFunc(s, unseen) {
		return s
	}
	var b strings.Builder
	for _, r := range s {
		if unseen(r) {
			b.WriteString(strings.Trim(strconv.QuoteRune(r), "'"))
		} else {
			b.WriteRune(r)
		}
	}
	return b.String()
}

func unseen(r rune) bool { return !strconv.IsPrint(r) }

// report is the JSON form of diagnostics.
type report struct {
	Version     int         `json:"version"` // of this form
	Errors      int         `json:"errors"`
	Warnings    int         `json:"warnings"`
	Omitted     int         `json:"omitted,omitempty"` // diagnostics beyond those below
	Diagnostics Diagnostics `json:"diagnostics"`
}

// WriteJSON writes one object with counts and up to 1,000 diagnostics.
func (d Diagnostics) WriteJSON(w io.Writer) error {
	shown, left := d.shown(maxMachine)
	if shown == nil {
		shown = Diagnostics{}
	}
	return writeJSON(w, report{Version: 1, Errors: d.Errors(), Warnings: d.Warnings(), Omitted: left, Diagnostics: shown})
}

func writeJSON(w io.Writer, v any) error {
	enc := json.NewEncoder(w)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	return enc.Encode(v)
}

// WriteGitHub writes up to 1,000 workflow commands, which GitHub Actions shows
// beside the lines of a pull request.
func (d Diagnostics) WriteGitHub(w io.Writer) error {
	command := map[Severity]string{Error: "error", Warning: "warning", Note: "notice"}
	var b strings.Builder
	d, left := d.shown(maxMachine)
	for _, x := range d {
		fmt.Fprintf(&b, "::%s file=%s", command[x.Severity], property(x.File))
		if x.Line > 0 {
			fmt.Fprintf(&b, ",line=%d,col=%d", x.Line, x.Column)
		}
		fmt.Fprintf(&b, "::%s\n", data(x.sentence()))
	}
	if left > 0 {
		fmt.Fprintf(&b, "::notice::… and %d more\n", left)
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// sentence is the message with its field before and its hint after it.
func (d Diagnostic) sentence() string {
	s := d.Message
	if d.Field != "" {
		s = d.Field + ": " + s
	}
	if d.Line == 0 && d.Object != "" {
		s = d.Object + ": " + s
	}
	if d.Hint != "" {
		s += " (hint: " + d.Hint + ")"
	}
	return s
}

// data and property escape what GitHub would read as part of the command.
func data(s string) string {
	return strings.NewReplacer("%", "%25", "\r", "%0D", "\n", "%0A").Replace(s)
}

func property(s string) string {
	return strings.NewReplacer("%", "%25", "\r", "%0D", "\n", "%0A", ":", "%3A", ",", "%2C").Replace(s)
}

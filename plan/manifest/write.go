package manifest

import (
	"encoding/json"
	"fmt"
	"io"
	"strings"
)

// WriteText writes one line for each diagnostic, as compilers do, and its hint
// below. Notes are written too; leave them out of d where they aren't wanted.
func (d Diagnostics) WriteText(w io.Writer) error {
	var b strings.Builder
	for _, x := range d {
		b.WriteString(x.Position().String())
		if x.Severity != Error {
			fmt.Fprintf(&b, ": %s", x.Severity)
		}
		if x.Line == 0 && x.Object != "" {
			fmt.Fprintf(&b, ": %s", x.Object)
		}
		if x.Field != "" {
			fmt.Fprintf(&b, ": %s", x.Field)
		}
		fmt.Fprintf(&b, ": %s\n", oneLine(x.Message))
		if x.Hint != "" {
			fmt.Fprintf(&b, "    hint: %s\n", oneLine(x.Hint))
		}
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// oneLine keeps a message from starting a line of its own.
func oneLine(s string) string { return strings.NewReplacer("\r", `\r`, "\n", `\n`).Replace(s) }

// report is the JSON form of diagnostics.
type report struct {
	Version     int         `json:"version"` // of this form
	Errors      int         `json:"errors"`
	Warnings    int         `json:"warnings"`
	Diagnostics Diagnostics `json:"diagnostics"`
}

// WriteJSON writes one object with counts and all diagnostics.
func (d Diagnostics) WriteJSON(w io.Writer) error {
	if d == nil {
		d = Diagnostics{}
	}
	return writeJSON(w, report{Version: 1, Errors: d.Errors(), Warnings: d.Warnings(), Diagnostics: d})
}

func writeJSON(w io.Writer, v any) error {
	enc := json.NewEncoder(w)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	return enc.Encode(v)
}

// WriteGitHub writes workflow commands, which GitHub Actions shows beside the
// lines of a pull request.
func (d Diagnostics) WriteGitHub(w io.Writer) error {
	command := map[Severity]string{Error: "error", Warning: "warning", Note: "notice"}
	var b strings.Builder
	for _, x := range d {
		fmt.Fprintf(&b, "::%s file=%s", command[x.Severity], property(x.File))
		if x.Line > 0 {
			fmt.Fprintf(&b, ",line=%d,col=%d", x.Line, x.Column)
		}
		fmt.Fprintf(&b, "::%s\n", data(x.sentence()))
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

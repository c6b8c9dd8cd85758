package view

import "github.com/vpnctl/vpnctl/plan"

// ink colours text, or leaves it as it is.
type ink bool

const (
	red    = "31"
	green  = "32"
	yellow = "33"
	purple = "35"
	cyan   = "36"
	bold   = "1"
	dim    = "2"
)

func (i ink) paint(code, s string) string {
	if !i || s == "" || code == "" {
		return s
	}
	return "\x1b[" + code + "m" + s + "\x1b[0m"
}

// The signs that are no action's.
const (
	signWarning = "!"
	signHeld    = "="
	signOK      = "✓"
	signFailed  = "✗"
)

var signColors = map[string]string{
	plan.Create.Sign():  green,
	plan.Update.Sign():  yellow,
	plan.Replace.Sign(): purple,
	plan.Adopt.Sign():   cyan,
	plan.Release.Sign(): red,
	plan.Delete.Sign():  red,
	signWarning:         yellow,
	signHeld:            dim,
	signOK:              green,
	signFailed:          red,
}

func (i ink) sign(s string) string { return i.paint(signColors[s], s) }

func (i ink) impact(of plan.Impact, s string) string {
	switch {
	case of >= plan.ImpactRestart:
		return i.paint(red, s)
	case of >= plan.ImpactReconnect:
		return i.paint(yellow, s)
	}
	return s
}

// diff colours one line of a diff by its first character.
func (i ink) diff(line string) string {
	switch diffSign(line) {
	case '+':
		return i.paint(green, line)
	case '-':
		return i.paint(red, line)
	case '@':
		return i.paint(cyan, line)
	}
	return line
}

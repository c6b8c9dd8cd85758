package state

import (
	"fmt"
	"strings"

	"github.com/vpnctl/vpnctl/plan/vpn"
)

const (
	markerHead  = "# Written by vpnctl. estate="
	markerOwner = " owner="
)

// Marker is the first line of every file that vpnctl writes: the proof that the
// file is ours. An index of the tree belongs to the estate itself, and its owner is
// the zero Owner.
func Marker(estate string, o vpn.Owner) string {
	if o.IsZero() {
		return markerHead + estate
	}
	return fmt.Sprintf("%s%s%s%s", markerHead, estate, markerOwner, o)
}

// ReadMarker reads a file's first line. Ours is false for any line but one that
// Marker wrote.
func ReadMarker(line string) (estate string, o vpn.Owner, ours bool) {
	rest, ours := strings.CutPrefix(line, markerHead)
	if !ours {
		return "", vpn.Owner{}, false
	}
	estate, text, owned := strings.Cut(rest, markerOwner)
	if owned {
		if o, ours = vpn.ParseOwner(text); !ours {
			return "", vpn.Owner{}, false
		}
	}
	if estate == "" || strings.ContainsAny(line, "\r\n\t") || strings.Contains(estate, " ") {
		return "", vpn.Owner{}, false
	}
	return estate, o, true
}

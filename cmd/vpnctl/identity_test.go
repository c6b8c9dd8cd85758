package main

import (
	"strings"
	"testing"
)

// TestIdentity: two processes of one number on machines of one name differ, and both tell
// people who they are.
func TestIdentity(t *testing.T) {
	a, b := identity(), identity()
	if a == b {
		t.Errorf("both are %s", a)
	}
	for _, who := range []string{a, b} {
		if !strings.HasPrefix(who, strings.TrimSuffix(holder(), ")")+", ") || !strings.HasSuffix(who, ")") {
			t.Errorf("%s doesn't say who it is: want %s with a mark", who, holder())
		}
	}
}

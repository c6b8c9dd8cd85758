package main

import (
	"bytes"
	"errors"
	"testing"
)

// TestWarningsAreSentences: what an apply warns of reads as people write.
func TestWarningsAreSentences(t *testing.T) {
	for want, say := range map[string][]any{
		"! VPNPeer acme/plant2 is not well: NoGrants: add a grant\n": {"not well", "manifest", "VPNPeer acme/plant2", "condition", "Authorized", "reason", "NoGrants", "message", "add a grant"},
		"! VPNGateway acme/dc1 is not well: EnsureFIPFailed\n":       {"not well", "manifest", "VPNGateway acme/dc1", "condition", "Ready", "reason", "EnsureFIPFailed", "message", ""},
		"! deriving the public key acme/dc1: 403\n":                  {"deriving the public key", "gateway", "acme/dc1", "error", errors.New("403")},
	} {
		var out bytes.Buffer
		aloud(&out).Warn(say[0].(string), say[1:]...)
		if out.String() != want {
			t.Errorf("%q, want %q", out.String(), want)
		}
	}
}

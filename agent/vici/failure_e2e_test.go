//go:build e2e

package vici

import (
	"slices"
	"testing"
	"time"

	"github.com/vpnctl/vpnctl/render/swanctl"
)

// TestSecretsReachCharonUnchanged: a peer that was given the same bytes in hex, by
// another program, agrees with us; one that was given one byte more doesn't.
func TestSecretsReachCharonUnchanged(t *testing.T) {
	gateway, peer := lab(t)
	s := dial(t, gateway.Socket())
	heard, _ := listen(t, t.Context(), gateway.Socket())
	c := tunnel("plant", 1)
	for sentence, secret := range secrets() {
		t.Run(sentence, func(t *testing.T) {
			peer.serves(t, secret, c)
			pushed(t, s, secret, c)
			initiate(t, s, c)
			up(t, s, c)
			if n, err := s.TerminateConnection(t.Context(), c.Name); n != 1 || err != nil {
				t.Fatalf("terminated %d, %v", n, err)
			}
			peer.serves(t, append(slices.Clone(secret), '\n'), c)
			for len(heard) > 0 {
				<-heard
			}
			initiate(t, s, c)
			why(t, heard, c, AuthenticationFailed)
		})
	}
}

// why waits for a reason, and returns when it has come.
func why(t *testing.T, heard <-chan Event, c swanctl.Connection, want string) {
	t.Helper()
	for timeout := time.After(20 * time.Second); ; {
		select {
		case e := <-heard:
			if e.Kind != Failed {
				continue
			}
			if e.Connection != c.Name || e.Reason != want {
				t.Errorf("heard %v, want %s of %s", e, want, c.Name)
			}
			return
		case <-timeout:
			t.Fatalf("nothing heard; want %s", want)
		}
	}
}

// TestReasonsOfALiveCharon: each failure's reason comes, and nothing else does.
func TestReasonsOfALiveCharon(t *testing.T) {
	gateway, peer := lab(t, "retransmit_tries = 1", "retransmit_timeout = 0.5")
	s := dial(t, gateway.Socket())
	secret := []byte(password)
	peer.serves(t, secret, tunnel("plant", 1))
	heard, _ := listen(t, t.Context(), gateway.Socket())
	for sentence, c := range map[string]struct {
		change func(*swanctl.Connection)
		secret string
		want   string
	}{
		"another key":           {func(*swanctl.Connection) {}, "wrong", AuthenticationFailed},
		"another identity":      {func(c *swanctl.Connection) { c.RemoteID = "other.example" }, password, AuthenticationFailed},
		"other IKE proposals":   {func(c *swanctl.Connection) { c.Proposals = []string{"aes256-sha512-ecp384"} }, password, NoProposalChosen},
		"other ESP proposals":   {func(c *swanctl.Connection) { c.Children[0].Proposals = []string{"aes128-sha512"} }, password, NoProposalChosen},
		"other subnets":         {func(c *swanctl.Connection) { c.Children[0].Remote = plant("x").Children[0].Remote }, password, TSUnacceptable},
		"an address of nobody":  {func(c *swanctl.Connection) { c.Address = nobody(0) }, password, NoAnswer},
		"no key for that owner": {func(c *swanctl.Connection) {}, "", NoKey},
	} {
		t.Run(sentence, func(t *testing.T) {
			conn := tunnel("plant", 1)
			c.change(&conn)
			if c.secret != "" {
				pushed(t, s, []byte(c.secret), conn)
			} else if err := s.Load(t.Context(), conn); err != nil {
				t.Fatal(err)
			}
			initiate(t, s, conn)
			why(t, heard, conn, c.want)
			if _, err := s.TerminateConnection(t.Context(), conn.Name); err != nil {
				t.Fatal(err)
			}
			if err := s.UnloadKey(t.Context(), conn.Name); err != nil {
				t.Fatal(err)
			}
			time.Sleep(200 * time.Millisecond)
			for len(heard) > 0 {
				if e := <-heard; e.Kind == Failed && e.Reason != c.want {
					t.Errorf("afterwards heard %v", e)
				}
			}
		})
	}
}

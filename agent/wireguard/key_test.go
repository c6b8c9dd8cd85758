package wireguard

import (
	"encoding/base64"
	"errors"
	"strings"
	"testing"
)

// The private key and its public one of RFC 7748, section 6.1 (Alice's).
const (
	rfcPrivate = "dwdtCnMYpX08FsFyUbJmRd9ML4frwJkqsXf7pR25LCo="
	rfcPublic  = "hSDwCYkwp1R0i33ctD73Wg2/Og0mOBr066SpjqqbTmo="
)

func TestPublicKey(t *testing.T) {
	zero := base64.StdEncoding.EncodeToString(make([]byte, 32))
	for sentence, c := range map[string]struct {
		text string
		want error
	}{
		"as wg genkey writes it":                   {rfcPrivate + "\n", nil},
		"without a line break":                     {rfcPrivate, nil},
		"edited on another system":                 {rfcPrivate + "\r\n", nil},
		"nothing":                                  {"", ErrNoKey},
		"a line break alone":                       {"\n", ErrNoKey},
		"a line break within":                      {rfcPrivate[:20] + "\n" + rfcPrivate[20:], errForm},
		"a line break in place of a letter":        {rfcPrivate[:20] + "\n" + rfcPrivate[21:], errForm},
		"something before it":                      {" " + rfcPrivate, errForm},
		"31 bytes":                                 {base64.StdEncoding.EncodeToString(make([]byte, 31)), errForm},
		"33 bytes":                                 {base64.StdEncoding.EncodeToString(make([]byte, 33)), errForm},
		"bits that belong to no byte":              {rfcPrivate[:42] + "p=", errForm},
		"the raw bytes":                            {strings.Repeat("\x07", 32), errForm},
		"hexadecimal":                              {strings.Repeat("07", 32), errForm},
		"the web's alphabet":                       {strings.Repeat("_", 42) + "8=", errForm},
		"two keys":                                 {rfcPrivate + "\n" + rfcPrivate, errForm},
		"all zero, which a device takes as no key": {zero, errZeroKey},
	} {
		t.Run(sentence, func(t *testing.T) {
			got, err := PublicKey([]byte(c.text))
			if !errors.Is(err, c.want) || (err == nil) != (got == rfcPublic) {
				t.Errorf("%q, %v; want %v", got, err, c.want)
			}
		})
	}
}

func TestPrivateKeyIsComparedAsDevicesShowIt(t *testing.T) {
	e := newEnd(t)
	e.private = Secret(rfcPrivate) // of which a device sets and clears five bits
	e.apply(t, e.config())
	if change := e.apply(t, e.config()); !change.Empty() {
		t.Errorf("the same key is set anew, and every session ends: %+v", change)
	}
}

// FuzzKey: whatever a Secret holds is a key or an error without it.
func FuzzKey(f *testing.F) {
	f.Add([]byte(rfcPrivate + "\n"))
	f.Add([]byte("0sAAAA"))
	f.Add([]byte{0xff, 0xfe, 0, '"'})
	f.Fuzz(func(t *testing.T, text []byte) {
		got, err := PublicKey(text)
		if err == nil && len(got) != 44 || err != nil && got != "" {
			t.Errorf("%q, %v", got, err)
		}
		if trimmed := strings.TrimSpace(string(text)); err != nil && len(trimmed) > 3 && strings.Contains(err.Error(), trimmed) &&
			!strings.Contains("private key: "+errForm.Error()+ErrNoKey.Error()+errZeroKey.Error(), trimmed) {
			t.Errorf("%v holds the key", err)
		}
	})
}

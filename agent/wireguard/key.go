package wireguard

import (
	"bytes"
	"encoding/base64"
	"errors"
	"fmt"

	"golang.zx2c4.com/wireguard/wgctrl/wgtypes"
)

// PublicKey is the public half of a private key, as base64. The error never holds the
// key.
func PublicKey(private []byte) (string, error) {
	key, err := privateKey(private)
	if err != nil {
		return "", fmt.Errorf("private key: %w", err)
	}
	return key.PublicKey().String(), nil
}

// privateKey reads a private key in the form in which a device shows it: every
// implementation sets and clears the same bits of what it is given.
func privateKey(text []byte) (wgtypes.Key, error) {
	key, err := parseKey(text)
	if err != nil {
		return key, err
	}
	key[0] &= 248
	key[31] = key[31]&127 | 64
	return key, nil
}

// ErrNoKey is what is wrong with a key that isn't there.
var ErrNoKey = errors.New("it is empty")

// What else is wrong with a key, without the key.
var (
	errForm    = errors.New("it is not the base64 of 32 bytes")
	errZeroKey = errors.New("it is all zero, which stands for no key")
)

// parseKey reads what a Secret or a manifest holds. encoding/base64 would pass over
// line breaks anywhere; here they may stand at the end alone, as wg(8) has it.
func parseKey(text []byte) (wgtypes.Key, error) {
	text = bytes.TrimRight(text, " \t\r\n")
	if len(text) == 0 {
		return wgtypes.Key{}, ErrNoKey
	}
	var key wgtypes.Key
	if len(text) != base64.StdEncoding.EncodedLen(len(key)) || bytes.ContainsAny(text, "\r\n") {
		return wgtypes.Key{}, errForm
	}
	raw, err := base64.StdEncoding.Strict().DecodeString(string(text))
	if err != nil || len(raw) != len(key) {
		return wgtypes.Key{}, errForm
	}
	copy(key[:], raw)
	if key == (wgtypes.Key{}) {
		return wgtypes.Key{}, errZeroKey
	}
	return key, nil
}

package volume

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

// The files of the volume.
const (
	keysFile      = "keys.json"      // status -> dataplane
	dataplaneFile = "dataplane.json" // dataplane -> status
	statusFile    = "status.json"    // status -> dataplane, and whoever looks
)

// Volume is the folder that both halves of the agent see. It lies in memory: what
// is in it ends with the pod.
type Volume struct{ Dir string }

// Keys are what WireGuard needs and no file on disk may hold: the bytes as they
// are in the Secrets, which is base64 text.
type Keys struct {
	PrivateKey []byte
	Preshared  map[string][]byte // by peer
}

// WriteKeys hands the keys over, for root alone to read, and tells whether they
// are others than before.
func (v Volume) WriteKeys(k Keys) (changed bool, err error) {
	data, err := json.Marshal(k)
	if err != nil {
		return false, errKeys
	}
	if old, err := os.ReadFile(v.path(keysFile)); err == nil && bytes.Equal(old, data) {
		return false, nil
	}
	err = v.write(keysFile, data, 0o600)
	return err == nil, err
}

// ReadKeys returns the keys, and false while none were handed over.
func (v Volume) ReadKeys() (Keys, bool, error) {
	data, found, err := v.read(keysFile)
	if !found || err != nil {
		return Keys{}, false, err
	}
	var k Keys
	if json.Unmarshal(data, &k) != nil {
		return Keys{}, false, errKeys
	}
	return k, true, nil
}

// errKeys stands in for what encoding/json would say, which may quote the text.
var errKeys = errors.New("reading keys.json: it isn't what was written")

// WriteStatus publishes what the status half knows, as JSON: for people and tests
// inside the pod, and for the other half, which learns there what charon has loaded.
func (v Volume) WriteStatus(data []byte) error { return v.write(statusFile, data, 0o644) }

// ReadStatus returns what WriteStatus wrote last, and false where it never did.
func (v Volume) ReadStatus() ([]byte, bool, error) { return v.read(statusFile) }

// Hash is how files in force are named: 16 hex digits of the text's SHA-256. It is
// for texts without secrets.
func Hash(text string) string {
	sum := sha256.Sum256([]byte(text))
	return hex.EncodeToString(sum[:8])
}

func (v Volume) path(name string) string { return filepath.Join(v.Dir, name) }

func (v Volume) read(name string) ([]byte, bool, error) {
	data, err := os.ReadFile(v.path(name))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, false, nil
	}
	return data, err == nil, err
}

func (v Volume) write(name string, data []byte, mode fs.FileMode) error {
	return Replace(v.path(name), data, mode)
}

// Replace puts a file in place whole: a reader sees the old text or the new one. One
// process may write a file at a time. The name of the unfinished one is fixed, so
// that a process killed in the middle leaves one behind at most, until the next
// write.
func Replace(path string, data []byte, mode fs.FileMode) error {
	dir, name := filepath.Split(path)
	temporary := dir + "." + name
	err := remove(temporary)
	if err == nil {
		err = create(temporary, data, mode)
	}
	if err == nil {
		err = os.Rename(temporary, path)
	}
	if err != nil {
		return fmt.Errorf("writing %s: %w", path, errors.Join(err, remove(temporary)))
	}
	return nil
}

func create(path string, data []byte, mode fs.FileMode) error {
	f, err := os.OpenFile(path, os.O_CREATE|os.O_EXCL|os.O_WRONLY, mode)
	if err != nil {
		return err
	}
	_, err = f.Write(data)
	return errors.Join(err, f.Chmod(mode), f.Close())
}

func remove(path string) error {
	if err := os.Remove(path); !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}

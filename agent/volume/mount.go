package volume

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// dataLink is the link that the kubelet swaps: it points to the folder of the
// generation in force, and the keys are links through it.
const dataLink = "..data"

// attempts to read one generation whole. Each one is lost only to a swap that
// happens while it reads.
const attempts = 10

// Mount is a folder that a ConfigMap is mounted at. A plain folder works too.
type Mount struct{ Dir string }

// Files are the keys of a ConfigMap as they were at one moment.
type Files struct {
	Generation string            // another one exactly when the content may be another
	Data       map[string]string // by key
}

// Read returns every key of one generation, never one key of the old and another
// of the new. In a plain folder, whose files change one by one, it returns what
// two looks in a row agreed on.
func (m Mount) Read() (Files, error) {
	var last error
	for range attempts {
		files, steady, err := m.read()
		if err == nil && steady {
			return files, nil
		}
		last = err
		if err != nil && steady {
			break // nothing moved, so it is no race
		}
	}
	if last == nil {
		last = errors.New("it changes faster than it can be read")
	}
	return Files{}, fmt.Errorf("reading %s: %w", m.Dir, last)
}

// Generation is the cheap half of Read: one link for what the kubelet mounted. A
// plain folder is read whole, because times of files are too coarse to tell two
// writes apart.
func (m Mount) Generation() (string, error) {
	target, linked, err := m.target()
	if err != nil {
		return "", fmt.Errorf("reading %s: %w", m.Dir, err)
	}
	if linked {
		return target, nil
	}
	data, err := readFolder(m.Dir)
	if err != nil {
		return "", fmt.Errorf("reading %s: %w", m.Dir, err)
	}
	return digest(data), nil
}

// read makes one attempt and tells whether the generation stood still meanwhile.
func (m Mount) read() (files Files, steady bool, err error) {
	before, linked, err := m.target()
	if err != nil {
		return Files{}, true, err
	}
	dir := m.Dir
	if linked {
		dir = filepath.Join(m.Dir, before)
	}
	data, err := readFolder(dir)
	if !linked {
		if err != nil {
			return Files{}, true, err
		}
		again, err := readFolder(dir)
		generation := digest(data)
		return Files{generation, data}, err == nil && digest(again) == generation, err
	}
	after, _, lookErr := m.target()
	return Files{before, data}, lookErr == nil && before == after, errors.Join(err, lookErr)
}

// target is where the kubelet's link points, as a name within the folder. It
// reports false for a plain folder.
func (m Mount) target() (string, bool, error) {
	target, err := os.Readlink(filepath.Join(m.Dir, dataLink))
	if errors.Is(err, fs.ErrNotExist) {
		return "", false, nil
	}
	return target, true, err
}

// readFolder reads the files of a folder, through links. Names that start with
// two dots are the kubelet's own.
func readFolder(dir string) (map[string]string, error) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil, err
	}
	data := make(map[string]string, len(entries))
	for _, e := range entries {
		path := filepath.Join(dir, e.Name())
		if strings.HasPrefix(e.Name(), "..") {
			continue
		}
		info, err := os.Stat(path)
		if err != nil {
			return nil, err
		}
		if !info.Mode().IsRegular() {
			continue
		}
		text, err := os.ReadFile(path)
		if err != nil {
			return nil, err
		}
		data[e.Name()] = string(text)
	}
	return data, nil
}

// digest of keys and values, with their lengths, so that no two contents share one.
func digest(data map[string]string) string {
	keys := make([]string, 0, len(data))
	for k := range data {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	h := sha256.New()
	for _, k := range keys {
		fmt.Fprintf(h, "%d %d %s%s", len(k), len(data[k]), k, data[k])
	}
	return hex.EncodeToString(h.Sum(nil))
}

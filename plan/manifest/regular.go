package manifest

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"sigs.k8s.io/kustomize/kyaml/filesys"
)

// How much is read of one file, and of standard input, which is often many files
// one after the other.
const (
	maxFile   = 8 << 20
	maxStream = 64 << 20
)

var errNotRegular = errors.New("not a regular file")

// extensions are those of the files that a directory is searched for, in any case.
var extensions = []string{".yaml", ".yml", ".json"}

func wanted(name string) bool {
	return slices.Contains(extensions, strings.ToLower(filepath.Ext(name)))
}

// open opens a regular file. Whoever opens a pipe or a device may wait for ever.
func open(name string) (*os.File, error) {
	switch info, err := os.Stat(name); {
	case err != nil:
		return nil, err
	case !info.Mode().IsRegular():
		return nil, errNotRegular
	}
	return os.Open(name)
}

// content reads a regular file of bearable size.
func content(name string) ([]byte, error) {
	f, err := open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return bounded(f, maxFile)
}

// bounded reads no more than a limit in bytes.
func bounded(in io.Reader, limit int) ([]byte, error) {
	data, err := io.ReadAll(io.LimitReader(in, int64(limit)+1))
	if err == nil && len(data) > limit {
		err = tooLarge(limit)
	}
	return data, err
}

// tooLarge is the error for more than so many bytes.
type tooLarge int

func (l tooLarge) Error() string { return fmt.Sprintf("larger than %d MiB", int(l)>>20) }

// files is a disk on which kustomize waits for nothing either.
type files struct{ filesys.FileSystem }

// ReadFile reads a regular file of bearable size.
func (files) ReadFile(name string) ([]byte, error) { return content(name) }

// Open opens a regular file.
func (files) Open(name string) (filesys.File, error) { return open(name) }

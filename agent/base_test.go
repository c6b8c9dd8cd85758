package agent

import (
	"os"
	"path/filepath"
	"testing"
)

// base is what rigs have in common.
type base struct{ testing.TB }

// must ends the test if there is an error.
func (b base) must(err error) {
	b.Helper()
	if err != nil {
		b.Fatal(err)
	}
}

// folders makes folders side by side that end with the test, and returns where.
func (b base) folders(names ...string) string {
	b.Helper()
	dir := b.TempDir()
	for _, name := range names {
		b.must(os.MkdirAll(filepath.Join(dir, name), 0o755))
	}
	return dir
}

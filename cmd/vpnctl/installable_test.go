package main

import (
	"io/fs"
	"os"
	"strings"
	"testing"

	gomodule "golang.org/x/mod/module"
)

// TestInstallable: one file whose name can't stand in a module's archive keeps go install
// from fetching the whole of it.
func TestInstallable(t *testing.T) {
	folded := map[string]string{}
	err := fs.WalkDir(os.DirFS(root), ".", func(name string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && (name == ".git" || name == "bin"):
			return fs.SkipDir
		case d.IsDir():
			return nil
		}
		if err := gomodule.CheckFilePath(name); err != nil {
			t.Error(err)
		}
		if other := folded[strings.ToLower(name)]; other != "" {
			t.Errorf("%s and %s differ by case alone", name, other)
		}
		folded[strings.ToLower(name)] = name
		return nil
	})
	if err != nil || len(folded) < 100 {
		t.Errorf("only %d files were looked at: %v", len(folded), err)
	}
}

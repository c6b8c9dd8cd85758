package manifest

import (
	"os"
	"path/filepath"
	"regexp"
)

const submoduleFile = ".gitmodules"

// submodulePath matches where a repository says that another one is to stand in it.
var submodulePath = regexp.MustCompile(`(?m)^\s*path\s*=\s*"?([^"\r\n]*[^"\s])"?\s*$`)

// submodules minds the repositories that a list says stand below the folder that is
// looked through, and that were not checked out: they are empty, or missing.
func (v *survey) submodules(list string) {
	text, _ := content(list)
	for _, m := range submodulePath.FindAllSubmatch(text, -1) {
		dir := filepath.Join(v.read.key(filepath.Dir(list)), filepath.FromSlash(string(m[1])))
		rel, err := filepath.Rel(v.read.key(v.root), dir)
		if entries, _ := os.ReadDir(dir); err == nil && filepath.IsLocal(rel) && len(entries) == 0 {
			v.obscure(filepath.Join(v.root, rel))
		}
	}
}

// submodulesAbove does so for the list of the repository that a folder stands in.
func (v *survey) submodulesAbove(root string) {
	for dir := v.read.key(root); !exists(filepath.Join(dir, ".git")); {
		up := filepath.Dir(dir)
		if up == dir {
			return
		}
		dir = up
		if list := filepath.Join(dir, submoduleFile); exists(list) {
			v.submodules(list)
			return
		}
	}
}

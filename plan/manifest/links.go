package manifest

import (
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// inside is how a folder is named to be searched where its name is that of a link, too.
func inside(dir string) string { return dir + string(filepath.Separator) }

// elsewhere tells whether an entry of a folder is a link that may stand for a folder:
// what is behind it isn't searched. One that leads nowhere may have stood for one.
func elsewhere(p string, d fs.DirEntry) bool {
	if d.Type()&fs.ModeSymlink == 0 {
		return false
	}
	info, err := os.Stat(p)
	return err == nil && info.IsDir() || err != nil && !wanted(p)
}

// unfollowed warns about links that stand for something that was not read.
func (s *source) unfollowed(w walked) {
	for _, p := range w.links {
		switch _, err := os.Stat(p); {
		case s.isOutput(p) || ownFolder(p) != "":
		case err != nil:
			s.reading.warnFile(p, refuse("the link can't be followed: %v", reason(err)).with("remove it, or put there what it stands for"))
		case !s.reaches(p, s.roots(), hidden):
			s.reading.warnFile(p, refuse("a link to a folder is not followed").with("name the folder"))
		}
	}
}

// roots are the folders that were searched.
func (s *source) roots() []string {
	var out []string
	for _, w := range s.walks {
		out = append(out, w.root)
	}
	return out
}

// reaches tells whether a path, or what it leads to as a link, lies in one of some
// folders, but not where something keeps it from being read.
func (s *source) reaches(path string, roots []string, kept func(rel string) bool) bool {
	target := s.key(path)
	return slices.ContainsFunc(roots, func(root string) bool {
		rel, err := filepath.Rel(s.key(root), target)
		return err == nil && filepath.IsLocal(rel) && !kept(rel)
	})
}

// hidden tells whether a relative path leads to or through a hidden entry.
func hidden(rel string) bool {
	return slices.ContainsFunc(strings.Split(filepath.ToSlash(rel), "/"), func(part string) bool {
		return strings.HasPrefix(part, ".") && part != "." && part != ".."
	})
}

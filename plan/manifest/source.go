package manifest

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// file is what was read from one place.
type file struct {
	name      string // as a diagnostic names it
	data      []byte
	placeless bool // built by a kustomization
	built     []built
	origin    string // of the object that is being read, where there is one
}

// stdinName is how diagnostics name standard input.
const stdinName = "<stdin>"

// source reads files for one Load.
type source struct {
	reading *reading
	stdin   io.Reader
	output  string          // absolute path of the Estate's own output, or ""
	estate  string          // the Estate's own file, or ""
	seen    map[string]bool // by key: what was looked at, true where it was read
	parts   map[string]bool // keys of what kustomizations are made of
	walks   []walked
	files   []file
	real    map[string]string // folders without links in their paths
}

func (r *reading) source(stdin io.Reader) *source {
	return &source{reading: r, stdin: stdin, seen: map[string]bool{}, parts: map[string]bool{}, real: map[string]string{}}
}

// walked is a folder that was searched.
type walked struct {
	root    string
	files   int      // manifests that were found, the Estate's own file not counted
	skipped []string // folders below it that hold a kustomization
	links   []string // links below it that were not followed
}

// paths reads everything that the paths name, in the order of their names.
func (s *source) paths(paths []string) {
	for _, p := range paths {
		s.path(p)
	}
	for _, w := range s.walks {
		s.leftOut(w)
		s.unfollowed(w)
	}
	slices.SortStableFunc(s.files, func(a, b file) int { return strings.Compare(a.name, b.name) })
}

// path reads one argument: standard input, a file, a directory, a kustomization.
func (s *source) path(p string) {
	if p == "-" {
		s.read(stdinName, "-", nil, func() ([]byte, error) { return bounded(s.stdin, maxStream) })
		return
	}
	info, err := os.Stat(p)
	switch {
	case err != nil:
		s.fail(p, err)
	case s.isOutput(p):
		s.reading.failFile(p, refuse("this is the Estate's own output directory").with(nameOthers))
	case renderedTree(p):
		s.reading.failFile(p, refuse(treeRendered).with(nameOthers))
	case !info.IsDir() && kustomizationFile(filepath.Base(p)) && renderedTree(filepath.Dir(p)):
		s.reading.failFile(filepath.Dir(p), refuse(treeRendered).with(nameOthers))
	case !info.IsDir() && kustomizationFile(filepath.Base(p)):
		s.kustomize(filepath.Dir(p))
	case !info.IsDir():
		s.open(p, nil)
	case kustomization(p) != "":
		s.kustomize(p)
	default:
		s.walk(p)
	}
}

// walk reads a directory with all that is below it, but not hidden entries, what
// vpnctl itself has written, and directories that a kustomization describes: their
// files are parts of something, and only building it says of what.
func (s *source) walk(root string) {
	w := walked{root: root}
	err := filepath.WalkDir(inside(root), func(p string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			s.fail(p, err)
			return skip(d)
		case p == inside(root):
			return nil
		case strings.HasPrefix(d.Name(), "."):
			return skip(d)
		case d.IsDir():
			return s.folder(p, &w)
		}
		s.entry(p, d, &w)
		return nil
	})
	if err != nil {
		s.fail(root, err)
	}
	s.walks = append(s.walks, w)
}

// folder tells whether to go into a folder.
func (s *source) folder(p string, w *walked) error {
	switch what := ownFolder(p); {
	case s.isOutput(p):
		s.reading.note(p, "skipped: the Estate's own output directory")
	case what != "":
		s.reading.note(p, "skipped: "+what)
	case kustomization(p) != "":
		w.skipped = append(w.skipped, p)
	default:
		return nil
	}
	return fs.SkipDir
}

func skip(d fs.DirEntry) error {
	if d != nil && d.IsDir() {
		return fs.SkipDir
	}
	return nil
}

// entry reads one file that was found in a directory, also through a link.
func (s *source) entry(p string, d fs.DirEntry, w *walked) {
	switch {
	case elsewhere(p, d):
		w.links = append(w.links, p)
	case wanted(p):
		s.open(p, w)
	}
}

// open reads a file that was named, or found in a folder.
func (s *source) open(p string, w *walked) {
	s.read(filepath.Clean(p), s.key(p), w, func() ([]byte, error) { return content(p) })
}

// absolute is a path from the root of the file system, with the links in it.
func absolute(p string) string {
	abs, err := filepath.Abs(p)
	if err != nil {
		return p
	}
	return abs
}

// key is how a path is remembered, by whatever links its folder was reached. A link
// to a file is not the file.
func (s *source) key(p string) string {
	abs := absolute(p)
	if info, err := os.Stat(abs); err == nil && info.IsDir() {
		return s.place(abs)
	}
	return filepath.Join(s.place(filepath.Dir(abs)), filepath.Base(abs))
}

// place is the path of a folder without links.
func (s *source) place(dir string) string {
	if real, known := s.real[dir]; known {
		return real
	}
	real, err := filepath.EvalSymlinks(dir)
	if err != nil {
		real = dir
	}
	s.real[dir] = real
	return real
}

// read reads one file once, however often it is named.
func (s *source) read(name, key string, w *walked, content func() ([]byte, error)) {
	if w != nil && !sameFile(name, s.estate) {
		w.files++
	}
	if _, again := s.seen[key]; again {
		return
	}
	s.seen[key] = true
	data, err := content()
	switch large := tooLarge(0); {
	case err != nil && !errors.As(err, &large):
		s.fail(name, err)
	case w != nil && noManifest(name, data) != "":
		s.reading.note(name, "skipped: "+noManifest(name, data))
	case w != nil && isRendered(data):
		s.seen[key] = false
		s.reading.warnFile(name, refuse("skipped: "+fileRendered).with(writtenNow))
	case isRendered(data):
		s.reading.failFile(name, refuse(fileRendered).with(writtenNow))
	case err != nil:
		s.fail(name, err)
	default:
		s.files = append(s.files, file{name: name, data: data})
	}
}

// fail reports that something can't be read, without repeating its name.
func (s *source) fail(name string, err error) {
	no := refuse("can't be read: %v", reason(err))
	if errors.Is(err, errNotRegular) {
		no.with("- reads standard input")
	}
	s.reading.failFile(name, no)
}

// isOutput tells whether a path is the Estate's output or lies in it.
func (s *source) isOutput(p string) bool {
	if s.output == "" {
		return false
	}
	return contains(s.output, absolute(p))
}

// contains tells whether a folder is another path or holds it; both are absolute.
func contains(dir, p string) bool {
	rel, err := filepath.Rel(dir, p)
	return err == nil && rel != ".." && !strings.HasPrefix(rel, ".."+string(filepath.Separator))
}

// failFile, warnFile and note report on a whole file or folder.
func (r *reading) failFile(name string, no *refusal) { r.onFile(&r.found, Error, name, no) }
func (r *reading) warnFile(name string, no *refusal) { r.onFile(&r.found, Warning, name, no) }
func (r *reading) note(name, text string)            { r.onFile(&r.notes, Note, name, refuse("%s", text)) }

func (r *reading) onFile(to *Diagnostics, s Severity, name string, no *refusal) {
	*to = append(*to, Diagnostic{File: filepath.Clean(name), Message: no.message, Hint: no.hint, Severity: s})
}

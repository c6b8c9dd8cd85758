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
	seen    map[string]bool // absolute paths of what was read
	parts   map[string]bool // absolute paths of what kustomizations are made of
	walks   []walked
	files   []file
}

func (r *reading) source(stdin io.Reader) *source {
	return &source{reading: r, stdin: stdin, seen: map[string]bool{}, parts: map[string]bool{}}
}

// walked is a folder that was searched.
type walked struct {
	root    string
	files   int      // manifests that were found, the Estate's own file not counted
	skipped []string // folders below it that hold a kustomization
}

// paths reads everything that the paths name, in the order of their names.
func (s *source) paths(paths []string) {
	for _, p := range paths {
		s.path(p)
	}
	for _, w := range s.walks {
		s.leftOut(w)
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
	err := filepath.WalkDir(root, func(p string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			s.fail(p, err)
			if d != nil && d.IsDir() {
				return fs.SkipDir
			}
			return nil
		case p == root:
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
	if d.IsDir() {
		return fs.SkipDir
	}
	return nil
}

// entry reads one file that was found in a directory, also through a link.
func (s *source) entry(p string, d fs.DirEntry, w *walked) {
	if d.Type()&fs.ModeSymlink != 0 {
		info, err := os.Stat(p)
		switch {
		case err == nil && info.IsDir():
			s.reading.warnFile(p, refuse("a link to a folder is not followed").with("name the folder"))
			return
		case err != nil && wanted(p):
			s.fail(p, err)
			return
		}
	}
	if wanted(p) {
		s.open(p, w)
	}
}

// open reads a file that was named, or found in a folder.
func (s *source) open(p string, w *walked) {
	s.read(filepath.Clean(p), absolute(p), w, func() ([]byte, error) { return content(p) })
}

// absolute is how a path is remembered.
func absolute(p string) string {
	abs, err := filepath.Abs(p)
	if err != nil {
		return p
	}
	return abs
}

// read reads one file once, however often it is named.
func (s *source) read(name, key string, w *walked, content func() ([]byte, error)) {
	if w != nil && !sameFile(name, s.estate) {
		w.files++
	}
	if s.seen[key] {
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

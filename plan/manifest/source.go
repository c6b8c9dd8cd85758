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

// maxFile bounds one file. Ten thousand gateways fit many times.
const maxFile = 64 << 20

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

// extensions are those of the files that a directory is searched for.
var extensions = []string{".yaml", ".yml", ".json"}

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
		s.read(stdinName, "-", nil, func() (io.ReadCloser, error) { return io.NopCloser(s.stdin), nil })
		return
	}
	info, err := os.Stat(p)
	switch {
	case err != nil:
		s.fail(p, err)
	case s.isOutput(p):
		s.reading.failFile(p, refuse("this is the Estate's own output directory").with("name the folder of the manifests that people write"))
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
		case err != nil && slices.Contains(extensions, filepath.Ext(p)):
			s.fail(p, err)
			return
		}
	}
	if slices.Contains(extensions, filepath.Ext(p)) {
		s.open(p, w)
	}
}

// open reads a file that was named, or found in a folder.
func (s *source) open(p string, w *walked) {
	s.read(filepath.Clean(p), absolute(p), w, func() (io.ReadCloser, error) { return os.Open(p) })
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
func (s *source) read(name, key string, w *walked, open func() (io.ReadCloser, error)) {
	if w != nil && !sameFile(name, s.estate) {
		w.files++
	}
	if s.seen[key] {
		return
	}
	s.seen[key] = true
	in, err := open()
	if err != nil {
		s.fail(name, err)
		return
	}
	defer in.Close()
	data, err := io.ReadAll(io.LimitReader(in, maxFile+1))
	switch {
	case err != nil:
		s.fail(name, err)
	case len(data) > maxFile:
		s.reading.failFile(name, refuse("larger than %d MiB", maxFile>>20))
	case w != nil && noManifest(name, data) != "":
		s.reading.note(name, "skipped: "+noManifest(name, data))
	case w != nil && isRendered(data):
		s.reading.warnFile(name, refuse("skipped: a file that vpnctl has rendered").with("if people write it now, remove its first line"))
	default:
		s.files = append(s.files, file{name: name, data: data})
	}
}

// fail reports that something can't be read, without repeating its name.
func (s *source) fail(name string, err error) {
	var path *fs.PathError
	if errors.As(err, &path) {
		err = path.Err
	}
	s.reading.failFile(name, refuse("can't be read: %v", err))
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

package manifest

import (
	"cmp"
	"os"
	"path/filepath"
	"slices"
	"strings"

	estatev1alpha1 "github.com/vpnctl/vpnctl/crds/estate/v1alpha1"
)

// estateFile finds the file of the Estate: the one that was asked for, or the
// nearest vpnctl.yaml upwards of the paths. "" means that there is none; the
// Estate may still be among the manifests.
func (r *reading) estateFile(paths []string, asked string) string {
	if asked != "" {
		return filepath.Clean(asked)
	}
	found, from := "", ""
	for _, p := range paths {
		next := upwards(p)
		switch {
		case next == "" || next == found:
		case found == "":
			found, from = next, p
		default:
			r.failFile(p, refuse("belongs to the Estate in %s, but %s belongs to the one in %s", next, from, found).
				with("name the one that is meant with --estate"))
		}
	}
	return found
}

// noEstate says that there is none, and where the next ones are.
func (r *reading) noEstate(place string) {
	no := refuse("there is no Estate here, and no %s above", estatev1alpha1.FileName).with("write one, or name its file with --estate")
	if below, err := filepath.Glob(filepath.Join(place, "*", estatev1alpha1.FileName)); err == nil && len(below) > 0 {
		for i := range below {
			below[i] = filepath.Dir(below[i])
		}
		no.with("there are some below: name %s", choice(below))
	}
	r.failFile(place, no)
}

// upwards looks for the Estate's file in the folder of a path and above it. It
// names the file as the path does, where it can.
func upwards(p string) string {
	dir := p
	if p == "-" {
		dir = "."
	} else if info, err := os.Stat(p); err != nil || !info.IsDir() {
		dir = filepath.Dir(p)
	}
	dir = filepath.Clean(dir)
	abs, err := filepath.Abs(dir)
	if err != nil {
		return ""
	}
	for {
		if info, err := os.Stat(filepath.Join(abs, estatev1alpha1.FileName)); err == nil && !info.IsDir() {
			return filepath.Join(dir, estatev1alpha1.FileName)
		}
		up := filepath.Dir(abs)
		if up == abs {
			return ""
		}
		abs, dir = up, parent(dir)
	}
}

// parent goes one folder up and stays relative where it was.
func parent(dir string) string {
	if dir == "." || dir == ".." || strings.HasSuffix(dir, "/..") {
		return filepath.Join(dir, "..")
	}
	return filepath.Dir(dir)
}

// estateObject reads the Estate's own file, which is looked at before any other:
// it says which folder to leave out.
func (r *reading) estateObject(name string) *object {
	src := r.source(nil)
	src.open(name, nil)
	for _, f := range src.files {
		for _, o := range r.documents(f) {
			if o.kind == estatev1alpha1.KindEstate {
				return o
			}
		}
	}
	return nil
}

// output returns the absolute path that the Estate's objects are written to, or
// "" where they go to a cluster, or to where they may not.
func output(estate *object, w estatev1alpha1.Estate) string {
	if estate == nil || estate.placeless || w.Spec.Kubernetes.Target != estatev1alpha1.TargetDirectory {
		return ""
	}
	dir := fromFile(estate.file, cmp.Or(w.Spec.Kubernetes.Directory, estatev1alpha1.DefaultDirectory))
	if contains(dir, absolute(estate.file)) { // refused: see check.directory
		return ""
	}
	return dir
}

// fromFile is the absolute path of a folder that a file names from where it lies.
func fromFile(file, dir string) string {
	if filepath.IsAbs(dir) {
		return filepath.Clean(dir)
	}
	return absolute(filepath.Join(filepath.Dir(file), dir))
}

// onlyEstate picks the Estate of a run out of its objects. Two are one too many:
// which of them is meant would depend on their order.
func (r *reading) onlyEstate(first *object, objects []*object) *object {
	others := slices.DeleteFunc(slices.Clone(objects), func(o *object) bool {
		return o.kind != estatev1alpha1.KindEstate || first != nil && o.again(first)
	})
	for _, o := range others {
		if first == nil {
			first = o
			continue
		}
		check{o, &r.found}.fail("kind", refuse("a second Estate; the first is %s", first.position("")).
			with("one run reads one Estate"), first.position(""))
	}
	return first
}

// again tells whether an object is another one that was read before, from the same
// place: a List holds several in one document.
func (o *object) again(p *object) bool {
	return sameFile(o.file, p.file) && o.root.Line == p.root.Line && o.root.Column == p.root.Column
}

func sameFile(a, b string) bool {
	x, errX := filepath.Abs(a)
	y, errY := filepath.Abs(b)
	return errX == nil && errY == nil && x == y
}

// alone refuses other objects in an Estate's file that isn't among the files
// that are read: whether they count would be anybody's guess.
func (r *reading) alone(name string, estate *object) {
	src := (&reading{decoder: r.decoder}).source(nil)
	src.open(name, nil)
	for _, f := range src.files {
		for _, o := range src.reading.documents(f) {
			if estate == nil || !o.again(estate) {
				check{o, &r.found}.fail("kind", refuse("stands in the Estate's file, which is not among the paths").
					with("move it, or name the file"))
			}
		}
	}
}

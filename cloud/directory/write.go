package directory

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"
	"syscall"

	"github.com/vpnctl/vpnctl/cloud"
	"github.com/vpnctl/vpnctl/plan"
)

const (
	folderMode = 0o755
	fileMode   = 0o644
)

// write puts the file in place.
//
//	on disk                    create     update
//	nothing                    write      conflict
//	what it should become      done       done
//	what the plan saw          conflict   write
//	anything else              conflict   conflict
func (d *Driver) write(c plan.Change) error {
	if c.After == nil || c.After.Object == nil {
		return errors.New("there is nothing to write")
	}
	after := *c.After.Object
	if len(after.Unknown) > 0 { // not the text: a user may have written the words
		return fmt.Errorf("the content still waits for %s", strings.Join(after.Unknown, ", "))
	}
	root, err := d.make()
	if err != nil {
		return err
	}
	defer root.Close()
	moved := c.Before != nil && c.Before.Object != nil && c.Before.Object.Path != after.Path
	found, err := lookAt(root, after.Path)
	if err != nil {
		return err
	}
	done := found.there && found.content == after.Content
	if err := guard(c, found, moved); err != nil && !done {
		return fmt.Errorf("%s: %w", after.Path, err)
	}
	// A moved object goes first and comes again: two files of one object would break
	// the whole tree, one that is missing is written by the next run.
	if moved {
		if err := d.delete(root, *c.Before.Object); err != nil {
			return err
		}
	}
	if done {
		return nil
	}
	if err := d.replace(root, after.Path, after.Content); err != nil {
		return fmt.Errorf("writing %s: %w", after.Path, err)
	}
	return nil
}

// guard compares what is on disk with what the plan saw.
func guard(c plan.Change, found file, moved bool) error {
	create := c.Before == nil || c.Before.Object == nil || moved
	switch {
	case create && !found.there:
		return nil
	case create:
		return fmt.Errorf("%w: a file that the plan didn't see stands there", cloud.ErrConflict)
	case !found.there:
		return fmt.Errorf("%w: the file is gone", cloud.ErrConflict)
	case found.content != c.Before.Object.Content:
		return fmt.Errorf("%w: the file was changed since the plan was made", cloud.ErrConflict)
	}
	return nil
}

// make opens the directory, and makes it when it isn't there.
func (d *Driver) make() (*os.Root, error) {
	if err := os.MkdirAll(d.root, folderMode); err != nil {
		return nil, fmt.Errorf("making the directory: %w", err)
	}
	return d.open()
}

// replace writes beside the file and renames, so that at any moment the old or the
// new content is there, whole. What a stop in between leaves is swept by a run after
// an hour.
func (d *Driver) replace(root *os.Root, name, content string) error {
	d.folders.RLock()
	defer d.folders.RUnlock()
	folder := path.Dir(name)
	if err := root.MkdirAll(folder, folderMode); err != nil {
		return err
	}
	sweep(root, folder)
	beside := besideName(name)
	if err := create(root, beside, content); err != nil {
		return err
	}
	if err := root.Rename(beside, name); err != nil {
		return errors.Join(err, root.Remove(beside))
	}
	return flush(root, folder)
}

// create writes a new file, whole or not at all.
func create(root *os.Root, name, content string) error {
	f, err := root.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, fileMode)
	if err != nil {
		return err
	}
	_, err = f.WriteString(content)
	if err := errors.Join(err, f.Sync(), f.Close()); err != nil {
		return errors.Join(err, root.Remove(name))
	}
	return nil
}

// flush makes a rename or removal durable. Some file systems don't know it for
// folders.
func flush(root *os.Root, folder string) error {
	f, err := root.Open(folder)
	if err != nil {
		return err
	}
	defer f.Close()
	if err := f.Sync(); err != nil && !errors.Is(err, syscall.EINVAL) && !errors.Is(err, errors.ErrUnsupported) {
		return err
	}
	return nil
}

// file is what stands at a path.
type file struct {
	there   bool
	content string
}

// lookAt reads a path. A path out of the tree, a symbolic link on the way, a folder
// or a device is a conflict.
func lookAt(root *os.Root, name string) (file, error) {
	if !filepath.IsLocal(name) || path.Clean(name) != name {
		return file{}, fmt.Errorf("%q is no path in the tree", name)
	}
	parts := strings.Split(name, "/")
	for i := range parts {
		part := path.Join(parts[:i+1]...)
		info, err := root.Lstat(part)
		switch last := i == len(parts)-1; {
		case errors.Is(err, fs.ErrNotExist):
			return file{}, nil
		case err != nil:
			return file{}, err
		case info.Mode().Type() == fs.ModeSymlink:
			return file{}, fmt.Errorf("%w: %s is a symbolic link", cloud.ErrConflict, part)
		case last && !info.Mode().IsRegular() || !last && !info.IsDir():
			return file{}, fmt.Errorf("%w: %s is something else", cloud.ErrConflict, part)
		}
	}
	data, err := root.ReadFile(name)
	if errors.Is(err, fs.ErrNotExist) {
		return file{}, nil
	}
	return file{there: true, content: string(data)}, err
}

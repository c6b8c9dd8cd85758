package directory

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"strings"
	"syscall"

	"github.com/vpnctl/vpnctl/cloud"
	"github.com/vpnctl/vpnctl/plan"
	"github.com/vpnctl/vpnctl/plan/resource"
	"github.com/vpnctl/vpnctl/state"
)

// remove takes the file away that the plan saw, and the folders that this leaves
// empty.
func (d *Driver) remove(c plan.Change) error {
	if c.Before == nil || c.Before.Object == nil {
		return errors.New("there is nothing to delete")
	}
	root, err := d.open()
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	defer root.Close()
	return d.delete(root, *c.Before.Object)
}

func (d *Driver) delete(root *os.Root, seen resource.Object) error {
	found, err := lookAt(root, seen.Path)
	if err != nil {
		return err
	}
	if found.there {
		if err := deletable(found, seen); err != nil {
			return fmt.Errorf("%s: %w", seen.Path, err)
		}
		if err := root.Remove(seen.Path); err != nil {
			return fmt.Errorf("deleting %s: %w", seen.Path, err)
		}
	}
	sweep(root, path.Dir(seen.Path))
	return d.removeEmpty(root, path.Dir(seen.Path))
}

// deletable wants the marker and the content that the plan saw.
func deletable(found file, seen resource.Object) error {
	line, _, _ := strings.Cut(found.content, "\n")
	if _, _, ours := state.ReadMarker(line); !ours {
		return fmt.Errorf("%w: the file doesn't carry vpnctl's marker", cloud.ErrConflict)
	}
	if found.content != seen.Content {
		return fmt.Errorf("%w: the file was changed since the plan was made", cloud.ErrConflict)
	}
	return nil
}

// removeEmpty removes folders from the innermost outwards while they are empty. The
// directory itself stays.
func (d *Driver) removeEmpty(root *os.Root, folder string) error {
	d.folders.Lock()
	defer d.folders.Unlock()
	for ; folder != "."; folder = path.Dir(folder) {
		if gone, err := removeFolder(root, folder); err != nil {
			return fmt.Errorf("removing %s: %w", folder, err)
		} else if !gone {
			break
		}
	}
	if err := flush(root, folder); !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}

// removeFolder removes a folder that is empty, and tells whether it is gone. Another
// program may fill it, or remove it, at any moment.
func removeFolder(root *os.Root, folder string) (gone bool, err error) {
	entries, err := fs.ReadDir(root.FS(), folder)
	if err == nil && len(entries) == 0 {
		err = root.Remove(folder)
	}
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return true, nil
	case errors.Is(err, syscall.ENOTEMPTY):
		return false, nil
	}
	return len(entries) == 0, err
}

package directory

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"strings"

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
		entries, err := fs.ReadDir(root.FS(), folder)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return err
		}
		if len(entries) > 0 {
			break
		}
		if err := root.Remove(folder); err != nil {
			return fmt.Errorf("removing %s: %w", folder, err)
		}
	}
	if folder == "." {
		return flush(root, ".")
	}
	return flush(root, folder)
}

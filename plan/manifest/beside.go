package manifest

import (
	"errors"
	"io/fs"
	"os"
)

// maxPatch bounds the file of a patch. A patch over one object is never near it.
const maxPatch = 1 << 20

// beside reads a file of a folder that another file names. It doesn't leave the
// folder, by .. or by a link, and doesn't wait for a device.
func beside(folder, name string) ([]byte, error) {
	root, err := os.OpenRoot(folder)
	if err != nil {
		return nil, err
	}
	defer root.Close()
	switch info, err := root.Stat(name); {
	case err != nil:
		return nil, err
	case !info.Mode().IsRegular():
		return nil, errNotRegular
	}
	f, err := root.Open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return bounded(f, maxPatch)
}

// reason is what the system said, without the path and the call.
func reason(err error) error {
	var path *fs.PathError
	if errors.As(err, &path) {
		return path.Err
	}
	return err
}

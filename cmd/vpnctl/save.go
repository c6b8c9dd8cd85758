package main

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/vpnctl/vpnctl/plan"
	"github.com/vpnctl/vpnctl/plan/vpn"
)

// save writes a plan with the estate and the cloud that it was made from.
func save(path string, p plan.Plan, e vpn.Estate, cloud string) error {
	p.Input, p.Cloud = &e, cloud
	var b bytes.Buffer
	err := p.Encode(&b)
	if err == nil {
		err = replace(path, b.Bytes())
	}
	if err != nil {
		return fmt.Errorf("saving the plan: %w", err)
	}
	return nil
}

// replace puts a file in place whole, readable by its owner alone, whatever stood
// there before. Only another regular file gives way: what a link leads to is
// somebody else's, and a device would be gone.
func replace(path string, data []byte) error {
	switch info, err := os.Lstat(path); {
	case errors.Is(err, fs.ErrNotExist):
	case err != nil:
		return err
	case !info.Mode().IsRegular():
		return fmt.Errorf("%s is there already, and not a regular file", path)
	}
	f, err := os.CreateTemp(filepath.Dir(path), "."+filepath.Base(path)+".*") // mode 0600
	if err != nil {
		return err
	}
	_, err = f.Write(data)
	err = errors.Join(err, f.Sync(), f.Close())
	if err == nil {
		err = os.Rename(f.Name(), path)
	}
	if err != nil {
		return errors.Join(err, os.Remove(f.Name()))
	}
	return nil
}

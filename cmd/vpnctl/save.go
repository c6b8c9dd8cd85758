package main

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/vpnctl/vpnctl/plan"
	"github.com/vpnctl/vpnctl/plan/manifest"
	"github.com/vpnctl/vpnctl/plan/vpn"
)

// save writes a plan with the estate and the cloud that it was made from.
func save(path string, p plan.Plan, e vpn.Estate, cloud string) error {
	p.Input, p.Cloud = &e, cloud
	var b bytes.Buffer
	err := p.Encode(&b)
	if err == nil {
		err = replace(path, b.Bytes(), manifest.IsSavedPlan)
	}
	if err != nil {
		return fmt.Errorf("saving the plan: %w", err)
	}
	return nil
}

// replaceable refuses a path where something stands that a new result must not take the
// place of: all but an earlier result, known by how it begins, and an empty file. What a
// link leads to is somebody else's, and a device would be gone.
func replaceable(path string, result func(head []byte) bool) error {
	switch info, err := os.Lstat(path); {
	case errors.Is(err, fs.ErrNotExist):
		return nil
	case err != nil:
		return err
	case !info.Mode().IsRegular():
		return fmt.Errorf("%s is there already, and not a regular file", path)
	case info.Size() == 0:
		return nil
	}
	head, err := beginning(path)
	if err == nil && !result(head) {
		return fmt.Errorf("%s is there already, and nothing that this would replace: choose another name, or remove it", path)
	}
	return err
}

// beginning reads as much of a file as tells what it is.
func beginning(path string) ([]byte, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	head := make([]byte, 512)
	n, err := io.ReadFull(f, head)
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		err = nil
	}
	return head[:n], err
}

// replace puts a file in place whole, readable by its owner alone.
func replace(path string, data []byte, result func(head []byte) bool) error {
	if err := replaceable(path, result); err != nil {
		return err
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

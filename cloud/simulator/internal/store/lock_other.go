//go:build !unix

package store

import "errors"

func (d *directory) lock() error {
	return errors.New("a state directory needs a system with file locks; use the state in memory")
}

func (d *directory) unlock() {}

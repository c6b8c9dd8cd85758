//go:build unix

package store

import (
	"errors"
	"fmt"
	"syscall"
)

// lock waits until no other process uses the directory. The system drops the lock of a process that ends.
func (d *directory) lock() error {
	for {
		err := syscall.Flock(int(d.lockf.Fd()), syscall.LOCK_EX)
		if errors.Is(err, syscall.EINTR) {
			continue
		}
		if err != nil {
			return fmt.Errorf("locking %s: %w", d.path, err)
		}
		return nil
	}
}

// unlock cannot fail on a file that is locked and open.
func (d *directory) unlock() { _ = syscall.Flock(int(d.lockf.Fd()), syscall.LOCK_UN) }

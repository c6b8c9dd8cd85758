package directory

import (
	"crypto/rand"
	"encoding/hex"
	"io/fs"
	"os"
	"path"
	"regexp"
	"time"
)

// besideForm are the names of files that are being written: hidden, so that no
// reader of the tree takes them for its own, and different each time, so that two
// runs in one folder don't meet.
var besideForm = regexp.MustCompile(`^\..+\.[0-9a-f]{16}\.vpnctl$`)

func besideName(name string) string {
	var random [8]byte
	rand.Read(random[:]) // never fails
	return path.Join(path.Dir(name), "."+path.Base(name)+"."+hex.EncodeToString(random[:])+".vpnctl")
}

// abandoned is the age at which nobody is writing a file any more.
const abandoned = time.Hour

// sweep removes from a folder what runs that were killed have left. Where that
// fails it is left to the next run: it is in nobody's way.
func sweep(root *os.Root, folder string) {
	entries, err := fs.ReadDir(root.FS(), folder)
	if err != nil {
		return
	}
	for _, e := range entries {
		if !besideForm.MatchString(e.Name()) || !e.Type().IsRegular() {
			continue
		}
		if info, err := e.Info(); err == nil && time.Since(info.ModTime()) > abandoned {
			_ = root.Remove(path.Join(folder, e.Name()))
		}
	}
}

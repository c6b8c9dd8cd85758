//go:build e2e

package lab

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"golang.org/x/sys/unix"
)

// sandbox is what a container runtime is told.
type sandbox struct {
	Root         string // an empty folder that becomes /
	Binary       string // vpnctl of the image
	Etc          string // folder with the pod's resolv.conf and hosts
	Mounts       []bind // the container's own
	ReadOnlyRoot bool
	UID          int64
	Capabilities []string // all that it has
	NoNewPrivs   bool
	Command      []string
	Env          []string
}

// bind is a folder or file of the host at a place in the container.
type bind struct {
	From, To string
	ReadOnly bool
}

// searchPath is the image's.
const searchPath = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"

// imageFiles are what the image takes from Debian's /etc.
var imageFiles = []string{
	"passwd", "group", "nsswitch.conf", "ld.so.cache", "ld.so.conf", "ld.so.conf.d", "ssl", "strongswan.conf", "strongswan.d",
	"swanctl", "ipsec.d", "protocols", "services", "iproute2", "alternatives",
}

// becomeContainer turns this process, the first of new namespaces, into the
// container's.
func becomeContainer(text string) error {
	var s sandbox
	if err := json.Unmarshal([]byte(text), &s); err != nil {
		return err
	}
	for _, step := range []func() error{s.image, s.kernelFiles, s.volumes, s.enter} {
		if err := step(); err != nil {
			return err
		}
	}
	return unix.Exec("/usr/bin/setpriv", s.confined(s.Command), s.Env)
}

// confined puts what takes privileges away before a command.
func (s sandbox) confined(command []string) []string {
	list := "-all"
	for _, c := range s.Capabilities {
		list += ",+" + strings.ToLower(c)
	}
	args := []string{"setpriv", fmt.Sprintf("--reuid=%d", s.UID), "--regid=0", "--clear-groups", "--inh-caps=-all", "--ambient-caps=-all", "--bounding-set=" + list}
	if s.NoNewPrivs {
		args = append(args, "--no-new-privs")
	}
	return append(append(args, "--"), command...)
}

func (s sandbox) in(path string) string { return filepath.Join(s.Root, path) }

// image is Debian's /usr, a little of /etc, and vpnctl.
func (s sandbox) image() error {
	if err := unix.Mount("", "/", "", unix.MS_REC|unix.MS_PRIVATE, ""); err != nil {
		return err
	}
	if err := unix.Mount("tmpfs", s.Root, "tmpfs", 0, "mode=755"); err != nil {
		return err
	}
	for _, dir := range []string{"usr/local/bin", "etc", "proc", "sys", "dev", "run", "var", "tmp", "root"} {
		if err := os.MkdirAll(s.in(dir), 0o755); err != nil {
			return err
		}
	}
	for link, to := range map[string]string{"bin": "usr/bin", "sbin": "usr/sbin", "lib": "usr/lib", "lib64": "usr/lib64", "var/run": "/run"} {
		if err := os.Symlink(to, s.in(link)); err != nil {
			return err
		}
	}
	binds := []bind{{s.Binary, "/usr/local/bin/vpnctl", true}, {s.Etc + "/resolv.conf", "/etc/resolv.conf", true}, {s.Etc + "/hosts", "/etc/hosts", true}}
	for _, dir := range []string{"bin", "sbin", "lib", "lib64", "libexec", "share"} {
		binds = append(binds, bind{"/usr/" + dir, "/usr/" + dir, true})
	}
	for _, name := range imageFiles {
		binds = append(binds, bind{"/etc/" + name, "/etc/" + name, true})
	}
	for _, v := range binds {
		if _, err := os.Stat(v.From); err != nil {
			continue
		}
		if err := s.bind(v); err != nil {
			return err
		}
	}
	return nil
}

// bind makes the place and mounts what belongs there, as a runtime does.
func (s sandbox) bind(v bind) error {
	target := s.in(v.To)
	from, err := os.Stat(v.From)
	if err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Dir(target), 0o755); err != nil {
		return err
	}
	if from.IsDir() {
		err = os.MkdirAll(target, 0o755)
	} else {
		err = os.WriteFile(target, nil, 0o644)
	}
	if err != nil {
		return err
	}
	if err := unix.Mount(v.From, target, "", unix.MS_BIND, ""); err != nil {
		return fmt.Errorf("mounting %s: %w", v.To, err)
	}
	if v.ReadOnly {
		return unix.Mount("", target, "", unix.MS_REMOUNT|unix.MS_BIND|unix.MS_RDONLY, "")
	}
	return nil
}

// kernelFiles are /proc, its settings read-only, /sys and a /dev without devices.
func (s sandbox) kernelFiles() error {
	if err := unix.Mount("proc", s.in("proc"), "proc", unix.MS_NOSUID|unix.MS_NODEV|unix.MS_NOEXEC, ""); err != nil {
		return err
	}
	if err := unix.Mount(s.in("proc/sys"), s.in("proc/sys"), "", unix.MS_BIND, ""); err != nil {
		return err
	}
	if err := unix.Mount("", s.in("proc/sys"), "", unix.MS_REMOUNT|unix.MS_BIND|unix.MS_RDONLY, ""); err != nil {
		return err
	}
	if err := unix.Mount("sysfs", s.in("sys"), "sysfs", unix.MS_RDONLY, ""); err != nil {
		return err
	}
	if err := unix.Mount("tmpfs", s.in("dev"), "tmpfs", unix.MS_NOSUID, "mode=755,size=64k"); err != nil {
		return err
	}
	for _, name := range []string{"null", "zero", "full", "random", "urandom", "tty"} {
		if err := s.bind(bind{"/dev/" + name, "/dev/" + name, false}); err != nil {
			return err
		}
	}
	for link, to := range map[string]string{"fd": "fd", "stdin": "fd/0", "stdout": "fd/1", "stderr": "fd/2"} {
		if err := os.Symlink("/proc/self/"+to, s.in("dev/"+link)); err != nil {
			return err
		}
	}
	return nil
}

func (s sandbox) volumes() error {
	for _, v := range s.Mounts {
		v.To = strings.Replace(v.To, "/var/run/", "/run/", 1)
		if err := s.bind(v); err != nil {
			return err
		}
	}
	if !s.ReadOnlyRoot {
		return nil
	}
	return unix.Mount("", s.Root, "", unix.MS_REMOUNT|unix.MS_BIND|unix.MS_RDONLY, "")
}

// enter makes the new root the only one.
func (s sandbox) enter() error {
	if err := unix.Chdir(s.Root); err != nil {
		return err
	}
	if err := unix.PivotRoot(".", "."); err != nil {
		return fmt.Errorf("entering the root: %w", err)
	}
	if err := unix.Unmount(".", unix.MNT_DETACH); err != nil {
		return err
	}
	return unix.Chdir("/")
}

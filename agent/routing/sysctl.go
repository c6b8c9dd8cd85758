package routing

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
)

// Sysctls are the kernel's IPv4 settings for the pod's network.
type Sysctls struct {
	Dir string // default /proc/sys/net/ipv4
}

// Ensure checks what a gateway needs, corrects what is wrong where that is possible
// (in a pod these settings can usually only be read, and its network attachment has
// set them), and says of the rest in words what it is and what it should be.
//
//	ip_forward       1
//	rp_filter        not strict on the port or the tunnel, whose answers leave by
//	                 another table than the check looks in: the greater one of the
//	                 interface's value and of all's counts, and 1 is strict
//	send_redirects   0 for all and for the port: a packet that comes in and leaves by
//	                 the port has been through the tunnel's gate, and no one's way is
//	                 shorter without
//
// Either name may be empty, or that of an interface which isn't there yet.
func (s Sysctls) Ensure(nic, tunnel string) (problems []string) {
	note := func(err error) {
		if err != nil {
			problems = append(problems, err.Error())
		}
	}
	note(s.set("ip_forward", "1"))
	all, _, err := s.read("conf/all/rp_filter")
	note(err)
	for _, name := range []string{nic, tunnel} {
		own, there, err := s.read(of(name, "rp_filter"))
		note(err)
		if there && max(all, own) == "1" {
			note(s.set("conf/all/rp_filter", "2"))
			break
		}
	}
	note(s.set("conf/all/send_redirects", "0"))
	note(s.set(of(nic, "send_redirects"), "0"))
	return problems
}

func of(name, key string) string { return "conf/" + name + "/" + key }

func (s Sysctls) path(key string) string {
	return filepath.Join(cmp.Or(s.Dir, "/proc/sys/net/ipv4"), key)
}

// read returns false for an interface that isn't there.
func (s Sysctls) read(key string) (value string, there bool, err error) {
	data, err := os.ReadFile(s.path(key))
	if errors.Is(err, fs.ErrNotExist) && strings.HasPrefix(key, "conf/") || strings.HasPrefix(key, "conf//") {
		return "", false, nil
	}
	if err != nil {
		return "", false, fmt.Errorf("reading %s: %w", sysctlName(key), reason(err))
	}
	return strings.TrimSpace(string(data)), true, nil
}

func (s Sysctls) set(key, want string) error {
	got, there, err := s.read(key)
	if err != nil || !there || got == want {
		return err
	}
	if err := os.WriteFile(s.path(key), []byte(want), 0); err != nil {
		return fmt.Errorf("%s is %s, should be %s, and can't be set: %w", sysctlName(key), got, want, reason(err))
	}
	return nil
}

// sysctlName is how sysctl(8) and a network attachment spell it.
func sysctlName(key string) string {
	parts := strings.Split(key, "/")
	for i, p := range parts {
		parts[i] = strings.ReplaceAll(p, ".", "/")
	}
	return "net.ipv4." + strings.Join(parts, ".")
}

// reason is the error without the path, which the message has as a name.
func reason(err error) error {
	if number := syscall.Errno(0); errors.As(err, &number) {
		return number
	}
	return err
}

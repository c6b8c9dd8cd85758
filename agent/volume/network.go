package volume

import (
	"strconv"

	"golang.org/x/sys/unix"
)

// Network names the network namespace that this process is in. The two halves of the
// agent share one; a pod whose sandbox is made anew gets another one, while the memory
// volume stays with all that was written about the one before. It is the kernel's
// cookie, which no other namespace has until the machine starts anew (the volume ends
// then, too), and empty for a kernel before 5.14, which has none.
func Network() string {
	fd, err := unix.Socket(unix.AF_INET, unix.SOCK_DGRAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return ""
	}
	defer unix.Close(fd)
	cookie, err := unix.GetsockoptUint64(fd, unix.SOL_SOCKET, unix.SO_NETNS_COOKIE)
	if err != nil {
		return ""
	}
	return strconv.FormatUint(cookie, 10)
}

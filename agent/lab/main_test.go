//go:build e2e

package lab

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/vpnctl/vpnctl/agent/lab/netns"
)

// containerVariable is what a container is made of, as JSON: the test binary starts
// itself anew as one.
const containerVariable = "VPNCTL_LAB_CONTAINER"

func TestMain(m *testing.M) {
	if spec := os.Getenv(containerVariable); spec != "" {
		fmt.Fprintln(os.Stderr, "starting the container:", becomeContainer(spec))
		os.Exit(127)
	}
	// The labs stand side by side, however few processors there are: they wait more than
	// they work.
	flag.Parse()
	if err := flag.Set("test.parallel", "5"); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	os.Exit(netns.Main(m))
}

// labPath is a place of a test's own, in memory.
func labPath(t *testing.T, parts ...string) string {
	test, _, _ := strings.Cut(strings.TrimPrefix(t.Name(), "Test"), "/")
	return filepath.Join(append([]string{netns.Dir(), strings.ToLower(test)}, parts...)...)
}

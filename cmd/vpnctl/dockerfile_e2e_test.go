//go:build e2e

package main

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/vpnctl/vpnctl/plan/vpn"
	"github.com/vpnctl/vpnctl/render/swanctl"
)

// TestImageFromItsPackages unpacks the image's packages and all they depend on into a
// folder, carries out what else the Dockerfile does to them, and runs the pod's commands
// in it, charon with each rendered strongswan.conf. Wants root on Debian 12.
func TestImageFromItsPackages(t *testing.T) {
	d, image := readDockerfile(t), t.TempDir()
	unpack(t, image, append(d.packages, "dash", "coreutils", "libc-bin"))
	steps := slices.DeleteFunc(d.afterInstall, func(s string) bool { return strings.Contains(s, "/var/lib/apt") })
	in(t, image, "set -e; PLUGINS='"+strings.Join(d.plugins, " ")+"'; "+strings.Join(steps, ";"))
	for _, command := range commands(t) {
		if command == "vpnctl" {
			continue
		}
		if out, err := exec.Command("dpkg-query", "-S", "/usr/sbin/"+command).Output(); err == nil && !strings.HasPrefix(string(out), provided[command]+":") {
			t.Errorf("%s comes with %s", command, out)
		}
		in(t, image, "command -v "+command)
	}
	in(t, image, "nft --version")
	for _, dataplane := range []string{vpn.DataplaneKernel, vpn.DataplaneUserspace} {
		t.Run(dataplane, func(t *testing.T) { charonStarts(t, image, dataplane) })
	}
}

// charonStarts in a network of its own and answers as the probe asks it to.
func charonStarts(t *testing.T, image, dataplane string) {
	for name, text := range map[string]string{"strongswan.conf": swanctl.Daemon(dataplane), "try": `
STRONGSWAN_CONF=/strongswan.conf charon-systemd & charon=$!
answer=1
for i in 1 2 3 4 5 6 7 8 9 10; do
	swanctl --stats --uri unix://` + swanctl.Socket + ` 2>/dev/null && answer=0 && break
	sleep 0.3
done
kill $charon; wait $charon
exit $answer
`} {
		if err := os.WriteFile(filepath.Join(image, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.MkdirAll(image+filepath.Dir(swanctl.Socket), 0o755); err != nil {
		t.Fatal(err)
	}
	out := in(t, image, "export PATH; sh /try 2>&1")
	if want := "loaded plugins: charon-systemd " + loaded(t, dataplane) + "\n"; !strings.Contains(out, want) {
		t.Errorf("not %s", want)
	}
	if strings.Contains(out, "[LIB] plugin '") || t.Failed() { // what it says of one that it can't load
		t.Errorf("charon says\n%s", out)
	}
}

func loaded(t *testing.T, dataplane string) string {
	t.Helper()
	_, rest, _ := strings.Cut(swanctl.Daemon(dataplane), "load = ")
	line, _, _ := strings.Cut(rest, "\n")
	if line == "" {
		t.Fatal("no plugins")
	}
	return strings.Trim(line, `"`)
}

// unpack resolves packages as on an empty system, and unpacks them all.
func unpack(t *testing.T, image string, packages []string) {
	t.Helper()
	cache := t.TempDir()
	if err := os.MkdirAll(cache+"/partial", 0o755); err != nil {
		t.Fatal(err)
	}
	args := append([]string{"install", "-q", "-y", "--download-only", "--no-install-recommends",
		"-o", "Dir::State::status=/dev/null", "-o", "Dir::Cache::archives=" + cache, "-o", "Debug::NoLocking=1", "-o", "APT::Sandbox::User=root"}, packages...)
	if out, err := exec.Command("apt-get", args...).CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	for _, link := range []string{"bin", "sbin", "lib", "lib64"} {
		if err := os.MkdirAll(image+"/usr/"+link, 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.Symlink("usr/"+link, image+"/"+link); err != nil {
			t.Fatal(err)
		}
	}
	archives, _ := filepath.Glob(cache + "/*.deb")
	if len(archives) < 20 {
		t.Fatalf("only %d packages", len(archives))
	}
	for _, a := range archives { // not dpkg -x, which would put a folder where a link is
		unpacked := exec.Command("sh", "-c", `dpkg-deb --fsys-tarfile "$1" | tar -x --keep-directory-symlink -C "$2"`, "sh", a, image)
		if out, err := unpacked.CombinedOutput(); err != nil {
			t.Fatalf("%s: %v: %s", a, err, out)
		}
	}
}

// in runs a line in the image, in namespaces that end with it, as its devices do.
func in(t *testing.T, image, line string) string {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	c := exec.CommandContext(ctx, "unshare", "-n", "-m", "-p", "-f", "--kill-child", "sh", "-c",
		`mkdir -p "$1/dev" && mount --rbind /dev "$1/dev" && exec chroot "$1" sh -c "$2"`, "sh", image, line)
	c.Env = []string{"PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"}
	out, err := c.CombinedOutput()
	if err != nil {
		t.Fatalf("%s: %v\n%s", line, err, out)
	}
	return string(out)
}

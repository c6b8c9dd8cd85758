package routing

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// readOnly stands for a value that nobody may change: a setting of the real kernel
// that has no writer.
const readOnly = "-> /proc/sys/kernel/ostype"

func TestSettingsAreCorrected(t *testing.T) {
	good := map[string]string{
		"ip_forward": "1", "conf/all/rp_filter": "2", "conf/all/send_redirects": "0", "conf/net1/rp_filter": "1", "conf/net1/send_redirects": "0",
		"conf/wg0/rp_filter": "1", "conf/wg0/send_redirects": "1", "conf/eth0/rp_filter": "1", "conf/eth0/send_redirects": "1",
	}
	for sentence, c := range map[string]struct {
		change, want map[string]string
		problems     []string
	}{
		"as they should be": {nil, nil, nil},
		"no forwarding":     {map[string]string{"ip_forward": "0"}, map[string]string{"ip_forward": "1"}, nil},
		"a strict check for all": {map[string]string{"conf/all/rp_filter": "1", "conf/net1/rp_filter": "0"},
			map[string]string{"conf/all/rp_filter": "2"}, nil},
		"a strict check on the port": {map[string]string{"conf/all/rp_filter": "0"},
			map[string]string{"conf/all/rp_filter": "2"}, nil},
		"a strict check in the tunnel": {map[string]string{"conf/all/rp_filter": "0", "conf/net1/rp_filter": "0"},
			map[string]string{"conf/all/rp_filter": "2"}, nil},
		"no check at all": {map[string]string{"conf/all/rp_filter": "0", "conf/net1/rp_filter": "0", "conf/wg0/rp_filter": "0"}, nil, nil},
		"redirects": {map[string]string{"conf/all/send_redirects": "1", "conf/net1/send_redirects": "1"},
			map[string]string{"conf/all/send_redirects": "0", "conf/net1/send_redirects": "0"}, nil},
		"no tunnel yet": {map[string]string{"conf/wg0/rp_filter": "", "conf/wg0/send_redirects": ""}, nil, nil},
		"no port yet":   {map[string]string{"conf/net1/rp_filter": "", "conf/net1/send_redirects": ""}, nil, nil},
		"forwarding that can't be set": {map[string]string{"ip_forward": readOnly}, nil,
			[]string{"net.ipv4.ip_forward is Linux, should be 1, and can't be set: permission denied"}},
		"redirects that can't be turned off": {map[string]string{"conf/net1/send_redirects": readOnly}, nil,
			[]string{"net.ipv4.conf.net1.send_redirects is Linux, should be 0, and can't be set: permission denied"}},
		"two at once": {map[string]string{"ip_forward": "", "conf/all/send_redirects": readOnly, "conf/net1/send_redirects": "1"},
			map[string]string{"conf/net1/send_redirects": "0"},
			[]string{"reading net.ipv4.ip_forward: no such file or directory", "net.ipv4.conf.all.send_redirects is Linux, should be 0, and can't be set: permission denied"}},
	} {
		t.Run(sentence, func(t *testing.T) {
			dir := t.TempDir()
			want := map[string]string{}
			for key, value := range good {
				if changed, ok := c.change[key]; ok {
					value = changed
				}
				if value == "" {
					continue
				}
				put(t, filepath.Join(dir, key), value)
				want[key] = value
				if corrected, ok := c.want[key]; ok {
					want[key] = corrected
				}
			}
			if diff := cmp.Diff(c.problems, Sysctls{Dir: dir}.Ensure("net1", "wg0")); diff != "" {
				t.Errorf("problems (-want +got)\n%s", diff)
			}
			for key, value := range want {
				if value == readOnly {
					continue
				}
				if got, _ := os.ReadFile(filepath.Join(dir, key)); strings.TrimSpace(string(got)) != value {
					t.Errorf("%s is %s, want %s", key, got, value)
				}
			}
		})
	}
}

func put(t *testing.T, path, value string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	err := os.WriteFile(path, []byte(value+"\n"), 0o644)
	if target, ok := strings.CutPrefix(value, "-> "); ok {
		if err := os.Remove(path); err != nil {
			t.Fatal(err)
		}
		err = os.Symlink(target, path)
	}
	if err != nil {
		t.Fatal(err)
	}
}

func TestInterfacesWithoutANameAreNone(t *testing.T) {
	dir := t.TempDir()
	for key, value := range map[string]string{"ip_forward": "1", "conf/all/rp_filter": "0", "conf/all/send_redirects": "0", "conf/rp_filter": "1", "conf/send_redirects": "1"} {
		put(t, filepath.Join(dir, key), value)
	}
	if got := (Sysctls{Dir: dir}).Ensure("", ""); got != nil {
		t.Errorf("problems: %q", got)
	}
	if got, _ := os.ReadFile(filepath.Join(dir, "conf/all/rp_filter")); string(got) != "0\n" {
		t.Errorf("a check was set for no interface: %s", got)
	}
}

func TestNamesAreWrittenAsSysctlDoes(t *testing.T) {
	if got, want := sysctlName("conf/vlan.7/rp_filter"), "net.ipv4.conf.vlan/7.rp_filter"; got != want {
		t.Errorf("%s, want %s", got, want)
	}
}

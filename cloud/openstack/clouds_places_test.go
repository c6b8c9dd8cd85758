package openstack

import (
	"errors"
	"io/fs"
	"path/filepath"
	"strings"
	"testing"
)

// TestWhereACloudIsLookedFor: whoever has no clouds.yaml is told where it was looked for,
// and what helps.
func TestWhereACloudIsLookedFor(t *testing.T) {
	t.Chdir(t.TempDir())
	none := filepath.Join(t.TempDir(), "clouds.yaml")
	for sentence, tt := range map[string]struct {
		env  map[string]string
		want []string
	}{
		"a file that isn't there is named": {map[string]string{"OS_CLIENT_CONFIG_FILE": none}, []string{"OS_CLIENT_CONFIG_FILE names the file " + none, "unset it"}},
		"no file at all":                   {map[string]string{"HOME": "/nonexistent"}, []string{"clouds.yaml", "/nonexistent/.config/openstack", "/etc/openstack", "set the OS_* variables"}},
	} {
		_, err := Options{Cloud: "operator", Env: func(key string) string { return tt.env[key] }}.login()
		if !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("%s: %v", sentence, err)
			continue
		}
		for _, part := range tt.want {
			if !strings.Contains(err.Error(), part) {
				t.Errorf("%s: %q isn't in: %v", sentence, part, err)
			}
		}
	}
}

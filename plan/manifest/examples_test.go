package manifest_test

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/vpnctl/vpnctl/plan/manifest"
)

// The examples are what people copy: they load without an error or a warning.
func TestExamplesAreClean(t *testing.T) {
	for dir, gateways := range map[string]int{
		"acme": 1, "globex": 1, "initech": 1, "overlays/staging": 1, "overlays/production": 1,
	} {
		t.Run(dir, func(t *testing.T) {
			loaded, found := manifest.Load([]string{filepath.Join("../../examples", dir)}, manifest.Options{})
			if len(found) > 0 {
				var b strings.Builder
				found.WriteText(&b)
				t.Fatal(b.String())
			}
			if got := len(loaded.Estate.Gateways); got != gateways {
				t.Fatalf("%d gateways, want %d", got, gateways)
			}
			for _, g := range loaded.Estate.Gateways {
				if len(g.Peers) == 0 || len(g.Exposures) == 0 {
					t.Errorf("%s: %d peers, %d exposures", g.Owner, len(g.Peers), len(g.Exposures))
				}
			}
		})
	}
}

package render

import (
	"fmt"
	"strings"
	"testing"

	"github.com/vpnctl/vpnctl/plan/resource"
	"github.com/vpnctl/vpnctl/plan/vpn"
)

// TestConfigMapsFitACluster: all values of one count together, and the last byte too.
func TestConfigMapsFitACluster(t *testing.T) {
	for sentence, c := range map[string]struct {
		values  []int // their sizes
		refused bool
	}{
		"as much as fits":        {[]int{1 << 20}, false},
		"a byte more":            {[]int{1<<20 + 1}, true},
		"two that fit together":  {[]int{1 << 19, 1 << 19}, false},
		"two that only fit each": {[]int{1 << 19, 1<<19 + 1}, true},
	} {
		content := "data:\n"
		for i, size := range c.values {
			content += fmt.Sprintf("  key%d: %s\n", i, strings.Repeat("x", size))
		}
		r := &rendering{in: acme()}
		r.checkSizes([]resource.Object{{Kind: "ConfigMap", Name: "dc1-nat", Content: content}})
		if refused := len(r.problems) > 0; refused != c.refused {
			t.Errorf("%s: %v", sentence, r.problems)
		}
	}
}

// TestALargeGatewayIsRefused with the name and the size of what doesn't fit, at any
// target. Fewer peers fit.
func TestALargeGatewayIsRefused(t *testing.T) {
	problems := func(peers int) []Problem {
		in := acme()
		in.Gateway.Peers = nil
		for i := range peers {
			subnet := fmt.Sprintf("172.%d.%d.0/24", 16+i/256, i%256)
			p := site(fmt.Sprintf("plant-%d", i), fmt.Sprintf("198.51.%d.%d", i/256, i%256), subnet)
			p.Grants = &vpn.Grants{Exposures: []string{"erp", "web"}}
			in.Gateway.Peers = append(in.Gateway.Peers, p)
		}
		in.Gateway.Manifests = manifests(in.Gateway)
		_, problems := Gateway(in)
		return problems
	}
	if got := problems(500); len(got) > 0 {
		t.Errorf("500 peers: %v", got)
	}
	got := problems(2500)
	if len(got) != 1 || got[0].Owner != acme().Gateway.Owner || !strings.Contains(got[0].Message, "ConfigMap dc1-swanctl has ") || got[0].Hint == "" {
		t.Errorf("2,500 peers: %v", got)
	}
}

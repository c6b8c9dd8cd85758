package state_test

import (
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/vpnctl/vpnctl/state"
)

func TestOperatorTags(t *testing.T) {
	tests := map[string]struct {
		tags []string
		uids []string
		rest []string
	}{
		"none":                             {},
		"ours, and another hand's":         {tags: []string{state.ManagedTag, "uid=a", "ipsec.bnerd.net/other=a"}, rest: []string{state.ManagedTag, "uid=a", "ipsec.bnerd.net/other=a"}},
		"of an IPsecGateway":               {tags: []string{"ipsec.bnerd.net/uid=a", "team=x"}, uids: []string{"a"}, rest: []string{"team=x"}},
		"of a VPNGateway":                  {tags: []string{"vpn.bnerd.net/uid=b"}, uids: []string{"b"}},
		"the same UID under both prefixes": {tags: state.OperatorTags("c"), uids: []string{"c"}},
		"two UIDs":                         {tags: []string{"vpn.bnerd.net/uid=b", "ipsec.bnerd.net/uid=a"}, uids: []string{"a", "b"}},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			before := slices.Clone(test.tags)
			if diff := cmp.Diff(test.uids, state.OperatorUIDs(test.tags)); diff != "" {
				t.Errorf("UIDs (-want +got):\n%s", diff)
			}
			if got := state.WithoutOperator(test.tags); !slices.Equal(got, test.rest) {
				t.Errorf("without: %v, want %v", got, test.rest)
			}
			if diff := cmp.Diff(before, test.tags); diff != "" {
				t.Errorf("the tags changed (-before +after):\n%s", diff)
			}
		})
	}
}

package alloc_test

import (
	"net/netip"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/vpnctl/vpnctl/plan/alloc"
)

func TestMove(t *testing.T) {
	for sentence, c := range map[string]struct{ was, is, want alloc.Ledger }{
		"nothing moves": {
			was:  had("a", "100.64.0.0/24", appliedOnce),
			is:   had("a", "100.64.0.0/24", appliedOnce),
			want: had("a", "100.64.0.0/24", appliedOnce),
		},
		"a first range is no move": {
			is:   had("a", "100.64.0.0/24"),
			want: had("a", "100.64.0.0/24"),
		},
		"a move leaves the range and the applied state": {
			was:  had("a", "100.64.0.0/24", appliedOnce),
			is:   had("a", "100.64.9.0/24", appliedOnce),
			want: had("a", "100.64.9.0/24", movingFrom("100.64.0.0/24")),
		},
		"a move goes on while nobody has recorded its end": {
			was:  had("a", "100.64.9.0/24", movingFrom("100.64.0.0/24")),
			is:   had("a", "100.64.9.0/24", appliedOnce),
			want: had("a", "100.64.9.0/24", movingFrom("100.64.0.0/24")),
		},
		"a move that turns elsewhere leaves both": {
			was:  had("a", "100.64.9.0/24", movingFrom("100.64.0.0/24")),
			is:   had("a", "100.64.1.0/24"),
			want: had("a", "100.64.1.0/24", movingFrom("100.64.0.0/24", "100.64.9.0/24")),
		},
		"a move that turns back leaves where it went": {
			was:  had("a", "100.64.9.0/24", movingFrom("100.64.0.0/24")),
			is:   had("a", "100.64.0.0/24"),
			want: had("a", "100.64.0.0/24", movingFrom("100.64.9.0/24")),
		},
	} {
		t.Run(sentence, func(t *testing.T) {
			before := c.was
			got := c.is.Move(c.was)
			equal := cmp.Comparer(func(a, b netip.Prefix) bool { return a == b })
			if diff := cmp.Diff(c.want, got, equal); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
			if diff := cmp.Diff(before, c.was, equal); diff != "" {
				t.Errorf("the ledger before was changed (-want +got):\n%s", diff)
			}
			if built := c.was.Built(); built && !got.Built() {
				t.Error("a move makes a gateway that was built count as never built")
			}
		})
	}
}

func TestAddressesOfALedger(t *testing.T) {
	l := had("a", "100.64.3.0/24", vips(map[string]byte{"web": 10}), addresses(map[string]byte{"ina": 199}))
	got := []netip.Addr{l.Self(), l.VirtualIP("web"), l.Address("ina"), l.VirtualIP("ina"), l.Address("web"), alloc.Ledger{}.Self()}
	want := []netip.Addr{addr("100.64.3.1"), addr("100.64.3.10"), addr("100.64.3.199"), {}, {}, {}}
	if diff := cmp.Diff(want, got, compare); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

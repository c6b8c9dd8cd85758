package state

import (
	"testing"

	"github.com/vpnctl/vpnctl/plan/vpn"
)

func TestMarkerIsReadBack(t *testing.T) {
	for _, want := range []vpn.Owner{
		{},
		{Kind: vpn.KindVPNGateway, Namespace: "acme", Name: "dc1"},
		{Kind: vpn.KindClusterLink, Name: "north"},
	} {
		estate, got, ours := ReadMarker(Marker("prod", want))
		if estate != "prod" || got != want || !ours {
			t.Errorf("%v came back as %q %v %v", want, estate, got, ours)
		}
	}
}

func TestOtherFirstLinesAreNotOurs(t *testing.T) {
	for sentence, line := range map[string]string{
		"an empty line":                   "",
		"another comment":                 "# Written by somebody",
		"no estate":                       "# Written by vpnctl. estate=",
		"no estate but an owner":          "# Written by vpnctl. estate= owner=VPNGateway/acme/dc1",
		"an owner of no kind":             "# Written by vpnctl. estate=prod owner=Pod/acme/dc1",
		"an owner without a name":         "# Written by vpnctl. estate=prod owner=VPNGateway/acme",
		"no owner behind the word":        "# Written by vpnctl. estate=prod owner=",
		"a further word":                  "# Written by vpnctl. estate=prod by=hand",
		"a carriage return at its end":    "# Written by vpnctl. estate=prod\r",
		"an owner without what is before": "prod owner=VPNGateway/acme/dc1",
		"space before it":                 " # Written by vpnctl. estate=prod",
		"a sentence that goes on instead": "# Written by vpnctl. estate=prod and others",
	} {
		t.Run(sentence, func(t *testing.T) {
			if estate, o, ours := ReadMarker(line); ours {
				t.Errorf("read as %q %v", estate, o)
			}
		})
	}
}

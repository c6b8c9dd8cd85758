package agent

import (
	"net/netip"
	"strconv"
	"strings"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/vpnctl/vpnctl/agent/vici"
)

// The names, labels and values of torilabs/ipsec-prometheus-exporter, as far as alerts
// and dashboards are usually written against them. One series belongs to one SA and
// goes with it: that a tunnel is down shows in vpnctl_tunnel_up alone.
var (
	ofIKE      = []string{"ike_name", "ike_id"}
	ofSA       = append(ofIKE[:2:2], "child_name", "child_id")
	ofSelector = append(ofSA[:4:4], "local_ts", "remote_ts")

	ikeCount       = strongswan("ike_count", "Number of IKE SAs.", nil)
	ikeStatus      = strongswan("ike_status", "1 if the IKE SA is established, 3 in any other state.", ofIKE)
	ikeEstablished = strongswan("ike_established_seconds", "Seconds since the IKE SA was established.", ofIKE)
	ikeRekey       = strongswan("ike_rekey_seconds", "Seconds until the IKE SA is rekeyed.", ofIKE)
	ikeChildren    = strongswan("ike_children_size", "Number of child SAs of the IKE SA.", ofIKE)

	saStatus      = strongswan("sa_status", "0 if the child SA is installed, 1 if merely established, 2 if down, 3 if the state is another.", ofSelector)
	saInBytes     = strongswan("sa_inbound_bytes", "Bytes received through the child SA.", ofSelector)
	saInPackets   = strongswan("sa_inbound_packets", "Packets received through the child SA.", ofSelector)
	saOutBytes    = strongswan("sa_outbound_bytes", "Bytes sent through the child SA.", ofSelector)
	saOutPackets  = strongswan("sa_outbound_packets", "Packets sent through the child SA.", ofSelector)
	saEstablished = strongswan("sa_established_seconds", "Seconds since the child SA was installed.", ofSA)
	saRekey       = strongswan("sa_rekey_seconds", "Seconds until the child SA is rekeyed.", ofSA)
)

func strongswan(name, help string, labels []string) *prometheus.Desc {
	return prometheus.NewDesc("strongswan_"+name, help, labels, nil)
}

// strongswan shows charon's list as it is. An ID that is listed twice would void the
// whole scrape, so the second one is left out.
func (c *collection) strongswan(s *snapshot) {
	c.gauge(ikeCount, float64(len(s.sas)))
	ids := map[string]bool{}
	for _, sa := range s.sas {
		labels := []string{strings.ToValidUTF8(sa.Connection, "?"), strconv.FormatUint(uint64(sa.ID), 10)}
		if key := strings.Join(labels, " "); ids[key] {
			continue
		} else {
			ids[key] = true
		}
		c.gauge(ikeStatus, float64(status(sa.State)), labels...)
		c.gauge(ikeEstablished, sa.Established.Seconds(), labels...)
		c.gauge(ikeRekey, sa.RekeyIn.Seconds(), labels...)
		c.gauge(ikeChildren, float64(len(sa.Children)), labels...)
		for _, child := range sa.Children {
			c.child(labels, child)
		}
	}
}

func (c *collection) child(ike []string, sa vici.ChildSA) {
	labels := append(ike[:2:2], strings.ToValidUTF8(sa.Name, "?"), strconv.FormatUint(uint64(sa.ID), 10))
	selector := append(labels[:4:4], joined(sa.LocalTS), joined(sa.RemoteTS))
	c.gauge(saStatus, float64(status(sa.State)), selector...)
	c.gauge(saInBytes, float64(sa.BytesIn), selector...)
	c.gauge(saInPackets, float64(sa.PacketsIn), selector...)
	c.gauge(saOutBytes, float64(sa.BytesOut), selector...)
	c.gauge(saOutPackets, float64(sa.PacketsOut), selector...)
	c.gauge(saEstablished, sa.Installed.Seconds(), labels...)
	c.gauge(saRekey, sa.RekeyIn.Seconds(), labels...)
}

// status is a state's number.
func status(state string) int {
	switch state {
	case vici.Installed, "REKEYED", "REKEYING":
		return 0
	case vici.Established:
		return 1
	case "":
		return 2
	}
	return 3
}

func joined(selectors []netip.Prefix) string {
	texts := make([]string, len(selectors))
	for i, p := range selectors {
		texts[i] = p.String()
	}
	return strings.Join(texts, ";")
}

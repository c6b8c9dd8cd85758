package neutron

import (
	"net/http"
	"time"

	"github.com/vpnctl/vpnctl/cloud/simulator/internal/store"
	"github.com/vpnctl/vpnctl/cloud/simulator/internal/wire"
)

// Bind puts a port on a server, as Nova and the network's driver do together.
func Bind(db *store.DB, p *store.Port, server *store.Server, now time.Time) *store.Port {
	next := *p
	next.DeviceID, next.DeviceOwner = server.ID, "compute:nova"
	Plug(&next, server.Host)
	next.RevisionNumber += 3 // the device, the binding and the status, each by itself
	next.UpdatedAt = now.UTC().Format(timeFormat)
	db.Ports.Put(&next)
	return &next
}

// Plug shows a port as the network's driver does once it has a host; without one it stays as it is.
func Plug(p *store.Port, host string) {
	if host == "" {
		return
	}
	p.HostID, p.Status = host, "ACTIVE"
	p.VIFType, p.VIFDetails = "ovs", store.Details{"port_filter": true, "connectivity": "l2"}
}

// NovaPort makes a port on a network for a server, which goes when it is detached.
func (s *Service) NovaPort(server *store.Server, network string, now time.Time) (*store.Port, error) {
	n, ok := s.DB.Networks.Get(network)
	if !ok || n.ProjectID != server.ProjectID && !shared(s.DB, n, server.ProjectID) {
		return nil, wire.Fail(http.StatusBadRequest, "NetworkNotFound", "Network %s could not be found.", network)
	}
	stamp := now.UTC().Format(timeFormat)
	ips, _, err := assign(s.DB, n.ID, nil, false, nil)
	if err != nil {
		return nil, err
	}
	p := &store.Port{Owned: store.Owned{ID: s.DB.NewID(), ProjectID: server.ProjectID, TenantID: server.ProjectID},
		NetworkID: n.ID, MACAddress: s.DB.NewMAC(), AdminStateUp: true, Status: "DOWN", FixedIPs: ips, VNICType: "normal",
		PortSecurity: true, SecurityGroups: []string{defaultGroup(s.DB, server.ProjectID, stamp).ID}, NovaMade: true,
		Standard: store.Standard{RevisionNumber: 1, CreatedAt: stamp, UpdatedAt: stamp}}
	s.DB.Ports.Put(p)
	return Bind(s.DB, p, server, now), nil
}

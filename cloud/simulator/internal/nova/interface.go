package nova

import (
	"encoding/json"
	"net/http"

	"github.com/vpnctl/vpnctl/cloud/simulator/internal/neutron"
	"github.com/vpnctl/vpnctl/cloud/simulator/internal/store"
	"github.com/vpnctl/vpnctl/cloud/simulator/internal/wire"
)

// interfaces is /v2.1/servers/<id>/os-interface[/<port>].
func (c *call) interfaces(s *store.Server) (*wire.Answer, error) {
	port := c.req.Segment(4)
	switch {
	case c.req.Method == http.MethodGet && port == "":
		list := []map[string]any{}
		for _, p := range c.db.PortsOf(s.ID) {
			list = append(list, attachment(p))
		}
		return wire.JSON(http.StatusOK, map[string]any{"interfaceAttachments": list}), nil
	case c.req.Method == http.MethodGet:
		p, ok := c.db.Ports.Get(port)
		if !ok || p.DeviceID != s.ID {
			return nil, notFound("Instance %s does not have a port with id %s", s.ID, port)
		}
		return wire.JSON(http.StatusOK, map[string]any{"interfaceAttachment": attachment(p)}), nil
	case c.req.Method == http.MethodPost && port == "":
		return c.attach(s)
	case c.req.Method == http.MethodDelete && port != "":
		return c.detach(s, port)
	}
	return nil, notFound("The resource could not be found.")
}

func attachment(p *store.Port) map[string]any {
	fixed := []store.FixedIP{}
	return map[string]any{"port_id": p.ID, "net_id": p.NetworkID, "mac_addr": p.MACAddress, "port_state": p.Status,
		"fixed_ips": append(fixed, p.FixedIPs...), "tag": nil}
}

func (c *call) attach(s *store.Server) (*wire.Answer, error) {
	if s.Locked && !c.who.Admin {
		return nil, conflict("Instance %s is locked", s.ID)
	}
	var in struct {
		A struct {
			PortID string `json:"port_id"`
			NetID  string `json:"net_id"`
		} `json:"interfaceAttachment"`
	}
	if err := json.Unmarshal(c.req.Body, &in); err != nil {
		return nil, badRequest("The server could not comply with the request since it is either malformed or otherwise incorrect.")
	}
	if (in.A.PortID == "") == (in.A.NetID == "") {
		return nil, badRequest("Must input network_id or port_id, and not both")
	}
	var p *store.Port
	err := c.db.Try(func() (err error) {
		if in.A.PortID != "" {
			p, err = c.bindPort(s, in.A.PortID)
		} else {
			p, err = c.Neutron.NovaPort(s, in.A.NetID, c.req.Now)
		}
		return err
	})
	if err != nil {
		return nil, err
	}
	return wire.JSON(http.StatusOK, map[string]any{"interfaceAttachment": attachment(p)}), nil
}

// bindPort puts an existing port on a server. A port that is on a server, be it this one, is in use, and so is
// one whose detaching is not done yet.
func (c *call) bindPort(s *store.Server, id string) (*store.Port, error) {
	p, ok := c.db.Ports.Get(id)
	if !ok || p.ProjectID != s.ProjectID {
		return nil, notFound("Port %s could not be found.", id)
	}
	if p.DeviceID != "" {
		return nil, conflict("Port %s is still in use.", id)
	}
	return neutron.Bind(c.db, p, s, c.req.Now), nil
}

// detach accepts everything and comes to it later.
func (c *call) detach(s *store.Server, port string) (*wire.Answer, error) {
	if s.Locked && !c.who.Admin {
		return nil, conflict("Instance %s is locked", s.ID)
	}
	p, ok := c.db.Ports.Get(port)
	_, underway := c.db.Pendings.Get(store.PendingDetach + "/" + port)
	if ok && p.DeviceID == s.ID && !underway {
		c.Neutron.Later.ScheduleDetach(c.db, port, c.req.Now)
	}
	return wire.Empty(http.StatusAccepted), nil
}

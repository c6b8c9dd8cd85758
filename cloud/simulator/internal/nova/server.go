package nova

import (
	"encoding/json"
	"net/http"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/vpnctl/vpnctl/cloud/simulator/internal/neutron"
	"github.com/vpnctl/vpnctl/cloud/simulator/internal/store"
	"github.com/vpnctl/vpnctl/cloud/simulator/internal/wire"
)

const (
	pageSize   = 1000 // the most servers in one answer
	timeFormat = "2006-01-02T15:04:05Z"
)

// servers is the collection: listed, briefly or in detail, or added to.
func (c *call) servers(detail bool) (*wire.Answer, error) {
	if c.req.Method == http.MethodPost && !detail {
		return c.create()
	}
	if c.req.Method != http.MethodGet {
		return nil, notFound("The resource could not be found.")
	}
	found, err := c.find()
	if err != nil {
		return nil, err
	}
	limit, err := c.limit()
	if err != nil {
		return nil, err
	}
	out := map[string]any{}
	if len(found) > limit {
		found = found[:limit]
		out["servers_links"] = []any{map[string]string{"rel": "next", "href": c.nextURL(found[limit-1].ID)}}
	}
	list := []map[string]any{}
	for _, s := range found {
		list = append(list, c.view(s, detail))
	}
	out["servers"] = list
	return wire.JSON(http.StatusOK, out), nil
}

// find returns the servers that the query asks for, the newest first, from its marker on.
func (c *call) find() ([]*store.Server, error) {
	q := c.req.Query
	name, err := regexp.Compile(q.Get("name"))
	if err != nil {
		return nil, badRequest("Invalid input for field/attribute name.")
	}
	all := c.who.Admin && (q.Get("all_tenants") == "1" || strings.EqualFold(q.Get("all_tenants"), "true"))
	var found []*store.Server
	for s := range c.db.Servers.All() {
		if (all || s.ProjectID == c.who.ProjectID) && name.MatchString(s.Name) && (q.Get("status") == "" || q.Get("status") == s.Status) {
			found = append(found, s)
		}
	}
	slices.SortStableFunc(found, func(a, b *store.Server) int {
		return b.Created.Truncate(time.Second).Compare(a.Created.Truncate(time.Second))
	})
	marker := q.Get("marker")
	if marker == "" {
		return found, nil
	}
	at := slices.IndexFunc(found, func(s *store.Server) bool { return s.ID == marker })
	if at < 0 {
		return nil, badRequest("marker [%s] not found", marker)
	}
	return found[at+1:], nil
}

func (c *call) limit() (int, error) {
	text := c.req.Query.Get("limit")
	if text == "" || text == "0" {
		return pageSize, nil
	}
	n, err := strconv.Atoi(text)
	if err != nil || n < 0 {
		return 0, badRequest("Invalid input for query parameters limit. Value: %s.", text)
	}
	return min(n, pageSize), nil
}

func (c *call) nextURL(marker string) string {
	q := c.req.Query
	q.Set("marker", marker)
	return c.req.Base + "/compute" + c.req.Raw + "?" + q.Encode()
}

func (c *call) view(s *store.Server, detail bool) map[string]any {
	out := map[string]any{"id": s.ID, "name": s.Name, "links": []map[string]string{
		{"rel": "self", "href": c.req.Base + "/compute/v2.1/servers/" + s.ID}}}
	if !detail {
		return out
	}
	addresses := map[string][]map[string]any{}
	for _, p := range c.db.PortsOf(s.ID) {
		n, ok := c.db.Networks.Get(p.NetworkID)
		if !ok {
			continue
		}
		for _, ip := range p.FixedIPs {
			addresses[n.Name] = append(addresses[n.Name], map[string]any{"version": 4, "addr": ip.IPAddress,
				"OS-EXT-IPS:type": "fixed", "OS-EXT-IPS-MAC:mac_addr": p.MACAddress})
		}
	}
	created := s.Created.UTC().Format(timeFormat)
	for k, v := range map[string]any{
		"status": s.Status, "tenant_id": s.ProjectID, "user_id": s.UserID, "created": created, "updated": created,
		"addresses": addresses, "metadata": map[string]string{}, "hostId": "", "key_name": nil, "image": "", "tags": []string{},
		"flavor": map[string]any{"original_name": "node", "vcpus": 1, "ram": 512, "disk": 1, "ephemeral": 0, "swap": 0},
		"locked": s.Locked, "locked_reason": nil, "accessIPv4": "", "accessIPv6": "", "config_drive": "", "description": nil,
		"OS-EXT-STS:vm_state": "active", "OS-EXT-STS:task_state": nil, "OS-EXT-STS:power_state": 1,
		"OS-EXT-AZ:availability_zone": "nova", "OS-DCF:diskConfig": "MANUAL", "os-extended-volumes:volumes_attached": []any{},
	} {
		out[k] = v
	}
	if c.who.Admin {
		out["OS-EXT-SRV-ATTR:host"] = s.Host
		out["OS-EXT-SRV-ATTR:hypervisor_hostname"] = s.Host
	}
	return out
}

// server is one server: shown or deleted.
func (c *call) server(s *store.Server) (*wire.Answer, error) {
	switch c.req.Method {
	case http.MethodGet:
		return wire.JSON(http.StatusOK, map[string]any{"server": c.view(s, true)}), nil
	case http.MethodDelete:
		if s.Locked && !c.who.Admin {
			return nil, conflict("Instance %s is locked", s.ID)
		}
		for _, p := range c.db.PortsOf(s.ID) {
			c.db.Pendings.Delete(store.PendingDetach + "/" + p.ID)
			neutron.Unbind(c.db, p, c.req.Now.UTC().Format(timeFormat))
		}
		c.db.Servers.Delete(s.ID)
		return wire.Empty(http.StatusNoContent), nil
	}
	return nil, notFound("The resource could not be found.")
}

// create boots a server, which takes no time here.
func (c *call) create() (*wire.Answer, error) {
	var in struct {
		Server struct {
			Name     string          `json:"name"`
			Networks json.RawMessage `json:"networks"`
		} `json:"server"`
	}
	if err := json.Unmarshal(c.req.Body, &in); err != nil || in.Server.Name == "" {
		return nil, badRequest("Invalid input for field/attribute server. 'name' is a required property")
	}
	s := &store.Server{ID: c.db.NewID(), Name: in.Server.Name, ProjectID: c.who.ProjectID, UserID: c.who.UserID,
		Status: "ACTIVE", Host: "compute-1", Created: c.req.Now.UTC()}
	err := c.db.Try(func() error {
		c.db.Servers.Put(s)
		return c.plug(s, in.Server.Networks)
	})
	if err != nil {
		return nil, err
	}
	c.req.Made = append(c.req.Made, s.ID)
	return wire.JSON(http.StatusAccepted, map[string]any{"server": map[string]any{"id": s.ID, "adminPass": "simulator",
		"OS-DCF:diskConfig": "MANUAL", "security_groups": []any{}, "links": c.view(s, false)["links"]}}), nil
}

// plug gives a new server its ports: "none", "auto" (none here either), or a list of networks and ports.
func (c *call) plug(s *store.Server, raw json.RawMessage) error {
	var list []struct {
		UUID string `json:"uuid"`
		Port string `json:"port"`
	}
	if len(raw) == 0 || raw[0] == '"' {
		return nil
	}
	if err := json.Unmarshal(raw, &list); err != nil {
		return badRequest("Invalid input for field/attribute networks.")
	}
	for _, n := range list {
		if n.Port != "" {
			if _, err := c.bindPort(s, n.Port); err != nil {
				return err
			}
			continue
		}
		if _, err := c.Neutron.NovaPort(s, n.UUID, c.req.Now); err != nil {
			return err
		}
	}
	return nil
}

// action locks or unlocks a server.
func (c *call) action(s *store.Server) (*wire.Answer, error) {
	var in map[string]json.RawMessage
	if err := json.Unmarshal(c.req.Body, &in); err != nil || len(in) != 1 || c.req.Method != http.MethodPost {
		return nil, badRequest("There is no such action")
	}
	next := *s
	switch _, lock := in["lock"]; {
	case lock:
		next.Locked = true
	case in["unlock"] != nil:
		next.Locked = false
	default:
		return nil, badRequest("There is no such action")
	}
	c.db.Servers.Put(&next)
	return wire.Empty(http.StatusAccepted), nil
}

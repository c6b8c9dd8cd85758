package openstack

import (
	"encoding/json"
	"fmt"
	"net/url"
	"strings"
	"time"
)

// The objects, with the attributes that are looked at.
type (
	group struct {
		ID          string   `json:"id"`
		Name        string   `json:"name"`
		Description string   `json:"description"`
		Project     string   `json:"project_id"`
		Tags        []string `json:"tags"`
		Created     moment   `json:"created_at"`
		Rules       []rule   `json:"security_group_rules"`
	}
	rule struct {
		ID           string  `json:"id"`
		Direction    string  `json:"direction"`
		Ether        string  `json:"ethertype"`
		Protocol     *string `json:"protocol"`
		From         *int    `json:"port_range_min"`
		To           *int    `json:"port_range_max"`
		Remote       *string `json:"remote_ip_prefix"`
		Normalized   *string `json:"normalized_cidr"`
		RemoteGroup  *string `json:"remote_group_id"`
		AddressGroup *string `json:"remote_address_group_id"`
		Description  *string `json:"description"`
	}
	port struct {
		ID          string    `json:"id"`
		Name        string    `json:"name"`
		Description string    `json:"description"`
		Project     string    `json:"project_id"`
		Tags        []string  `json:"tags"`
		Created     moment    `json:"created_at"`
		Network     string    `json:"network_id"`
		MAC         string    `json:"mac_address"`
		FixedIPs    []fixedIP `json:"fixed_ips"`
		Device      string    `json:"device_id"`
		DeviceOwner string    `json:"device_owner"`
		Groups      []string  `json:"security_groups"`
		Pairs       []pair    `json:"allowed_address_pairs"`
		Security    *bool     `json:"port_security_enabled"` // nil: the cloud has no such thing
		Up          *bool     `json:"admin_state_up"`
	}
	fixedIP struct {
		Subnet  string `json:"subnet_id,omitempty"`
		Address string `json:"ip_address,omitempty"`
	}
	pair struct {
		Address string `json:"ip_address"`
		MAC     string `json:"mac_address,omitempty"`
	}
	floatingIP struct {
		ID          string   `json:"id"`
		Description string   `json:"description"`
		Project     string   `json:"project_id"`
		Tags        []string `json:"tags"`
		Created     moment   `json:"created_at"`
		Address     string   `json:"floating_ip_address"`
		Pool        string   `json:"floating_network_id"`
		Port        *string  `json:"port_id"`
	}
	router struct {
		ID      string `json:"id"`
		Name    string `json:"name"`
		Project string `json:"project_id"`
		Routes  []hop  `json:"routes"`
		Gateway *struct {
			Network  string    `json:"network_id"`
			FixedIPs []fixedIP `json:"external_fixed_ips"`
		} `json:"external_gateway_info"`
	}
	hop struct { // one route
		Destination string `json:"destination"`
		NextHop     string `json:"nexthop"`
	}
	network struct {
		ID       string `json:"id"`
		Name     string `json:"name"`
		Project  string `json:"project_id"`
		External bool   `json:"router:external"`
	}
	subnet struct {
		ID      string  `json:"id"`
		Name    string  `json:"name"`
		Project string  `json:"project_id"`
		Network string  `json:"network_id"`
		CIDR    string  `json:"cidr"`
		Gateway *string `json:"gateway_ip"`
		Version int     `json:"ip_version"`
	}
)

// placed is an object that stands in a project.
type placed interface{ in() string }

func (g group) in() string      { return g.Project }
func (p port) in() string       { return p.Project }
func (f floatingIP) in() string { return f.Project }
func (r router) in() string     { return r.Project }

func text(s *string) string {
	if s == nil {
		return ""
	}
	return *s
}

// off tells whether something is there and switched off.
func off(b *bool) bool { return b != nil && !*b }

func number(n *int) int {
	if n == nil || *n < 0 {
		return 0
	}
	return *n
}

// moment is a time that may be missing.
type moment struct{ time.Time }

// UnmarshalJSON reads RFC 3339, with or without a zone, and null.
func (m *moment) UnmarshalJSON(b []byte) error {
	s := strings.Trim(string(b), `"`)
	for _, layout := range []string{time.RFC3339, "2006-01-02T15:04:05"} {
		if t, err := time.Parse(layout, s); err == nil {
			m.Time = t.UTC()
			break
		}
	}
	return nil
}

// page is one answer to a list call: the objects under the list's own name and,
// where there are more, the marker of the next page.
type page[T any] struct {
	name   string
	items  []T
	marker string
}

// UnmarshalJSON refuses an answer without the list, so that an error page in
// between is never taken for an empty list.
func (p *page[T]) UnmarshalJSON(b []byte) error {
	var body map[string]json.RawMessage
	if err := json.Unmarshal(b, &body); err != nil {
		return err
	}
	raw, ok := body[p.name]
	if !ok || string(raw) == "null" {
		return fmt.Errorf("the answer holds no %s", p.name)
	}
	if err := json.Unmarshal(raw, &p.items); err != nil {
		return err
	}
	var links []struct{ Rel, Href string }
	if raw, ok := body[p.name+"_links"]; ok {
		if err := json.Unmarshal(raw, &links); err != nil {
			return err
		}
	}
	for _, l := range links {
		if l.Rel != "next" {
			continue
		}
		next, err := url.Parse(l.Href)
		if err != nil || next.Query().Get("marker") == "" {
			return fmt.Errorf("the link to the next page has no marker")
		}
		p.marker = next.Query().Get("marker")
	}
	return nil
}

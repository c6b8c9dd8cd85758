//go:build e2e

package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"slices"
	"strings"
	"time"

	"sigs.k8s.io/yaml"

	"github.com/vpnctl/vpnctl/cloud/simulator"
)

// openStack is a client of the real services that knows nothing of vpnctl.
type openStack struct {
	network, compute string // endpoints
	project, token   string
}

// realCloud logs in to an entry of a clouds.yaml by its application credential.
func realCloud(file, name string) (*openStack, error) {
	raw, err := os.ReadFile(file)
	if err != nil {
		return nil, fmt.Errorf("reading $OS_CLIENT_CONFIG_FILE: %w", err)
	}
	var clouds struct {
		Clouds map[string]struct {
			Auth struct {
				URL    string `json:"auth_url"`
				ID     string `json:"application_credential_id"`
				Secret string `json:"application_credential_secret"`
			} `json:"auth"`
		} `json:"clouds"`
	}
	if err := yaml.Unmarshal(raw, &clouds); err != nil {
		return nil, err
	}
	auth := clouds.Clouds[name].Auth
	body := login(simulator.Credentials{CredentialID: auth.ID, Secret: auth.Secret})
	answer, err := request(context.Background(), http.DefaultClient, http.MethodPost, auth.URL+"/auth/tokens", body, "")
	if err != nil {
		return nil, err
	}
	defer answer.Body.Close()
	var said struct {
		Token struct {
			Project struct {
				ID string `json:"id"`
			} `json:"project"`
			Catalog []struct {
				Type      string `json:"type"`
				Endpoints []struct {
					Interface string `json:"interface"`
					URL       string `json:"url"`
				} `json:"endpoints"`
			} `json:"catalog"`
		} `json:"token"`
	}
	if err := json.NewDecoder(answer.Body).Decode(&said); err != nil {
		return nil, fmt.Errorf("logging in: %s: %w", answer.Status, err)
	}
	c := &openStack{project: said.Token.Project.ID, token: answer.Header.Get("X-Subject-Token")}
	for _, s := range said.Token.Catalog {
		for _, at := range s.Endpoints {
			switch {
			case at.Interface != "public":
			case s.Type == "network":
				c.network = strings.TrimSuffix(at.URL, "/") + "/v2.0/"
			case s.Type == "compute":
				c.compute = strings.TrimSuffix(at.URL, "/") + "/"
			}
		}
	}
	if c.network == "" || c.compute == "" {
		return nil, fmt.Errorf("logging in: %s: no network or no compute service in the catalog", answer.Status)
	}
	return c, nil
}

// call makes a call to Neutron. Not being there any more is what a DELETE is for.
func (c *openStack) call(method, path, body string) ([]byte, error) {
	return c.send(method, c.network+path, body)
}

func (c *openStack) send(method, url, body string) ([]byte, error) {
	answer, err := request(context.Background(), http.DefaultClient, method, url, body, c.token)
	if err != nil {
		return nil, err
	}
	defer answer.Body.Close()
	text, err := io.ReadAll(answer.Body)
	if err == nil && answer.StatusCode >= http.StatusBadRequest && (method != http.MethodDelete || answer.StatusCode != http.StatusNotFound) {
		err = fmt.Errorf("%s %s: %s: %s", method, url, answer.Status, text)
	}
	return text, err
}

// thing is what objects of Neutron have, each kind some of it.
type thing struct {
	collection  string
	ID          string   `json:"id"`
	Name        string   `json:"name"`
	Description string   `json:"description"`
	Tags        []string `json:"tags"`
	Device      string   `json:"device_id"`
	FixedIPs    []struct {
		Address string `json:"ip_address"`
	} `json:"fixed_ips"`

	Address string `json:"floating_ip_address"`
	Port    string `json:"port_id"`

	Protocol string `json:"protocol"` // of a rule
	From     int    `json:"port_range_min"`
	Remote   string `json:"remote_ip_prefix"`
}

// list reads what the project has in a collection.
func (c *openStack) list(collection, query string) ([]thing, error) {
	return c.visible(collection, "project_id="+c.project+"&"+query)
}

// visible reads a collection; others' networks that are shared are in it.
func (c *openStack) visible(collection, query string) ([]thing, error) {
	text, err := c.call(http.MethodGet, collection+"?"+query, "")
	if err != nil {
		return nil, err
	}
	var answer map[string][]thing
	if err := json.Unmarshal(text, &answer); err != nil {
		return nil, err
	}
	all := answer[strings.ReplaceAll(collection, "-", "_")]
	for i := range all {
		all[i].collection = collection
	}
	return all, nil
}

func (c *openStack) ids(collection, query string) ([]string, error) {
	all, err := c.list(collection, query)
	var ids []string
	for _, o := range all {
		ids = append(ids, o.ID)
	}
	return ids, err
}

// create fills in the IDs that a body asks for, and makes the object.
func (c *openStack) create(collection, body string) error {
	body, err := c.filled(body)
	if err == nil {
		_, err = c.call(http.MethodPost, collection, body)
	}
	return err
}

// filled is a body with the IDs that it asks for.
func (c *openStack) filled(body string) (string, error) {
	for {
		before, rest, found := strings.Cut(body, "{{")
		if !found {
			return body, nil
		}
		query, after, _ := strings.Cut(rest, "}}")
		from, filter, _ := strings.Cut(query, " ")
		all, err := c.visible(from, filter)
		if err != nil || len(all) != 1 {
			return "", fmt.Errorf("%s: %d are there, error %v", query, len(all), err)
		}
		body = before + all[0].ID + after
	}
}

// servers are the project's, by name.
func (c *openStack) servers() (map[string]string, error) {
	text, err := c.send(http.MethodGet, c.compute+"servers", "")
	var answer struct {
		Servers []thing `json:"servers"`
	}
	if err == nil {
		err = json.Unmarshal(text, &answer)
	}
	byName := map[string]string{}
	for _, s := range answer.Servers {
		byName[s.Name] = s.ID
	}
	return byName, err
}

// described is the description of what vpnctl makes for an owner, in a query.
func described(owner, estate string) string {
	return url.QueryEscape("vpnctl: " + owner + " of estate " + estate)
}

// kinds are the collections that an estate has objects in, in the order in which
// they can be deleted.
var kinds = []string{"floatingips", "ports", "security-groups"}

// of finds all that belongs to an estate: by tag, by description, or its lock.
func (c *openStack) of(estate string) ([]thing, error) {
	var found []thing
	for _, collection := range kinds {
		all, err := c.list(collection, "")
		if err != nil {
			return nil, err
		}
		for _, o := range all {
			if slices.Contains(o.Tags, "vpn.bnerd.net/estate="+estate) || strings.HasSuffix(o.Description, " of estate "+estate) || o.Name == "vpnctl-lock-"+estate {
				found = append(found, o)
			}
		}
	}
	return found, nil
}

// foreign is everything that is described as foreign to an estate, one object a
// line.
func (c *openStack) foreign(estate string) (string, error) {
	var b strings.Builder
	for _, collection := range kinds {
		ids, err := c.ids(collection, foreignTo(estate))
		if err != nil {
			return "", err
		}
		for _, id := range ids {
			text, err := c.call(http.MethodGet, collection+"/"+id, "")
			if err != nil {
				return "", err
			}
			b.Write(append(text, '\n'))
		}
	}
	return b.String(), nil
}

func foreignTo(estate string) string {
	return "description=" + url.QueryEscape("foreign to "+estate)
}

// route is one on a router of the project.
type route struct {
	router string
	To     string `json:"destination"`
	Hop    string `json:"nexthop"`
}

func (c *openStack) routes() ([]route, error) {
	text, err := c.call(http.MethodGet, "routers?project_id="+c.project, "")
	var answer struct {
		Routers []struct {
			ID     string  `json:"id"`
			Routes []route `json:"routes"`
		} `json:"routers"`
	}
	if err == nil {
		err = json.Unmarshal(text, &answer)
	}
	var all []route
	for _, router := range answer.Routers {
		for _, r := range router.Routes {
			r.router = router.ID
			all = append(all, r)
		}
	}
	return all, err
}

// sweep takes away what a script that failed has left of its estate, and what
// was foreign to that. It does what it can, and tells nobody: the script says
// what went wrong.
func (c *openStack) sweep(estate string) {
	left, _ := c.of(estate)
	for _, collection := range kinds {
		more, _ := c.list(collection, foreignTo(estate))
		left = append(left, more...)
	}
	slices.SortStableFunc(left, func(a, b thing) int {
		return slices.Index(kinds, a.collection) - slices.Index(kinds, b.collection)
	})
	c.sweepRoutes(left)
	for _, o := range left {
		if o.collection == "ports" && o.Device != "" {
			_, _ = c.send(http.MethodDelete, c.compute+"servers/"+o.Device+"/os-interface/"+o.ID, "")
			_, _ = c.call(http.MethodPut, "routers/"+o.Device+"/remove_router_interface", fmt.Sprintf(`{"port_id": %q}`, o.ID))
		}
		for range 20 {
			if _, err := c.call(http.MethodDelete, o.collection+"/"+o.ID, ""); err == nil {
				break
			}
			time.Sleep(500 * time.Millisecond) // it is being detached
		}
	}
}

// sweepRoutes removes the routes to some ports.
func (c *openStack) sweepRoutes(ports []thing) {
	routes, _ := c.routes()
	for _, r := range routes {
		for _, p := range ports {
			for _, ip := range p.FixedIPs {
				if ip.Address == r.Hop {
					_ = c.unroute(r)
				}
			}
		}
	}
}

func (c *openStack) unroute(r route) error {
	body := fmt.Sprintf(`{"router": {"routes": [{"destination": %q, "nexthop": %q}]}}`, r.To, r.Hop)
	_, err := c.call(http.MethodPut, "routers/"+r.router+"/remove_extraroutes", body)
	return err
}

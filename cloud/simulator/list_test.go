package simulator_test

import (
	"fmt"
	"net/url"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/vpnctl/vpnctl/cloud/simulator"
)

// names of the objects in a list answer, sorted.
func namesOf(list []map[string]any) []string {
	out := []string{}
	for _, o := range list {
		name, _ := o["name"].(string)
		out = append(out, name)
	}
	slices.Sort(out)
	return out
}

func TestListFilters(t *testing.T) {
	s := cloud(t, simulator.Options{})
	a := connect(t, s, "operator")
	network := a.network("vpn-transit")
	ids := map[string]string{}
	for name, tags := range map[string]string{"a": `["x=1", "k/v", "y"]`, "b": `["x=1"]`, "c": `[]`} {
		address := map[string]string{"a": "10.254.0.50", "b": "10.254.0.51", "c": "10.254.0.150"}[name]
		ids[name] = a.port(network, fmt.Sprintf(`, "name": %q, "description": "port %s", "fixed_ips": [{"ip_address": %q}]`, name, name, address)).id("port")
		a.net("PUT", "/ports/"+ids[name]+"/tags", `{"tags": `+tags+`}`, 200)
	}
	scope := "network_id=" + network + "&device_owner=&"
	for sentence, c := range map[string]struct {
		query string
		want  []string
	}{
		"all":                           {"", []string{"a", "b", "c"}},
		"tags are all needed":           {"tags=x%3D1,k/v", []string{"a"}},
		"tags given twice too":          {"tags=x=1&tags=y", []string{"a"}},
		"tags-any":                      {"tags-any=y,x=1", []string{"a", "b"}},
		"not-tags":                      {"not-tags=x=1,y", []string{"b", "c"}},
		"not-tags-any":                  {"not-tags-any=x=1,y", []string{"c"}},
		"a name":                        {"name=b", []string{"b"}},
		"two values are alternatives":   {"name=b&name=c", []string{"b", "c"}},
		"a description":                 {"description=" + url.QueryEscape("port c"), []string{"c"}},
		"IDs":                           {"id=" + ids["a"] + "&id=" + ids["c"], []string{"a", "c"}},
		"an address":                    {"fixed_ips=ip_address=10.254.0.51", []string{"b"}},
		"a part of an address":          {"fixed_ips=ip_address_substr=0.15", []string{"c"}},
		"a boolean in Python's writing": {"admin_state_up=True", []string{"a", "b", "c"}},
		"another project":               {"project_id=0", []string{}},
		"no marker's page after limit":  {"limit=0", []string{"a", "b", "c"}},
	} {
		t.Run(sentence, func(t *testing.T) {
			got := namesOf(a.net("GET", "/ports?"+scope+c.query, "", 200).list("ports"))
			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Errorf("names (-want +got):\n%s", diff)
			}
		})
	}
	for sentence, c := range map[string]struct {
		query  string
		status int
	}{
		"an unknown filter":                  {"colour=red", 400},
		"an attribute that is a list":        {"allowed_address_pairs=1", 400},
		"an attribute of the admin":          {"binding:host_id=x", 400},
		"an attribute that is not the API's": {"sim:nova_made=true", 400},
		"a limit that is no number":          {"limit=x", 400},
		"a marker that does not exist":       {"limit=1&marker=00000000-0000-4000-8000-000000000000", 404},
		"sort_key alone":                     {"sort_key=id", 400},
		"tags and tags-any":                  {"tags=a&tags-any=b", 500},
		"a URL that is too long":             {"id=" + strings.Repeat("0", 9000), 414},
	} {
		t.Run(sentence, func(t *testing.T) { a.net("GET", "/ports?"+c.query, "", c.status) })
	}
}

func TestPagesReachEverythingOnce(t *testing.T) {
	s := cloud(t, simulator.Options{})
	a := connect(t, s, "operator")
	network := a.network("vpn-transit")
	for i := range 7 {
		a.port(network, fmt.Sprintf(`, "name": "p%d"`, i))
	}
	whole := a.net("GET", "/ports?network_id="+network, "", 200)
	for _, limit := range []int{1, 2, 3, 7, 8, 100} {
		next := fmt.Sprintf("/network/v2.0/ports?network_id=%s&limit=%d", network, limit)
		var got []string
		for pages := 0; next != ""; pages++ {
			if pages > 20 {
				t.Fatal("pages without end")
			}
			r := a.do("GET", next, "")
			got = append(got, namesOf(r.list("ports"))...)
			next = ""
			for _, l := range r.list("ports_links") {
				if l["rel"] == "next" {
					next = strings.TrimPrefix(l["href"].(string), base)
				}
			}
		}
		slices.Sort(got)
		if diff := cmp.Diff(namesOf(whole.list("ports")), got); diff != "" {
			t.Errorf("limit %d (-want +got):\n%s", limit, diff)
		}
	}
}

func TestFieldsLimitWhatIsShown(t *testing.T) {
	s := cloud(t, simulator.Options{})
	a := connect(t, s, "operator")
	a.net("POST", "/security-groups", `{"security_group": {"name": "g"}}`, 201)
	for query, want := range map[string][]string{
		"fields=id&fields=name":                   {"id", "name"},
		"fields=name&fields=security_group_rules": {"name", "security_group_rules"},
		"fields=security_group_rules":             {"security_group_rules"},
		"fields=nonsense":                         {},
	} {
		got := []string{}
		for key := range a.net("GET", "/security-groups?name=g&"+query, "", 200).list("security_groups")[0] {
			got = append(got, key)
		}
		slices.Sort(got)
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", query, diff)
		}
	}
}

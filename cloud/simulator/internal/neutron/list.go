package neutron

import (
	"bytes"
	"cmp"
	"encoding/json"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/vpnctl/vpnctl/cloud/simulator/internal/attr"
	"github.com/vpnctl/vpnctl/cloud/simulator/internal/wire"
)

// query is what a list asks for, besides filters.
type query struct {
	filters  map[string][]string
	limit    int // 0: all
	marker   string
	sortKeys []string
	sortDirs []string
	reverse  bool
}

func (c *call) query() (*query, error) {
	q := &query{filters: map[string][]string{}}
	for name, values := range c.req.Query {
		switch name {
		case "fields":
		case "limit":
			n, err := strconv.Atoi(values[0])
			if err != nil || n < 0 {
				return nil, invalid("BadRequest", "Bad limit request: Limit must be an integer 0 or greater and not '%s'.", values[0])
			}
			q.limit = n
		case "marker":
			q.marker = values[0]
		case "page_reverse":
			q.reverse = strings.EqualFold(values[0], "true")
		case "sort_key":
			q.sortKeys = values
		case "sort_dir":
			q.sortDirs = values
		default:
			q.filters[name] = values
		}
	}
	if len(q.sortKeys) != len(q.sortDirs) {
		return nil, badRequest("The number of sort_keys and sort_dirs must be same")
	}
	if len(q.filters["tags"]) > 0 && len(q.filters["tags-any"]) > 0 {
		return nil, crash() // so does Zed on MySQL
	}
	return q, nil
}

// selected makes the test for ?fields=…; nil where there is none.
func selected(fields []string) func(string) bool {
	if len(fields) == 0 {
		return nil
	}
	return func(name string) bool { return slices.Contains(fields, name) }
}

func (k *collection[X, T]) list(c *call) (*wire.Answer, error) {
	q, err := c.query()
	if err != nil {
		return nil, err
	}
	found, err := k.filter(c, q)
	if err != nil {
		return nil, err
	}
	if err := k.sort(c, q, found); err != nil {
		return nil, err
	}
	page, links, err := k.page(c, q, found)
	if err != nil {
		return nil, err
	}
	only := selected(c.req.Query["fields"])
	var b bytes.Buffer
	b.WriteString(`{"` + k.many + `": [`)
	for i, o := range page {
		if i > 0 {
			b.WriteByte(',')
		}
		b.Write(k.text(c, o, only))
	}
	b.WriteByte(']')
	if len(links) > 0 {
		raw, err := json.Marshal(links)
		if err != nil {
			return nil, err
		}
		b.WriteString(`, "` + k.many + `_links": `)
		b.Write(raw)
	}
	b.WriteByte('}')
	return wire.Bytes(http.StatusOK, b.Bytes()), nil
}

// sort orders by the keys asked for and then by ID, which is the order of the table.
func (k *collection[X, T]) sort(c *call, q *query, list []T) error {
	for _, key := range q.sortKeys {
		if _, ok := attr.Values(k.empty(), key, c.level()); !ok {
			return badRequest("[%s] is invalid attribute for sort_keys", key)
		}
	}
	if len(q.sortKeys) == 0 {
		return nil
	}
	slices.SortStableFunc(list, func(a, b T) int {
		for i, key := range q.sortKeys {
			va, _ := attr.Values(a, key, c.level())
			vb, _ := attr.Values(b, key, c.level())
			n := slices.Compare(va, vb)
			if q.sortDirs[i] == "desc" {
				n = -n
			}
			if n != 0 {
				return n
			}
		}
		return cmp.Compare(a.Key(), b.Key())
	})
	return nil
}

type link struct {
	Rel  string `json:"rel"`
	Href string `json:"href"`
}

// page cuts the list to what limit and marker ask for, and makes the links to the pages around it.
func (k *collection[X, T]) page(c *call, q *query, list []T) ([]T, []link, error) {
	if q.reverse {
		slices.Reverse(list)
	}
	if q.marker != "" {
		at := slices.IndexFunc(list, func(o T) bool { return o.Key() == q.marker })
		if _, ok := k.table.Get(q.marker); !ok {
			return nil, nil, k.absent(q.marker)
		}
		list = list[at+1:]
	}
	if q.limit == 0 {
		return list, nil, nil
	}
	var links []link
	if len(list) >= q.limit {
		list = list[:q.limit]
		links = append(links, link{"next", c.pageURL(list[len(list)-1].Key(), false)})
	}
	if q.marker != "" && len(list) > 0 {
		links = append(links, link{"previous", c.pageURL(list[0].Key(), true)})
	}
	if q.reverse {
		slices.Reverse(list)
	}
	return list, links, nil
}

func (c *call) pageURL(marker string, back bool) string {
	v := url.Values{}
	for name, values := range c.req.Query {
		if name != "page_reverse" {
			v[name] = values
		}
	}
	v.Set("marker", marker)
	if back {
		v.Set("page_reverse", "True")
	}
	return c.req.Base + "/network" + c.req.Raw + "?" + v.Encode()
}

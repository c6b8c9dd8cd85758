package neutron

import (
	"encoding/json"
	"net/http"
	"slices"
	"strings"

	"github.com/vpnctl/vpnctl/cloud/simulator/internal/wire"
)

const longestTag = 255 // characters

// tags is what lies below /v2.0/<collection>/<id>/tags. Whoever sees an object may tag it.
func (k *collection[X, T]) tags(c *call, id string) (*wire.Answer, error) {
	old, err := k.find(c, id)
	if err != nil {
		return nil, err
	}
	next := k.copy(old)
	t, ok := any(next).(tagged)
	if !ok {
		return nil, errNoResource
	}
	if len(c.req.Path) == 4 {
		return k.allTags(c, next, t.TagSet())
	}
	return k.oneTag(c, next, t.TagSet())
}

// allTags reads, replaces or clears the whole set.
func (k *collection[X, T]) allTags(c *call, next T, set *[]string) (*wire.Answer, error) {
	switch c.req.Method {
	case http.MethodGet:
		return tagAnswer(*set), nil
	case http.MethodPut:
		tags, err := c.tagBody()
		if err != nil {
			return nil, err
		}
		if c.req.Header.Get("If-Match") != "" {
			return nil, crash() // Zed, whatever the number
		}
		*set = tags
		k.retag(c, next)
		return tagAnswer(tags), nil
	case http.MethodDelete:
		*set = nil
		k.retag(c, next)
		return wire.Empty(http.StatusNoContent), nil
	}
	return nil, errNoResource
}

// oneTag works on a single tag, which cannot hold a slash however it is written.
func (k *collection[X, T]) oneTag(c *call, next T, set *[]string) (*wire.Answer, error) {
	tag := c.req.Segment(4)
	at := slices.Index(*set, tag)
	slash := strings.Contains(tag, "/")
	switch {
	case len(c.req.Path) != 5:
		return nil, errNoResource
	case c.req.Method == http.MethodGet && slash:
		return nil, crash()
	case slash:
		return nil, errNoResource
	case c.req.Method == http.MethodPut && at < 0:
		*set = append(slices.Clone(*set), tag)
		slices.Sort(*set)
		k.retag(c, next)
		return wire.Empty(http.StatusCreated), nil
	case c.req.Method == http.MethodPut:
		return wire.Empty(http.StatusCreated), nil
	case at < 0:
		return nil, missing("TagNotFound", "Tag %s could not be found.", tag)
	case c.req.Method == http.MethodDelete:
		*set = slices.Delete(slices.Clone(*set), at, at+1)
		k.retag(c, next)
		return wire.Empty(http.StatusNoContent), nil
	case c.req.Method == http.MethodGet:
		return wire.Empty(http.StatusNoContent), nil
	}
	return nil, errNoResource
}

func (k *collection[X, T]) retag(c *call, next T) {
	if s, ok := any(next).(standard); ok {
		c.bump(s.Std())
	}
	k.table.Put(next)
}

// tagBody reads {"tags": […]}; the set has an order of its own, so it is sorted.
func (c *call) tagBody() ([]string, error) {
	var in struct {
		Tags *[]string `json:"tags"`
	}
	if err := json.Unmarshal(c.req.Body, &in); err != nil || in.Tags == nil {
		return nil, invalid("InvalidInput", "Invalid input for operation: Invalid tags body.")
	}
	tags := slices.Sorted(slices.Values(*in.Tags))
	for i, t := range tags {
		if len([]rune(t)) > longestTag {
			return nil, invalid("InvalidInput", "Invalid input for operation: '%s' exceeds maximum length of %d.", t, longestTag)
		}
		if i > 0 && tags[i-1] == t {
			return nil, invalid("InvalidInput", "Invalid input for operation: Duplicate items in the list: '%s'.", t)
		}
	}
	return tags, nil
}

func tagAnswer(tags []string) *wire.Answer {
	if tags == nil {
		tags = []string{}
	}
	return wire.JSON(http.StatusOK, map[string]any{"tags": tags})
}

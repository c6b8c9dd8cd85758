package simulator

import (
	"bytes"
	"cmp"
	"encoding/json"
	"slices"

	"github.com/vpnctl/vpnctl/cloud/simulator/internal/neutron"
	"github.com/vpnctl/vpnctl/cloud/simulator/internal/store"
)

// Snapshot is everything that the cloud holds, as plain data, in a fixed order.
type Snapshot []Object

// Object is one thing in a snapshot.
type Object struct {
	Kind       string         // network, subnet, router, security-group, security-group-rule, port, floating-ip, rbac-policy, quota, server, project
	ID         string         // in a normalised snapshot a stable name
	Attributes map[string]any // as JSON decodes them; those with the prefix sim: are the simulator's own
}

// Snapshot returns the state. What is under way (a port that is being detached, the status of a floating IP)
// is done first, as if enough time had gone by. Users and credentials are left out.
func (s *Server) Snapshot() (Snapshot, error) {
	var records []store.Record
	err := s.db.Do(func() error {
		neutron.SettleAll(s.db, s.options.Clock())
		records = s.db.Records()
		return nil
	})
	if err != nil {
		return nil, err
	}
	var out Snapshot
	for _, r := range records {
		if r.Kind == "user" || r.Kind == "application-credential" {
			continue
		}
		o := Object{Kind: r.Kind, ID: r.Key}
		if err := json.Unmarshal(r.JSON, &o.Attributes); err != nil {
			return nil, err
		}
		out = append(out, o)
	}
	out.sort()
	return out, nil
}

// Only returns the objects for which keep is true.
func (s Snapshot) Only(keep func(Object) bool) Snapshot {
	return slices.DeleteFunc(slices.Clone(s), func(o Object) bool { return !keep(o) })
}

// Of returns the objects of one kind.
func (s Snapshot) Of(kind string) Snapshot {
	return s.Only(func(o Object) bool { return o.Kind == kind })
}

// Text returns an attribute that is a string, "" where it is something else.
func (o Object) Text(attribute string) string {
	text, _ := o.Attributes[attribute].(string)
	return text
}

// Tags returns the object's tags.
func (o Object) Tags() []string {
	list, _ := o.Attributes["tags"].([]any)
	var out []string
	for _, t := range list {
		if text, ok := t.(string); ok {
			out = append(out, text)
		}
	}
	return out
}

// Bytes writes the snapshot with one object a line.
func (s Snapshot) Bytes() []byte {
	var b bytes.Buffer
	for _, o := range s {
		b.WriteString(o.Kind + " " + o.ID + " ")
		b.Write(text(o.Attributes))
		b.WriteByte('\n')
	}
	return b.Bytes()
}

// text is the JSON of what JSON was decoded to.
func text(v any) []byte {
	b, err := json.Marshal(v)
	if err != nil {
		return []byte(err.Error())
	}
	return b
}

func (s Snapshot) sort() {
	slices.SortStableFunc(s, func(a, b Object) int {
		if n := cmp.Or(cmp.Compare(a.Kind, b.Kind), cmp.Compare(a.ID, b.ID)); n != 0 {
			return n
		}
		return bytes.Compare(text(a.Attributes), text(b.Attributes))
	})
}

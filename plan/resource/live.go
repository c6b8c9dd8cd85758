package resource

import (
	"bytes"
	"encoding/json"
)

// OwnerAnnotation says which manifest a Kubernetes object belongs to. The ownership
// labels have no room for its kind.
const OwnerAnnotation = "vpn.bnerd.net/owner"

// Live is a Kubernetes object as the cluster holds it. Only observed objects of a
// cluster have one; it is not part of a plan that is saved.
//
// It is kept as JSON: decoded, an estate of 1,000 gateways would be ten times as large,
// and of most objects nobody looks at more than one at a time.
type Live struct {
	// JSON is the object without its status, managedFields and what the server counts in
	// metadata (resourceVersion, generation, uid, times). Fields are in order of their
	// names, so that the same object has the same bytes.
	JSON []byte
	// Managers are who wrote which fields, in the server's order.
	Managers []Manager
	UID      string
	Version  string // resourceVersion
	Deleting bool   // it was deleted and waits for finalizers or its children
}

// Manager is a field manager and the fields it owns, as managedFields has them. The
// status subresource's are left out.
type Manager struct {
	Name     string
	Apply    bool   // by server-side apply; else by create, update or patch
	FieldsV1 string // the set of fields, as JSON
}

// Value is the object, decoded anew each time: whole numbers are int64, others float64.
// It is nil where JSON is no object.
func (l *Live) Value() map[string]any { return decoded(l.JSON) }

// Owned are the fields that a manager wrote by server-side apply, nil where it never did.
func (l *Live) Owned(manager string) map[string]any {
	for _, m := range l.Managers {
		if m.Name == manager && m.Apply {
			return m.Fields()
		}
	}
	return nil
}

// Fields are those that the manager owns, decoded anew each time.
func (m Manager) Fields() map[string]any { return decoded([]byte(m.FieldsV1)) }

func decoded(data []byte) map[string]any {
	var value map[string]any
	d := json.NewDecoder(bytes.NewReader(data))
	d.UseNumber()
	if d.Decode(&value) != nil {
		return nil
	}
	settle(value)
	return value
}

// settle turns numbers into int64, and those that don't fit into float64.
func settle(v any) any {
	switch v := v.(type) {
	case map[string]any:
		for name, below := range v {
			if replaced(below) {
				v[name] = settle(below)
			}
		}
	case []any:
		for i, below := range v {
			v[i] = settle(below)
		}
	case json.Number:
		if whole, err := v.Int64(); err == nil {
			return whole
		}
		if f, err := v.Float64(); err == nil {
			return f
		}
	}
	return v
}

// replaced tells whether a value is, or may hold, a number.
func replaced(v any) bool {
	switch v.(type) {
	case map[string]any, []any, json.Number:
		return true
	}
	return false
}

package resource

// OwnerAnnotation says which manifest a Kubernetes object belongs to. The ownership
// labels have no room for its kind.
const OwnerAnnotation = "vpn.bnerd.net/owner"

// Live is a Kubernetes object as the cluster holds it. Only observed objects of a
// cluster have one; it is not part of a plan that is saved.
type Live struct {
	// Value is the object as JSON has it, without its status, managedFields and what
	// the server counts in metadata (resourceVersion, generation, uid, times).
	Value map[string]any
	// Managers are who wrote which fields, in the server's order.
	Managers []Manager
	UID      string
	Version  string // resourceVersion
	Deleting bool   // it was deleted and waits for finalizers or its children
}

// Manager is a field manager and the fields it owns, as managedFields has them
// (FieldsV1). The status subresource's are left out.
type Manager struct {
	Name   string
	Apply  bool // by server-side apply; else by create, update or patch
	Fields map[string]any
}

// Owned are the fields that a manager wrote by server-side apply, nil where it never did.
func (l *Live) Owned(manager string) map[string]any {
	for _, m := range l.Managers {
		if m.Name == manager && m.Apply {
			return m.Fields
		}
	}
	return nil
}

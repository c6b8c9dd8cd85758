package store

import "time"

// Owned is what every network object has.
type Owned struct {
	ID        string `json:"id"`
	ProjectID string `json:"project_id" api:"create"`
	TenantID  string `json:"tenant_id" api:"create"` // always equal to ProjectID
}

// Key returns the ID.
func (o *Owned) Key() string { return o.ID }

// Owner returns the object's identity, to be read or, on a copy, to be written.
func (o *Owned) Owner() *Owned { return o }

// Standard are Neutron's standard attributes.
type Standard struct {
	Description    string `json:"description" api:"create,update" max:"255"`
	RevisionNumber int    `json:"revision_number"`
	CreatedAt      string `json:"created_at"`
	UpdatedAt      string `json:"updated_at"`
}

// Std returns the standard attributes, to be read or, on a copy, to be written.
func (s *Standard) Std() *Standard { return s }

// Tagged are the tags of the objects that can have them.
type Tagged struct {
	Tags []string `json:"tags"`
}

// TagSet returns the tags, to be read or, on a copy, to be replaced.
func (t *Tagged) TagSet() *[]string { return &t.Tags }

// Project is a Keystone project.
type Project struct {
	ID          string `json:"id"`
	Name        string `json:"name"`
	Description string `json:"description"`
	DomainID    string `json:"domain_id"`
	Enabled     bool   `json:"enabled"`
	IsDomain    bool   `json:"is_domain"`
}

// Key returns the ID.
func (p *Project) Key() string { return p.ID }

// User is a Keystone user with its password and its roles in one project.
type User struct {
	ID        string   `json:"id"`
	Name      string   `json:"name"`
	Password  string   `json:"password"`
	ProjectID string   `json:"project_id"`
	Roles     []string `json:"roles"`
}

// Key returns the ID.
func (u *User) Key() string { return u.ID }

// Credential is an application credential.
type Credential struct {
	ID          string   `json:"id"`
	Name        string   `json:"name"`
	Description string   `json:"description"`
	Secret      string   `json:"secret"`
	UserID      string   `json:"user_id"`
	ProjectID   string   `json:"project_id"`
	Roles       []string `json:"roles"`
	Expires     *string  `json:"expires_at"` // RFC 3339 without zone, UTC
}

// Key returns the ID.
func (c *Credential) Key() string { return c.ID }

// Server is a Nova server.
type Server struct {
	ID        string    `json:"id"`
	Name      string    `json:"name"`
	ProjectID string    `json:"project_id"`
	UserID    string    `json:"user_id"`
	Status    string    `json:"status"`
	Locked    bool      `json:"locked"`
	Host      string    `json:"host"`
	Created   time.Time `json:"created"`
}

// Key returns the ID.
func (s *Server) Key() string { return s.ID }

// Pending is something that the cloud will do by itself a while after it has answered.
type Pending struct {
	Kind   string    `json:"kind"`   // PendingDetach or PendingStatus
	Target string    `json:"target"` // ID of the port or the floating IP
	Due    time.Time `json:"due"`    // when it happens; zero: once a read has seen the state before it
	Seen   bool      `json:"seen"`   // such a read has happened
}

// The kinds of Pending.
const (
	PendingDetach = "detach" // the port leaves its server
	PendingStatus = "status" // the floating IP's status follows its association
)

// Key returns kind and target.
func (p *Pending) Key() string { return p.Kind + "/" + p.Target }

// Quota holds the limits of one project that differ from the defaults; -1 is no limit.
type Quota struct {
	ProjectID string         `json:"project_id"`
	Limits    map[string]int `json:"limits"`
}

// Key returns the project.
func (q *Quota) Key() string { return q.ProjectID }

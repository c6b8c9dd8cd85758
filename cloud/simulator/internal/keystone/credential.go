package keystone

import (
	"encoding/json"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/vpnctl/vpnctl/cloud/simulator/internal/attr"
	"github.com/vpnctl/vpnctl/cloud/simulator/internal/store"
	"github.com/vpnctl/vpnctl/cloud/simulator/internal/wire"
)

// users is what lies below /v3/users: a user's application credentials.
func (s *service) users(who Principal) *wire.Answer {
	id, what, cred := s.req.Segment(2), s.req.Segment(3), s.req.Segment(4)
	if what != "application_credentials" {
		return forbidden("identity:get_user")
	}
	if id != who.UserID && !who.Admin {
		return forbidden("identity:list_application_credentials")
	}
	c, found := s.DB.Credentials.Get(cred)
	found = found && c.UserID == id
	switch {
	case s.req.Method == http.MethodPost && cred == "":
		return s.createCredential(who, id)
	case s.req.Method == http.MethodGet && cred == "":
		list := []map[string]any{}
		for c := range s.DB.Credentials.All() {
			if c.UserID == id {
				list = append(list, credential(c, false))
			}
		}
		return wire.JSON(http.StatusOK, map[string]any{"application_credentials": list})
	case !found:
		return gone(cred)
	case s.req.Method == http.MethodGet:
		return wire.JSON(http.StatusOK, map[string]any{"application_credential": credential(c, false)})
	case s.req.Method == http.MethodDelete && who.AppCredential:
		return forbidden("identity:delete_application_credential")
	case s.req.Method == http.MethodDelete:
		s.DB.Credentials.Delete(cred)
		return wire.Empty(http.StatusNoContent)
	}
	return notFound("The resource could not be found.")
}

func (s *service) createCredential(who Principal, user string) *wire.Answer {
	if who.AppCredential || user != who.UserID {
		return forbidden("identity:create_application_credential")
	}
	var in struct {
		C struct {
			Name        string  `json:"name"`
			Description string  `json:"description"`
			Secret      string  `json:"secret"`
			Expires     *string `json:"expires_at"`
			Roles       []named `json:"roles"`
		} `json:"application_credential"`
	}
	if err := json.Unmarshal(s.req.Body, &in); err != nil || in.C.Name == "" {
		return badRequest("'name' is a required property")
	}
	u, _ := s.DB.Users.Get(user)
	roles, ok := some(u.Roles, in.C.Roles)
	if !ok {
		return badRequest("Invalid application credential: Cannot create an application credential with unassigned role")
	}
	c := &store.Credential{ID: hex(s.DB.NewID()), Name: in.C.Name, Description: in.C.Description,
		Secret: in.C.Secret, UserID: user, ProjectID: who.ProjectID, Roles: roles}
	if in.C.Expires != nil {
		end, err := time.Parse(time.RFC3339, strings.TrimSuffix(*in.C.Expires, "Z")+"Z")
		switch {
		case err != nil:
			return badRequest("Timestamp not in expected format.")
		case end.Before(s.req.Now):
			return badRequest("The 'expires_at' must not be before now.")
		}
		text := end.Format(zoneless)
		c.Expires = &text
	}
	if c.Secret == "" {
		c.Secret = hex(s.DB.NewID())
	}
	s.DB.Credentials.Put(c)
	return wire.JSON(http.StatusCreated, map[string]any{"application_credential": credential(c, true)})
}

// some are those of a user's roles that a credential is to have, all where none is named;
// false where one is named that the user lacks.
func some(all []string, wanted []named) (roles []string, ok bool) {
	for _, w := range wanted {
		i := slices.IndexFunc(all, func(name string) bool { return name == w.Name || store.StableID("role "+name) == w.ID })
		if i < 0 {
			return nil, false
		}
		roles = append(roles, all[i])
	}
	if len(wanted) == 0 {
		return all, true
	}
	return roles, true
}

// credential is the API's view of c; the secret is shown once, when it is made.
func credential(c *store.Credential, secret bool) map[string]any {
	var out map[string]any
	raw := attr.Append(nil, c, attr.Member, func(name string) bool { return name != "secret" || secret })
	if err := json.Unmarshal(raw, &out); err != nil { // it was just encoded
		panic(err)
	}
	out["roles"] = roleList(c.Roles)
	return out
}

// zoneless is how Keystone writes when a credential expires, in UTC.
const zoneless = "2006-01-02T15:04:05.000000"

// end is when a credential expires; false: never.
func end(c *store.Credential) (time.Time, bool) {
	if c.Expires == nil {
		return time.Time{}, false
	}
	at, err := time.Parse(zoneless, *c.Expires)
	return at, err == nil
}

// gone is Keystone's answer to whoever names a credential that isn't there.
func gone(id string) *wire.Answer {
	return notFound("Could not find Application Credential: " + id + ".")
}

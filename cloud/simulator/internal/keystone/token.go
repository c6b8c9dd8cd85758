package keystone

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"slices"
	"strings"
	"time"

	"github.com/vpnctl/vpnctl/cloud/simulator/internal/store"
)

// Principal is who makes a call.
type Principal struct {
	UserID, ProjectID string
	Admin             bool // has the admin role
	AppCredential     bool // logged in with an application credential
}

// ticket is the content of a token.
type ticket struct {
	User       string    `json:"u"`
	Project    string    `json:"p"`
	Credential string    `json:"c,omitempty"` // the application credential it came from
	Issued     time.Time `json:"i"`
	Expires    time.Time `json:"e"`
}

// signingKey needs no secrecy: the server listens on loopback only and holds nothing real.
var signingKey = []byte("vpnctl simulator token")

func sign(body string) string {
	m := hmac.New(sha256.New, signingKey)
	m.Write([]byte(body))
	return base64.RawURLEncoding.EncodeToString(m.Sum(nil))
}

func (t ticket) seal() string {
	raw, err := json.Marshal(t)
	if err != nil { // five plain fields
		panic(err)
	}
	body := base64.RawURLEncoding.EncodeToString(raw)
	return "sim." + body + "." + sign(body)
}

func open(token string) (ticket, bool) {
	var t ticket
	parts := strings.Split(token, ".")
	if len(parts) != 3 || parts[0] != "sim" || !hmac.Equal([]byte(sign(parts[1])), []byte(parts[2])) {
		return t, false
	}
	raw, err := base64.RawURLEncoding.DecodeString(parts[1])
	return t, err == nil && json.Unmarshal(raw, &t) == nil
}

// Authenticate returns whose token this is; false where it is unknown, has expired, or was made from a
// credential that is gone.
func Authenticate(db *store.DB, token string, now time.Time) (Principal, bool) {
	t, ok := open(token)
	if !ok || !now.Before(t.Expires) {
		return Principal{}, false
	}
	u, ok := db.Users.Get(t.User)
	if !ok {
		return Principal{}, false
	}
	roles := u.Roles
	if t.Credential != "" {
		c, ok := db.Credentials.Get(t.Credential)
		if !ok {
			return Principal{}, false
		}
		roles = c.Roles
	}
	return Principal{UserID: u.ID, ProjectID: t.Project, Admin: slices.Contains(roles, "admin"),
		AppCredential: t.Credential != ""}, true
}

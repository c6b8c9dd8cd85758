package fakeapi

import (
	"io"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"
)

// Request is one call as it was understood and answered.
type Request struct {
	Time        time.Time
	Account     string // namespace/name; empty: its token wasn't known
	Verb        string // get, patch; list for a path without a name; else the HTTP method in lower case
	Group       string // of the API; empty for Secrets
	Resource    string // such as vpnpeers/status
	Namespace   string
	Name        string
	ContentType string
	Body        []byte // of a patch
	Code        int    // of the answer; 0: none was given
	Unexpected  string // why no agent should have made it; empty: it may
}

// Reply is what an interceptor wants instead of the usual answer. The zero Reply
// wants nothing.
type Reply struct {
	Code       int           // an error code
	Message    string        // with it
	RetryAfter int           // seconds, with it
	Body       string        // answered as it is with 200, whatever it is
	Redirect   string        // to this URL
	Lost       bool          // carry the call out, and cut the connection instead of an answer
	Late       time.Duration // before anything else
}

// Intercept sets a function that sees every authorized request first; nil for none.
func (s *Server) Intercept(f func(Request) Reply) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.intercept = f
}

// Requests returns what was asked so far.
func (s *Server) Requests() []Request {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.log)
}

// Unexpected returns the calls that the account's Role doesn't grant, or that no
// agent needs.
func (s *Server) Unexpected() []Request {
	return slices.DeleteFunc(s.Requests(), func(r Request) bool { return r.Unexpected == "" })
}

func (s *Server) serve(w http.ResponseWriter, h *http.Request) {
	body, err := io.ReadAll(h.Body)
	if err != nil {
		return
	}
	r := understand(h, body)
	defer func() { // an aborted answer is logged as well
		s.mu.Lock()
		defer s.mu.Unlock()
		s.log = append(s.log, r)
	}()
	s.mu.Lock()
	hanging, intercept := s.hanging, s.intercept
	s.mu.Unlock()
	if hanging != nil {
		select {
		case <-hanging:
		case <-h.Context().Done():
		}
		panic(http.ErrAbortHandler)
	}
	account := s.account(h.Header.Get("Authorization"))
	if account == nil {
		r.Code = refuse(w, http.StatusUnauthorized, "Unauthorized")
		return
	}
	r.Account = account.Namespace + "/" + account.Name
	if !account.may(r) {
		r.Unexpected = "the Role doesn't grant it"
		r.Code = refuse(w, http.StatusForbidden, forbidden(account, r))
		return
	}
	var reply Reply
	if intercept != nil {
		reply = intercept(r)
	}
	r.Code, r.Unexpected = s.answer(w, r, reply)
}

// understand reads the path as the API does.
func understand(h *http.Request, body []byte) Request {
	r := Request{Time: time.Now(), Verb: strings.ToLower(h.Method), ContentType: h.Header.Get("Content-Type"), Body: body}
	parts := strings.Split(strings.Trim(h.URL.Path, "/"), "/")
	switch {
	case len(parts) > 2 && parts[0] == "api":
		parts = parts[2:]
	case len(parts) > 3 && parts[0] == "apis":
		r.Group, parts = parts[1], parts[3:]
	}
	if len(parts) >= 3 && parts[0] == "namespaces" {
		r.Namespace, r.Resource = parts[1], parts[2]
		if parts = parts[3:]; len(parts) > 0 {
			r.Name = parts[0]
		}
		if len(parts) == 2 {
			r.Resource += "/" + parts[1]
		}
	}
	if r.Verb == "get" && r.Name == "" {
		r.Verb = "list"
	}
	return r
}

func forbidden(a *Account, r Request) string {
	return r.Resource + ` "` + r.Name + `" is forbidden: User "` + a.user() + `" cannot ` + r.Verb + ` resource "` + r.Resource +
		`" in API group "` + r.Group + `" in the namespace "` + r.Namespace + `"`
}

// refuse answers an error as the API does.
func refuse(w http.ResponseWriter, code int, message string) int {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(code)
	w.Write(encode(map[string]any{
		"kind": "Status", "apiVersion": "v1", "metadata": map[string]any{}, "status": "Failure", "message": message, "code": code,
	}))
	return code
}

// answer gives an authorized request its answer, and tells what it was.
func (s *Server) answer(w http.ResponseWriter, r Request, reply Reply) (code int, unexpected string) {
	time.Sleep(reply.Late)
	switch {
	case reply.Code != 0:
		if reply.RetryAfter > 0 {
			w.Header().Set("Retry-After", strconv.Itoa(reply.RetryAfter))
		}
		return refuse(w, reply.Code, reply.Message), ""
	case reply.Redirect != "":
		w.Header().Set("Location", reply.Redirect)
		return refuse(w, http.StatusTemporaryRedirect, "elsewhere"), ""
	case reply.Body != "":
		io.WriteString(w, reply.Body)
		return http.StatusOK, ""
	}
	code, message, body := s.carryOut(r)
	if reply.Lost {
		panic(http.ErrAbortHandler)
	}
	switch code {
	case http.StatusOK:
		w.Header().Set("Content-Type", "application/json")
		w.Write(body)
	case http.StatusMethodNotAllowed, http.StatusUnsupportedMediaType:
		unexpected = message
		fallthrough
	default:
		refuse(w, code, message)
	}
	return code, unexpected
}

// carryOut does what is asked for: a Secret, or the status of an object.
func (s *Server) carryOut(r Request) (code int, message string, body []byte) {
	s.mu.Lock()
	defer s.mu.Unlock()
	resource, sub, _ := strings.Cut(r.Resource, "/")
	object := s.objects[resource+"/"+r.Namespace+"/"+r.Name]
	secret, found := s.secrets[r.Namespace+"/"+r.Name]
	isSecret := r.Group == "" && r.Resource == "secrets"
	switch {
	case r.Verb == "get" && isSecret && found:
		return http.StatusOK, "", encode(map[string]any{
			"kind": "Secret", "apiVersion": "v1", "type": "Opaque", "data": secret,
			"metadata": map[string]any{"name": r.Name, "namespace": r.Namespace},
		})
	case r.Verb == "get" && !isSecret && object != nil:
		return http.StatusOK, "", encode(object.object)
	case r.Verb == "get":
		return http.StatusNotFound, r.Resource + ` "` + r.Name + `" not found`, nil
	case r.Verb != "patch" || sub != "status":
		return http.StatusMethodNotAllowed, "an agent has no use for " + r.Verb + " of " + r.Resource, nil
	case r.ContentType != "application/merge-patch+json":
		return http.StatusUnsupportedMediaType, "a patch of type " + r.ContentType, nil
	case object == nil:
		return http.StatusNotFound, resource + ` "` + r.Name + `" not found`, nil
	}
	if err := s.patchStatus(object, r.Body); err != nil {
		return http.StatusUnprocessableEntity, err.Error(), nil
	}
	return http.StatusOK, "", encode(object.object)
}

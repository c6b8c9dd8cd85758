package wire

import (
	"fmt"
	"net/http"
)

// Error is a refusal by a service.
type Error struct {
	Status  int
	Type    string // NeutronError.type; Nova and Keystone derive theirs from the status
	Message string
}

func (e *Error) Error() string { return fmt.Sprintf("%d %s: %s", e.Status, e.Type, e.Message) }

// Fail makes an Error; the message is formatted with args.
func Fail(status int, typ, message string, args ...any) *Error {
	return &Error{Status: status, Type: typ, Message: fmt.Sprintf(message, args...)}
}

// Neutron renders e as Neutron does.
func (e *Error) Neutron() *Answer {
	return JSON(e.Status, map[string]any{"NeutronError": map[string]string{
		"type": e.Type, "message": e.Message, "detail": ""}})
}

// Nova renders e as Nova does: the key says what kind of error it is.
func (e *Error) Nova() *Answer {
	key, ok := map[int]string{
		http.StatusBadRequest: "badRequest", http.StatusForbidden: "forbidden",
		http.StatusNotFound: "itemNotFound", http.StatusConflict: "conflictingRequest",
		http.StatusMethodNotAllowed: "badMethod", http.StatusNotAcceptable: "computeFault",
		http.StatusRequestEntityTooLarge: "overLimit", http.StatusTooManyRequests: "overLimit",
		http.StatusServiceUnavailable: "serviceUnavailable",
	}[e.Status]
	if !ok {
		key = "computeFault"
	}
	return JSON(e.Status, map[string]any{key: map[string]any{"code": e.Status, "message": e.Message}})
}

// Keystone renders e as Keystone does.
func (e *Error) Keystone() *Answer {
	return JSON(e.Status, map[string]any{"error": map[string]any{
		"code": e.Status, "message": e.Message, "title": http.StatusText(e.Status)}})
}

// Unauthorized is the 401 that every service gives for a missing, unknown or expired token; authURL is where
// the client is told to log in.
func Unauthorized(authURL string) *Answer {
	e := Fail(http.StatusUnauthorized, "Unauthorized", "The request you have made requires authentication.")
	a := e.Keystone()
	a.Header.Set("WWW-Authenticate", fmt.Sprintf("Keystone uri=%q", authURL))
	return a
}

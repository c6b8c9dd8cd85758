package openstack

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/gophercloud/gophercloud/v2"

	"github.com/vpnctl/vpnctl/cloud"
)

// fault is a call that did not succeed: what a service answered, or that it did
// not answer. It is cloud.ErrQuota or cloud.ErrConflict where its type says so.
type fault struct {
	status     int    // 0: no answer came
	kind       string // NeutronError.type, or the key of Nova's error
	message    string
	request    string        // X-Openstack-Request-Id
	retryAfter time.Duration // what the service asked for, 0: nothing
	cause      error         // of a missing answer
}

// Error writes `409 IpAddressAlreadyAllocated: IP address … (req-…)`.
func (f *fault) Error() string {
	if f.status == 0 {
		return fmt.Sprintf("no answer: %v", f.cause)
	}
	text := strconv.Itoa(f.status)
	if f.kind != "" {
		text += " " + f.kind
	}
	if f.message != "" {
		text += ": " + f.message
	}
	if f.request != "" {
		text += " (" + f.request + ")"
	}
	return text
}

func (f *fault) Unwrap() error { return f.cause }

// conflicts are the answers that say: somebody else is using it.
var conflicts = map[string]bool{
	"SecurityGroupInUse":              true,
	"FloatingIPPortAlreadyAssociated": true,
	"PortInUse":                       true,
	"ServicePortInUse":                true,
}

// Is makes a fault one of the cloud's sentinels.
func (f *fault) Is(target error) bool {
	switch target {
	case cloud.ErrQuota:
		return f.kind == "OverQuota"
	case cloud.ErrConflict:
		return conflicts[f.kind]
	case cloud.ErrRejected:
		return f.status == http.StatusBadRequest || f.status == http.StatusForbidden
	}
	return false
}

// lost tells whether a call may have been carried out although no good answer
// came.
func lost(err error) bool {
	var f *fault
	if !errors.As(err, &f) || errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) {
		return false
	}
	return f.status == 0 || f.status >= 500 && f.status != http.StatusNotImplemented
}

// refused tells whether a call was certainly not carried out: the service said no.
func refused(err error) bool {
	var f *fault
	return errors.As(err, &f) && f.status >= 400 && f.status < 500
}

// answered tells whether err is an answer with that status.
func answered(err error, status int) bool {
	var f *fault
	return errors.As(err, &f) && f.status == status
}

// typed tells whether err is an answer with one of these error types.
func typed(err error, kinds ...string) bool {
	var f *fault
	if !errors.As(err, &f) {
		return false
	}
	for _, k := range kinds {
		if f.kind == k {
			return true
		}
	}
	return false
}

// conflict is an error that wraps cloud.ErrConflict.
func conflict(format string, args ...any) error {
	return fmt.Errorf("%w: %s", cloud.ErrConflict, fmt.Sprintf(format, args...))
}

// errAgain is that of a login that was good and is no more.
var errAgain = errors.New("logging in again")

// faultOf turns what gophercloud returns into a fault. URLs, headers and request
// bodies stay out of it, and with them every token and secret.
func faultOf(err error) error {
	var reauth *gophercloud.ErrUnableToReauthenticate
	if errors.As(err, &reauth) {
		return fmt.Errorf("%w: %w", errAgain, faultOf(reauth.ErrReauth))
	}
	var code gophercloud.ErrUnexpectedResponseCode
	if errors.As(err, &code) {
		return answer(code.Actual, code.ResponseHeader, code.Body)
	}
	var transport *url.Error
	if errors.As(err, &transport) {
		return &fault{cause: transport.Err}
	}
	return &fault{cause: err}
}

func answer(status int, h http.Header, body []byte) *fault {
	f := &fault{status: status, request: h.Get("X-Openstack-Request-Id"), retryAfter: retryAfter(h)}
	var envelope map[string]json.RawMessage
	if json.Unmarshal(body, &envelope) != nil || len(envelope) != 1 {
		f.message = brief(http.StatusText(status))
		return f
	}
	for key, inner := range envelope {
		var e struct{ Type, Title, Message string }
		if json.Unmarshal(inner, &e) != nil {
			_ = json.Unmarshal(inner, &e.Message) // an older Neutron: the message alone
		}
		f.kind, f.message = key, brief(e.Message)
		switch key {
		case "NeutronError":
			f.kind = e.Type
		case "error":
			f.kind = strings.ReplaceAll(e.Title, " ", "")
		}
	}
	return f
}

// brief makes a service's message fit a line.
func brief(s string) string {
	s = strings.TrimSuffix(strings.Join(strings.Fields(s), " "), ".")
	if r := []rune(s); len(r) > 300 {
		s = string(r[:300]) + "…"
	}
	return s
}

// retryAfter reads the header's seconds or date; 0 where there is none.
func retryAfter(h http.Header) time.Duration {
	v := h.Get("Retry-After")
	if s, err := strconv.Atoi(v); err == nil && s > 0 {
		return time.Duration(s) * time.Second
	}
	if at, err := http.ParseTime(v); err == nil {
		now, err := http.ParseTime(h.Get("Date"))
		if err == nil && at.After(now) {
			return at.Sub(now)
		}
	}
	return 0
}

// asked is how long the service wants a caller to wait, 0 where it did not say.
func asked(err error) time.Duration {
	var f *fault
	if errors.As(err, &f) {
		return f.retryAfter
	}
	return 0
}

// Passing tells whether what failed may go well at another time without anybody doing
// anything here: no answer came, or the service asks for patience or has a fault.
func Passing(err error) bool {
	var f *fault
	if !errors.As(err, &f) || errors.Is(err, context.Canceled) {
		return false
	}
	return f.status == 0 || f.status == http.StatusTooManyRequests || f.status >= 500
}

package simulator

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"
)

// Action is what a fault does to a call. The package comment explains each.
type Action string

// The actions; the zero value is none.
const (
	None     Action = ""
	Fail     Action = "fail"
	Throttle Action = "throttle"
	Delay    Action = "delay"
	Hide     Action = "hide"
	Drop     Action = "drop"
	Cut      Action = "cut"
	Race     Action = "race"
	Stop     Action = "stop"
)

// Fault is what happens to one call.
type Fault struct {
	Do         Action
	Status     int    // Fail, Throttle: 0 is 500 and 429
	Type       string // Fail: NeutronError.type; "" follows from the status
	Message    string // Fail
	RetryAfter int    // Throttle: seconds
	Wait       time.Duration
	Reads      int // Hide: how many reads
}

// rule is one line of a fault script, with what it has counted so far.
type rule struct {
	Call  int `json:"call"`
	Match *struct {
		Method string `json:"method"`
		Path   string `json:"path"`
	} `json:"match"`
	Nth      int  `json:"nth"`
	Times    int  `json:"times"`
	Keystone bool `json:"keystone"`

	Do         Action  `json:"do"`
	Status     *int    `json:"status"`
	Type       *string `json:"type"`
	Message    *string `json:"message"`
	RetryAfter *int    `json:"retryAfter"`
	MS         *int    `json:"ms"`
	Reads      *int    `json:"reads"`

	seen int // calls that matched
}

// effective names the keys that an action reads.
var effective = map[Action]string{
	Fail: "status type message", Throttle: "status retryAfter", Delay: "ms", Hide: "reads", Drop: "", Cut: "", Race: "", Stop: "",
}

// parseFaults reads a fault script.
func parseFaults(r io.Reader) ([]*rule, error) {
	if r == nil {
		return nil, nil
	}
	var rules []*rule
	lines := bufio.NewScanner(r)
	for n := 1; lines.Scan(); n++ {
		text := bytes.TrimSpace(lines.Bytes())
		if len(text) == 0 || text[0] == '#' {
			continue
		}
		f, err := parseFault(text)
		if err != nil {
			return nil, fmt.Errorf("faults, line %d: %w", n, err)
		}
		rules = append(rules, f)
	}
	return rules, lines.Err()
}

func parseFault(text []byte) (*rule, error) {
	dec := json.NewDecoder(bytes.NewReader(text))
	dec.DisallowUnknownFields()
	f := &rule{}
	if err := dec.Decode(f); err != nil {
		return nil, err
	}
	if dec.More() {
		return nil, errors.New("more than one object")
	}
	keys, ok := effective[f.Do]
	if !ok {
		return nil, fmt.Errorf("do: %q is none of fail, throttle, delay, hide, drop, cut, race, stop", f.Do)
	}
	for key, set := range map[string]bool{"status": f.Status != nil, "type": f.Type != nil, "message": f.Message != nil,
		"retryAfter": f.RetryAfter != nil, "ms": f.MS != nil, "reads": f.Reads != nil} {
		if set && !strings.Contains(" "+keys+" ", " "+key+" ") {
			return nil, fmt.Errorf("%s: has no effect with do: %s", key, f.Do)
		}
	}
	if f.Status != nil && (*f.Status < 400 || *f.Status > 599) {
		return nil, fmt.Errorf("status: %d is none of an error", *f.Status)
	}
	if (f.Call > 0) == (f.Match != nil) {
		return nil, errors.New("exactly one of call and match says which calls are meant")
	}
	if f.Call < 0 || f.Nth < 0 || f.Times < 0 || f.Call > 0 && f.Nth > 0 {
		return nil, errors.New("call, nth and times count from 1, and nth goes with match")
	}
	return f, nil
}

// event is a call as faults see it.
type event struct {
	n, all          int // its number without Keystone's calls, and with them
	method, pattern string
	keystone        bool
}

// hits tells whether the fault is about this call, and counts it.
func (f *rule) hits(e event) bool {
	if e.keystone && !f.Keystone {
		return false
	}
	if f.Match == nil {
		n := e.n
		if f.Keystone {
			n = e.all
		}
		return n >= f.Call && n < f.Call+max(f.Times, 1)
	}
	if f.Match.Method != "" && f.Match.Method != e.method || f.Match.Path != "" && !samePath(f.Match.Path, e.pattern) {
		return false
	}
	f.seen++
	if f.Nth == 0 && f.Times == 0 {
		return true
	}
	first := max(f.Nth, 1)
	return f.seen >= first && f.seen < first+max(f.Times, 1)
}

func (f *rule) fault() Fault {
	out := Fault{Do: f.Do, RetryAfter: 1, Reads: 1}
	set(&out.Status, f.Status)
	set(&out.Type, f.Type)
	set(&out.Message, f.Message)
	set(&out.RetryAfter, f.RetryAfter)
	set(&out.Reads, f.Reads)
	if f.MS != nil {
		out.Wait = time.Duration(*f.MS) * time.Millisecond
	}
	return out
}

func set[T any](to *T, from *T) {
	if from != nil {
		*to = *from
	}
}

// samePath compares a path of a fault with a call's. In either, {id} stands for any one segment.
func samePath(want, path string) bool {
	a, b := strings.Split(strings.Trim(want, "/"), "/"), strings.Split(strings.Trim(path, "/"), "/")
	if len(a) != len(b) {
		return false
	}
	for i := range a {
		if a[i] != b[i] && a[i] != "{id}" {
			return false
		}
	}
	return true
}

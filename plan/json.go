package plan

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"

	"github.com/vpnctl/vpnctl/plan/resource"
)

// ErrVersion: the plan was written in another version of the format.
var ErrVersion = errors.New("unknown plan version")

// Encode writes the plan as one line of JSON. The same plan gives the same bytes.
func (p Plan) Encode(w io.Writer) error {
	e := json.NewEncoder(w)
	e.SetEscapeHTML(false)
	return e.Encode(p)
}

// Decode reads what Encode wrote. Fields it does not know, more than one
// document and changes out of order are errors; so is another version, which
// wraps ErrVersion.
func Decode(r io.Reader) (Plan, error) {
	data, err := io.ReadAll(r)
	if err != nil {
		return Plan{}, fmt.Errorf("reading plan: %w", err)
	}
	var head struct {
		Version string `json:"version"`
	}
	if err := json.Unmarshal(data, &head); err != nil {
		return Plan{}, fmt.Errorf("reading plan: %w", err)
	}
	if head.Version != Version {
		return Plan{}, fmt.Errorf("reading plan: %w %q, this vpnctl reads %s", ErrVersion, head.Version, Version)
	}
	d := json.NewDecoder(bytes.NewReader(data))
	d.DisallowUnknownFields()
	var p Plan
	if err := d.Decode(&p); err != nil {
		return Plan{}, fmt.Errorf("reading plan: %w", err)
	}
	if err := p.check(); err != nil {
		return Plan{}, fmt.Errorf("reading plan: %w", err)
	}
	p.compact()
	return p, nil
}

// check refuses what no Make would have made.
func (p Plan) check() error {
	if p.Input != nil {
		if err := p.Input.Check(); err != nil {
			return err
		}
	}
	come := make(map[resource.ID]bool, len(p.Changes))
	for _, c := range p.Changes {
		switch {
		case !slices.Contains([]Action{Create, Update, Replace, Adopt, Release, Delete}, c.Action):
			return fmt.Errorf("%s: action %q is not known", c.ID, c.Action)
		case come[c.ID]:
			return fmt.Errorf("%s: stands in the plan twice", c.ID)
		case (c.Action == Delete || c.Action == Release) != (c.After == nil) || c.Action == Create != (c.Before == nil):
			return fmt.Errorf("%s: the sides don't fit the action %s", c.ID, c.Action)
		}
		for _, id := range c.Needs {
			if !come[id] {
				return fmt.Errorf("%s: %s must come before", c.ID, id)
			}
		}
		come[c.ID] = true
	}
	return nil
}

// compact takes the white space out of what is kept as it was written, so that
// a plan that somebody formatted is the same plan.
func (p *Plan) compact() {
	if p.Input == nil {
		return
	}
	for _, raw := range []*json.RawMessage{&p.Input.Pod.Resources, &p.Input.Pod.Tolerations} {
		*raw = compact(*raw)
	}
	for i := range p.Input.Patches {
		p.Input.Patches[i].Target = compact(p.Input.Patches[i].Target)
	}
}

func compact(raw json.RawMessage) json.RawMessage {
	if len(raw) == 0 {
		return raw
	}
	var b bytes.Buffer
	if json.Compact(&b, raw) != nil {
		return raw
	}
	return b.Bytes()
}

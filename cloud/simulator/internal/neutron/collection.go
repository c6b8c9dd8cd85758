package neutron

import (
	"bytes"
	"encoding/json"
	"net/http"

	"github.com/vpnctl/vpnctl/cloud/simulator/internal/attr"
	"github.com/vpnctl/vpnctl/cloud/simulator/internal/store"
	"github.com/vpnctl/vpnctl/cloud/simulator/internal/wire"
)

// item is an object with an owner. Most have standard attributes (standard) and tags (tagged) besides.
type item interface {
	store.Object
	Owner() *store.Owned
}

type standard interface{ Std() *store.Standard }

type tagged interface{ TagSet() *[]string }

// endpoint is a collection whatever its objects are.
type endpoint interface {
	list(c *call) (*wire.Answer, error)
	show(c *call, id string) (*wire.Answer, error)
	post(c *call) (*wire.Answer, error)
	put(c *call, id string) (*wire.Answer, error)
	delete(c *call, id string) (*wire.Answer, error)
	tags(c *call, id string) (*wire.Answer, error)
}

// collection is one kind of resource: what it is called and what its own rules are. The rest is the same for
// all of them.
type collection[X any, T interface {
	*X
	item
}] struct {
	one, many string // the keys in bodies: port, ports
	noun      string // in messages and error types: Port
	table     *store.Table[T]
	required  []string
	ignored   []string // attributes that a create accepts and drops

	prepare func(given body)                              // rewrites a create's body before it is read; nil: as it is
	empty   func() T                                      // a new object with its defaults
	sees    func(c *call, o T) bool                       // besides the owner and the admin role
	view    func(c *call, o T) T                          // o with what depends on who looks; nil: o, and its text is kept
	extra   *extra[T]                                     // one attribute more, which other objects make up
	create  func(c *call, o T, given body) error          // checks and puts a new object
	update  func(c *call, old, new T, given body) error   // checks and puts a new version
	remove  func(c *call, o T) error                      // checks and deletes
	mayCut  func(c *call, o T) bool                       // may delete it besides the owner; nil: nobody
	match   func(o T, name string, values []string) match // filters of its own
}

// extra is an attribute that is worked out for each answer; an object without a text doesn't have it.
type extra[T item] struct {
	name string
	text func(c *call, o T) []byte
}

func (k *collection[X, T]) visible(c *call, o T) bool {
	return c.mine(o.Owner().ProjectID) || k.sees != nil && k.sees(c, o)
}

// find returns what the caller may see under that ID. What belongs to others is not found.
func (k *collection[X, T]) find(c *call, id string) (T, error) {
	o, ok := k.table.Get(id)
	if !ok || c.req.Hidden(id) || !k.visible(c, o) {
		return nil, k.absent(id)
	}
	return o, nil
}

func (k *collection[X, T]) absent(id string) error {
	if k.noun == "SecurityGroup" {
		return missing("SecurityGroupNotFound", "Security group %s does not exist", id)
	}
	return missing(k.noun+"NotFound", "%s %s could not be found.", k.noun, id)
}

func (k *collection[X, T]) show(c *call, id string) (*wire.Answer, error) {
	o, err := k.find(c, id)
	if err != nil {
		return nil, err
	}
	return k.answer(c, http.StatusOK, o), nil
}

func (k *collection[X, T]) answer(c *call, status int, o T) *wire.Answer {
	var b bytes.Buffer
	b.WriteString(`{"` + k.one + `": `)
	b.Write(k.text(c, o, selected(c.req.Query["fields"])))
	b.WriteByte('}')
	return wire.Bytes(status, b.Bytes())
}

// text is the object's JSON for the caller; only limits it to some attributes.
func (k *collection[X, T]) text(c *call, o T, only func(string) bool) []byte {
	if k.view != nil {
		return k.encode(c, k.view(c, o), only)
	}
	if only != nil {
		return k.encode(c, o, only)
	}
	return k.table.Text(o.Key(), c.level(), func(o T) []byte { return k.encode(c, o, nil) })
}

func (k *collection[X, T]) encode(c *call, o T, only func(string) bool) []byte {
	text := attr.Append(nil, o, c.level(), only)
	if k.extra == nil || only != nil && !only(k.extra.name) {
		return text
	}
	more := k.extra.text(c, o)
	if more == nil {
		return text
	}
	text = text[:len(text)-1]
	if len(text) > 1 {
		text = append(text, ',')
	}
	text = append(text, `"`+k.extra.name+`":`...)
	return append(append(text, more...), '}')
}

func (k *collection[X, T]) post(c *call) (*wire.Answer, error) {
	bodies, many, err := c.parse(k.one, k.many)
	if err != nil {
		return nil, err
	}
	var made []T
	err = c.db.Try(func() error {
		for _, b := range bodies {
			o, err := k.make(c, b)
			if err != nil {
				return err
			}
			made = append(made, o)
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	if !many {
		return k.answer(c, http.StatusCreated, made[0]), nil
	}
	texts := []json.RawMessage{}
	for _, o := range made {
		texts = append(texts, k.text(c, o, nil))
	}
	return wire.JSON(http.StatusCreated, map[string]any{k.many: texts}), nil
}

func (k *collection[X, T]) make(c *call, b body) (T, error) {
	for _, name := range k.ignored {
		delete(b, name)
	}
	if k.prepare != nil {
		k.prepare(b)
	}
	o := k.empty()
	if err := refusal(attr.Set(o, b, attr.Create, c.who.Admin), "create", k.one); err != nil {
		return nil, err
	}
	for _, name := range k.required {
		if !b.has(name) {
			return nil, badRequest("Failed to parse request. Required attribute '%s' not specified", name)
		}
	}
	if err := c.ownership(o.Owner()); err != nil {
		return nil, err
	}
	if s, ok := any(o).(standard); ok {
		c.born(s.Std())
	}
	if err := k.create(c, o, b); err != nil {
		return nil, err
	}
	o, _ = k.table.Get(o.Key())
	c.req.Made = append(c.req.Made, o.Key())
	return o, nil
}

func (k *collection[X, T]) put(c *call, id string) (*wire.Answer, error) {
	old, err := k.find(c, id)
	if err != nil {
		return nil, err
	}
	bodies, _, err := c.parse(k.one, "")
	if err != nil {
		return nil, err
	}
	next := k.copy(old)
	if err := refusal(attr.Set(next, bodies[0], attr.Update, c.who.Admin), "update", k.one); err != nil {
		return nil, err
	}
	if !c.mine(old.Owner().ProjectID) {
		return nil, disallowed("update_" + k.one)
	}
	if s, ok := any(next).(standard); ok {
		if err := c.guard(s.Std()); err != nil {
			return nil, err
		}
		c.bump(s.Std())
	}
	if err := c.db.Try(func() error { return k.update(c, old, next, bodies[0]) }); err != nil {
		return nil, err
	}
	now, _ := k.table.Get(id)
	return k.answer(c, http.StatusOK, now), nil
}

func (k *collection[X, T]) copy(o T) T {
	next := *o
	return &next
}

func (k *collection[X, T]) delete(c *call, id string) (*wire.Answer, error) {
	o, err := k.find(c, id)
	if err != nil {
		return nil, err
	}
	if !c.mine(o.Owner().ProjectID) && (k.mayCut == nil || !k.mayCut(c, o)) {
		return nil, disallowed("delete_" + k.one)
	}
	if s, ok := any(o).(standard); ok {
		if err := c.guard(s.Std()); err != nil {
			return nil, err
		}
	}
	if err := c.db.Try(func() error { return k.remove(c, o) }); err != nil {
		return nil, err
	}
	return wire.Empty(http.StatusNoContent), nil
}

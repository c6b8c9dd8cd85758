package openstack

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/vpnctl/vpnctl/cloud"
	"github.com/vpnctl/vpnctl/plan"
	"github.com/vpnctl/vpnctl/plan/resource"
	"github.com/vpnctl/vpnctl/state"
)

var _ cloud.Driver = (*Driver)(nil)

// verb is one change on its way: where, whose, and the driver that does it.
type verb struct {
	*Driver
	scene
	plan.Change
}

// Apply carries out one change. The estate must have been observed, or located,
// by this driver before.
func (d *Driver) Apply(ctx context.Context, c plan.Change) (resource.GatewayFacts, error) {
	s, err := d.here()
	if err != nil {
		return resource.GatewayFacts{}, err
	}
	v := verb{d, s, c}
	learnt, err := v.carry(ctx)
	return learnt, v.blame(err)
}

// carry does it, by whose credential it takes.
func (v verb) carry(ctx context.Context) (resource.GatewayFacts, error) {
	switch v.ID.Kind {
	case resource.KindSecurityGroup:
		return resource.GatewayFacts{}, v.applyGroup(ctx)
	case resource.KindPort:
		return v.applyPort(ctx)
	case resource.KindFloatingIP:
		return v.applyFloatingIP(ctx)
	case resource.KindRoute:
		return resource.GatewayFacts{}, v.applyRoute(ctx)
	case resource.KindTransitLeg:
		w, err := v.atCustomers()
		if err != nil {
			return resource.GatewayFacts{}, err
		}
		learnt, err := w.applyLeg(ctx)
		if err == nil && v.Action != plan.Delete {
			err = v.recordLeg(ctx, learnt)
		}
		return learnt, err
	case resource.KindNetworkShare:
		return resource.GatewayFacts{}, v.applyShare(ctx)
	case resource.KindApplied:
		return resource.GatewayFacts{}, v.applyApplied(ctx)
	}
	return resource.GatewayFacts{}, fmt.Errorf("%s: OpenStack has no such kind", v.ID)
}

// unknown is the error for an action that a kind of resource does not have.
func (v verb) unknown() error { return fmt.Errorf("%s: %s is not supported", v.ID, v.Action) }

// mine tells whether an object carries our tags, names this change's owner, and
// stands in our project.
func (v verb) mine(project string, tags []string) bool {
	estate, o, tagged := state.ReadOwner(tags)
	return tagged && project == v.project && estate == v.estate && o == v.Owner
}

// notMine is the error for an object that is somebody else's by now.
func (v verb) notMine(what, id string) error {
	return conflict("%s %s does not carry the tags of %s in this project", what, id, v.Owner)
}

// name, description and tags are what every object of the owner carries.
func (v verb) name() string        { return state.Name(v.Owner) }
func (v verb) description() string { return state.Description(v.estate, v.Owner) }
func (v verb) tags() []string      { return state.Tags(v.estate, v.Owner) }

// note remembers what this process made: it may be missing from the next reads.
func (v verb) note(k resource.Kind, id string) {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.made[idOf(k, v.Owner)] = id
}

// noted is what this process made for the owner.
func (v verb) noted(k resource.Kind) string {
	v.mu.Lock()
	defer v.mu.Unlock()
	return v.made[idOf(k, v.Owner)]
}

func (v verb) forget(k resource.Kind) {
	v.mu.Lock()
	defer v.mu.Unlock()
	delete(v.made, idOf(k, v.Owner))
}

// madeHere tells whether this process made the object.
func (d *Driver) madeHere(id string) bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	for _, made := range d.made {
		if made == id {
			return true
		}
	}
	return false
}

// retag replaces our tags on an object and keeps those of other hands, but for those of
// an operator that it is taken over from; when nothing would change nothing is sent.
func (v verb) retag(ctx context.Context, path, id string, existing, ours []string) error {
	want := state.Merge(existing, ours)
	if v.adopts() {
		want = state.WithoutOperator(want)
	}
	if slices.Equal(want, slices.Sorted(slices.Values(existing))) {
		return nil
	}
	if err := v.tag(ctx, path, id, want); err != nil {
		return fmt.Errorf("tagging %s %s: %w", singular(path), id, err)
	}
	return nil
}

// brand puts the first tags on an object. When that fails the object, if it was
// just made, is deleted again: nothing may be left that no list finds.
func (v verb) brand(ctx context.Context, path, id string, existing, ours []string, justMade bool) error {
	err := v.retag(ctx, path, id, existing, ours)
	if err == nil || !justMade {
		return err
	}
	undo, done := undoing(ctx)
	defer done()
	if left := v.remove(undo, path, id); left != nil {
		return fmt.Errorf("%w; it is left without tags, the next run completes it: %w", err, left)
	}
	return err
}

// create makes an object, unless look finds one. When the answer to make is lost
// it looks before it makes another. The bool tells whether the object is new.
func create[T any](ctx context.Context, d *Driver, look func() (T, bool, error), make func() (T, error)) (T, bool, error) {
	var spent time.Duration
	for attempt := 1; ; attempt++ {
		object, found, err := look()
		if err != nil || found {
			return object, attempt > 1, err
		}
		if object, err = make(); err == nil {
			return object, true, nil
		}
		if attempt == tries || !lost(err) {
			return object, false, err
		}
		if more, cut := d.http.wait(ctx, &spent, pause(attempt, asked(err))); !more {
			return object, false, cmp.Or(cut, err)
		}
	}
}

// lookAlikes are the project's objects that have the owner's name and
// description, or for a floating IP, which has no name, the description.
func lookAlikes[T placed](ctx context.Context, v verb, path string) ([]T, error) {
	q := map[string][]string{"description": {v.description()}}
	if path != "floatingips" {
		q["name"] = []string{v.name()}
	}
	return listOwn[T](ctx, v.Driver, path, q)
}

// byTags are the objects of the owner that carry our tags.
func byTags[T placed](ctx context.Context, v verb, path string) ([]T, error) {
	return listOwn[T](ctx, v.Driver, path, map[string][]string{"tags": v.tags()})
}

// lostTags is the error for an object in use that another hand took the tags
// from.
func (v verb) lostTags(what, id string) error {
	return conflict("%s %s has the name and description of %s and is in use, but lost its tags", what, id, v.Owner)
}

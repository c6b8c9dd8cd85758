package kube

import (
	"context"
	"encoding/json"
	"fmt"
	"reflect"
	"slices"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/vpnctl/vpnctl/cloud"
)

// attempts is how often a manifest is written, or an object removed, anew that others write at the same time.
const attempts = 5

// Record writes what is to be said of a manifest into its status, and tells whether
// anything had to be written. Conditions that it doesn't speak of stay, and so does what
// the gateway's pod reports, at the same moment too. The generation is that of the
// manifest as it was read. A manifest that is gone is no error; one that others write to
// all the time is, and wraps cloud.ErrConflict.
func (d *Driver) Record(ctx context.Context, m cloud.Manifest, s cloud.Status) (bool, error) {
	k, known := kindOf(m.Kind)
	if !known || !k.manifest {
		return false, fmt.Errorf("a %s has no status of ours", m.Kind)
	}
	uid, generation := m.UID, m.Generation
	for range attempts {
		patch, err := statusPatch(m, s, metav1.NewTime(d.options.Now()))
		if err != nil || patch == nil {
			return false, err
		}
		got, err := d.objects(k, m.Namespace).Patch(ctx, m.Name, types.MergePatchType, patch, metav1.PatchOptions{FieldManager: Manager}, "status")
		if !apierrors.IsConflict(err) {
			// a definition that is older than this program leaves a field out
			return err == nil && got.GetResourceVersion() != m.Version, ignoreGone(err)
		}
		have, err := d.objects(k, m.Namespace).Get(ctx, m.Name, metav1.GetOptions{})
		if apierrors.IsNotFound(err) || err == nil && string(have.GetUID()) != uid {
			return false, nil
		}
		if err != nil {
			return false, err
		}
		if m, err = manifest(k, have); err != nil {
			return false, err
		}
		m.Generation = generation
	}
	return false, errBusy
}

// statusPatch is what changes in a manifest's status as it was read; nil: nothing. It
// fits that version alone: of a status no uid is heeded, and the list of conditions is
// one value.
func statusPatch(m cloud.Manifest, s cloud.Status, now metav1.Time) ([]byte, error) {
	fields, have, whole := legible(m.Status)
	changed := map[string]any{}
	for name, want := range s.Fields {
		plain, err := asJSON(want)
		if err != nil {
			return nil, err
		}
		if !reflect.DeepEqual(plain, fields[name]) {
			changed[name] = want
		}
	}
	conditions := said(have, s.Conditions, m.Generation, now)
	if conditions == nil && !whole {
		conditions = have
	}
	if conditions != nil || !whole {
		changed["conditions"] = conditions
	}
	if len(changed) == 0 {
		return nil, nil
	}
	return json.Marshal(map[string]any{"metadata": map[string]any{"resourceVersion": m.Version}, "status": changed})
}

// legible is what of a status can be read. It is not whole where conditions are none, as
// other hands may have written them under a CRD that lets them: these are to go.
func legible(status []byte) (fields map[string]any, conditions []metav1.Condition, whole bool) {
	if status != nil && json.Unmarshal(status, &fields) != nil {
		return nil, nil, false
	}
	var of struct{ Conditions []json.RawMessage }
	if status != nil && json.Unmarshal(status, &of) != nil {
		return fields, nil, false
	}
	for _, one := range of.Conditions {
		var c metav1.Condition
		if json.Unmarshal(one, &c) == nil && c.Type != "" {
			conditions = append(conditions, c)
		}
	}
	return fields, conditions, len(conditions) == len(of.Conditions)
}

// asJSON is a value as it comes back from the server.
func asJSON(v any) (any, error) {
	data, err := json.Marshal(v)
	if err != nil {
		return nil, err
	}
	var plain any
	err = json.Unmarshal(data, &plain)
	return plain, err
}

// said are the conditions with the new ones among them, nil where nothing differs. The
// time is that of the last change of the condition's status.
func said(have []metav1.Condition, want []cloud.Condition, generation int64, now metav1.Time) []metav1.Condition {
	all, differs := slices.Clone(have), false
	for _, w := range want {
		c := metav1.Condition{
			Type: w.Type, Status: metav1.ConditionStatus(w.Status), Reason: w.Reason, Message: bounded(w.Message, longest),
			ObservedGeneration: generation, LastTransitionTime: now,
		}
		i := slices.IndexFunc(all, func(h metav1.Condition) bool { return h.Type == w.Type })
		if i < 0 {
			all, differs = append(all, c), true
			continue
		}
		if all[i].Status == c.Status {
			c.LastTransitionTime = all[i].LastTransitionTime
		}
		if all[i] != c {
			all[i], differs = c, true
		}
	}
	if !differs {
		return nil
	}
	return all
}

// longest is what the API takes of a condition's message, in bytes.
const longest = 32768

func bounded(message string, longest int) string {
	if len(message) <= longest {
		return message
	}
	const more = "…"
	cut := longest - len(more)
	for cut > 0 && message[cut]&0xc0 == 0x80 { // not within a character
		cut--
	}
	return message[:cut] + more
}

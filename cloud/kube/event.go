package kube

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"

	"github.com/vpnctl/vpnctl/cloud"
)

var events = gvr("", "v1", "events")

// quiet is for how long the same happening isn't told again.
const quiet = 10 * time.Minute

// longestEvent is what the API takes of an Event's message, in bytes.
const longestEvent = 1024

// told is when which happenings were told last, by the name of their Event.
type told struct {
	mu sync.Mutex
	at map[string]time.Time
}

// before tells whether a happening was told a short while ago, and takes down that it is
// told now.
func (t *told) before(name string, now time.Time) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	if last, known := t.at[name]; known && now.Sub(last) < quiet {
		return true
	}
	for other, last := range t.at {
		if now.Sub(last) >= quiet {
			delete(t.at, other)
		}
	}
	if t.at == nil {
		t.at = map[string]time.Time{}
	}
	t.at[name] = now
	return false
}

// Event tells of a manifest. The same happening is one Event, whose count goes up at most
// every ten minutes, whichever process tells it.
func (d *Driver) Event(ctx context.Context, m cloud.Manifest, h cloud.Happening) error {
	e := eventOf(m, h, metav1.NewTime(d.options.Now()))
	if d.told.before(e.Namespace+"/"+e.Name, time.Now()) {
		return nil
	}
	object, err := runtime.DefaultUnstructuredConverter.ToUnstructured(e)
	if err != nil {
		return err
	}
	at := d.api.Resource(events).Namespace(e.Namespace)
	if _, err = at.Create(ctx, &unstructured.Unstructured{Object: object}, metav1.CreateOptions{FieldManager: Manager}); !apierrors.IsAlreadyExists(err) {
		return err
	}
	have, err := at.Get(ctx, e.Name, metav1.GetOptions{})
	if err != nil {
		return ignoreGone(err)
	}
	var before corev1.Event
	if err := runtime.DefaultUnstructuredConverter.FromUnstructured(have.Object, &before); err != nil {
		return fmt.Errorf("event %s/%s: %w", e.Namespace, e.Name, err)
	}
	if e.LastTimestamp.Sub(before.LastTimestamp.Time) < quiet {
		return nil
	}
	patch, err := json.Marshal(map[string]any{
		"metadata": map[string]any{"resourceVersion": have.GetResourceVersion()}, "count": before.Count + 1, "lastTimestamp": e.LastTimestamp,
	})
	if err != nil {
		return err
	}
	_, err = at.Patch(ctx, e.Name, types.MergePatchType, patch, metav1.PatchOptions{FieldManager: Manager})
	if apierrors.IsConflict(err) { // another process has just told it
		return nil
	}
	return ignoreGone(err)
}

// eventOf is the Event of a happening, whose name is the same for the same one.
func eventOf(m cloud.Manifest, h cloud.Happening, now metav1.Time) *corev1.Event {
	k, _ := kindOf(m.Kind)
	namespace, kind := m.Namespace, corev1.EventTypeNormal
	if namespace == "" {
		namespace = metav1.NamespaceDefault
	}
	if h.Warning {
		kind = corev1.EventTypeWarning
	}
	sum := sha256.Sum256([]byte(m.UID + "\x00" + kind + "\x00" + h.Reason + "\x00" + h.Message))
	return &corev1.Event{
		TypeMeta:       metav1.TypeMeta{APIVersion: "v1", Kind: "Event"},
		ObjectMeta:     metav1.ObjectMeta{Namespace: namespace, Name: m.Name + "." + hex.EncodeToString(sum[:8])},
		InvolvedObject: corev1.ObjectReference{APIVersion: k.apiVersion(), Kind: m.Kind, Namespace: m.Namespace, Name: m.Name, UID: types.UID(m.UID)},
		Reason:         h.Reason, Message: bounded(h.Message, longestEvent), Type: kind,
		FirstTimestamp: now, LastTimestamp: now, Count: 1,
		Source: corev1.EventSource{Component: Manager}, ReportingController: Manager, ReportingInstance: Manager,
	}
}

package kube

import (
	"context"
	"crypto/ecdh"
	"crypto/rand"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"

	"github.com/vpnctl/vpnctl/cloud"
	"github.com/vpnctl/vpnctl/plan"
	"github.com/vpnctl/vpnctl/plan/vpn"
	"github.com/vpnctl/vpnctl/state"
)

// keyMaker is the field manager of a key. An apply as Manager, which knows the labels
// alone, would take away what Manager itself had written before.
const keyMaker = Manager + "-key"

// writeKey makes the Secret of a gateway's private key, or puts its labels right. One
// that is there keeps its key, whoever has made it: one of another hand stays as it is,
// unless it is adopted.
func (d *Driver) writeKey(ctx context.Context, k kind, c plan.Change) error {
	want, err := document(c.After)
	if err != nil {
		return err
	}
	o, owner, estate := c.After.Object, c.After.Owner, want.GetLabels()[state.LabelEstate]
	have, err := d.look(ctx, k, o.Namespace, o.Name)
	switch {
	case apierrors.IsNotFound(err):
		return d.makeKey(ctx, k, want)
	case err != nil:
		return fmt.Errorf("reading Secret %s/%s: %w", o.Namespace, o.Name, err)
	case c.Action == plan.Adopt && have.GetLabels()[state.LabelEstate] == "":
		return d.keepKey(ctx, k, c, have, want)
	case have.GetLabels()[state.LabelEstate] == "" && !bereft(have, estate, owner):
		return nil
	case !bereft(have, estate, owner) && have.GetLabels()[state.LabelEstate] != estate:
		return fmt.Errorf("%w: the Secret is that of estate %s", cloud.ErrConflict, have.GetLabels()[state.LabelEstate])
	}
	want.SetUID(have.GetUID())
	patch, err := json.Marshal(want.Object)
	if err != nil {
		return err
	}
	force := true
	_, err = d.meta.Resource(k.resource).Namespace(o.Namespace).Patch(ctx, o.Name, types.ApplyPatchType, patch, metav1.PatchOptions{FieldManager: Manager, Force: &force})
	return explained(err)
}

// keepKey makes the Secret of an operator ours and takes the manifest's ownership off, at
// one stroke: the key outlives the manifest, whatever comes between.
func (d *Driver) keepKey(ctx context.Context, k kind, c plan.Change, have, want *unstructured.Unstructured) error {
	if seen := c.Before.Object.Live; seen != nil && seen.UID != string(have.GetUID()) {
		return fmt.Errorf("%w: another Secret stands there by now", cloud.ErrConflict)
	}
	patch, err := json.Marshal(map[string]any{"metadata": map[string]any{
		"uid": string(have.GetUID()), "resourceVersion": have.GetResourceVersion(),
		"labels": want.GetLabels(), "annotations": want.GetAnnotations(), "ownerReferences": disowned(have, c.Owner),
	}})
	if err != nil {
		return err
	}
	_, err = d.meta.Resource(k.resource).Namespace(have.GetNamespace()).Patch(ctx, have.GetName(), types.MergePatchType, patch, metav1.PatchOptions{FieldManager: keyMaker})
	return explained(err)
}

// look reads an object, of a Secret its metadata alone.
func (d *Driver) look(ctx context.Context, k kind, namespace, name string) (*unstructured.Unstructured, error) {
	if !k.secret {
		return d.objects(k, namespace).Get(ctx, name, metav1.GetOptions{})
	}
	m, err := d.meta.Resource(k.resource).Namespace(namespace).Get(ctx, name, metav1.GetOptions{})
	if err != nil {
		return nil, err
	}
	u, err := nameplate(m)
	return &u, err
}

// makeKey creates a Secret with a fresh private key. Another one that comes first wins.
func (d *Driver) makeKey(ctx context.Context, k kind, want *unstructured.Unstructured) error {
	private, err := newKey()
	if err != nil {
		return err
	}
	want = want.DeepCopy()
	want.Object["data"] = map[string]any{vpn.GeneratedKey: base64.StdEncoding.EncodeToString([]byte(private))}
	_, err = d.objects(k, want.GetNamespace()).Create(ctx, want, metav1.CreateOptions{FieldManager: keyMaker})
	if apierrors.IsAlreadyExists(err) {
		return fmt.Errorf("%w: a Secret came to stand there", cloud.ErrConflict)
	}
	return explained(err)
}

// newKey is a private key of WireGuard, as wg genkey writes it.
func newKey() (string, error) {
	key := make([]byte, 32)
	if _, err := rand.Read(key); err != nil {
		return "", fmt.Errorf("making a key: %w", err)
	}
	key[0] &= 248
	key[31] = key[31]&127 | 64
	return base64.StdEncoding.EncodeToString(key), nil
}

// PublicKey derives the public key of a gateway from its Secret; empty where there is no
// such Secret yet, or not that key in it. The error wraps cloud.ErrNoKey where what is in
// it is no key, and cloud.ErrForbidden where it may not be read.
func (d *Driver) PublicKey(ctx context.Context, namespace string, ref vpn.SecretRef) (string, error) {
	data, _, err := d.open(ctx, namespace, ref.Name)
	if apierrors.IsForbidden(err) {
		return "", forbidden{err}
	}
	if err != nil || data[ref.Key] == "" {
		return "", err
	}
	public, err := publicKey(data[ref.Key])
	if err != nil {
		return "", fmt.Errorf("secret %s/%s, key %s: %w", namespace, ref.Name, ref.Key, err)
	}
	return public, nil
}

func publicKey(data string) (string, error) {
	text, err := base64.StdEncoding.DecodeString(data)
	if err != nil {
		return "", cloud.ErrNoKey
	}
	private, err := base64.StdEncoding.DecodeString(strings.TrimSpace(string(text)))
	if err != nil {
		return "", cloud.ErrNoKey
	}
	key, err := ecdh.X25519().NewPrivateKey(private)
	if err != nil || [32]byte(private) == [32]byte{} { // which stands for no key
		return "", cloud.ErrNoKey
	}
	return base64.StdEncoding.EncodeToString(key.PublicKey().Bytes()), nil
}

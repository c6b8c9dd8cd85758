package kube

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"

	"github.com/vpnctl/vpnctl/cloud"
	ipsecv1alpha1 "github.com/vpnctl/vpnctl/crds/ipsec/v1alpha1"
	vpnv1alpha1 "github.com/vpnctl/vpnctl/crds/vpn/v1alpha1"
	"github.com/vpnctl/vpnctl/state"
)

// finalizers are those by which vpnctl keeps a manifest until its cloud side is gone. A
// peer has none: it goes with its gateway's next change.
var finalizers = map[string]string{
	vpnv1alpha1.KindVPNGateway:     vpnv1alpha1.Finalizer,
	ipsecv1alpha1.KindIPsecGateway: ipsecv1alpha1.Finalizer,
	ipsecv1alpha1.KindClusterLink:  ipsecv1alpha1.LinkFinalizer,
}

// Manifests lists every gateway, peer and link in the cluster, the oldest first.
func (d *Driver) Manifests(ctx context.Context) ([]cloud.Manifest, error) {
	var all []cloud.Manifest
	for _, k := range kinds {
		if !k.manifest {
			continue
		}
		some, err := d.manifestsOf(ctx, k)
		if err != nil {
			return nil, err
		}
		all = append(all, some...)
	}
	slices.SortFunc(all, func(a, b cloud.Manifest) int {
		if c := a.Created.Compare(b.Created); c != 0 {
			return c
		}
		return strings.Compare(a.Kind+"/"+a.Namespace+"/"+a.Name, b.Kind+"/"+b.Namespace+"/"+b.Name)
	})
	return all, nil
}

func (d *Driver) manifestsOf(ctx context.Context, k kind) ([]cloud.Manifest, error) {
	var all []cloud.Manifest
	var unreadable error
	err := d.eachOf(ctx, k, "", reading[unstructured.Unstructured]{
		take: func(u *unstructured.Unstructured) {
			m, err := manifest(k, u)
			if err != nil {
				unreadable = err
			}
			all = append(all, m)
		},
		anew: func() { all = nil },
	})
	if err == nil {
		err = unreadable
	}
	return all, err
}

func manifest(k kind, u *unstructured.Unstructured) (cloud.Manifest, error) {
	m := cloud.Manifest{
		Kind: k.name, Namespace: u.GetNamespace(), Name: u.GetName(), UID: string(u.GetUID()), Version: u.GetResourceVersion(),
		Generation: u.GetGeneration(), Created: u.GetCreationTimestamp().Time, Deleting: u.GetDeletionTimestamp() != nil,
		Held: held(k, u), Estate: u.GetLabels()[state.LabelEstate],
	}
	written := bare(u.Object)
	written["apiVersion"], written["kind"] = k.apiVersion(), k.name // lists leave them out
	var err error
	if m.JSON, err = json.Marshal(written); err != nil {
		return m, fmt.Errorf("%s %s/%s: %w", m.Kind, m.Namespace, m.Name, err)
	}
	if status, there := u.Object["status"]; there {
		if m.Status, err = json.Marshal(status); err != nil {
			return m, fmt.Errorf("%s %s/%s: %w", m.Kind, m.Namespace, m.Name, err)
		}
	}
	return m, nil
}

// Hold keeps a manifest in the cluster, once it is deleted, until Release.
func (d *Driver) Hold(ctx context.Context, m cloud.Manifest) error {
	return d.finalize(ctx, m, func(list []string) []string {
		if slices.Contains(list, finalizers[m.Kind]) {
			return list
		}
		return append(list, finalizers[m.Kind])
	})
}

// Release lets a manifest go. One that is gone already is no error.
func (d *Driver) Release(ctx context.Context, m cloud.Manifest) error {
	return d.finalize(ctx, m, func(list []string) []string {
		return slices.DeleteFunc(list, func(f string) bool { return f == finalizers[m.Kind] })
	})
}

// finalize changes the finalizers of a manifest, never those of one that came in its
// place or of one that has others by now. The error of one that others write to all the
// time wraps cloud.ErrConflict, that of one which the API server refuses as a whole
// cloud.ErrRejected.
func (d *Driver) finalize(ctx context.Context, m cloud.Manifest, edit func([]string) []string) error {
	k, known := kindOf(m.Kind)
	if !known || finalizers[m.Kind] == "" {
		return fmt.Errorf("a %s is not kept by a finalizer", m.Kind)
	}
	for range attempts {
		have, err := d.objects(k, m.Namespace).Get(ctx, m.Name, metav1.GetOptions{})
		if apierrors.IsNotFound(err) || err == nil && string(have.GetUID()) != m.UID {
			return nil
		}
		if err != nil {
			return err
		}
		before := have.GetFinalizers()
		after := edit(slices.Clone(before))
		if slices.Equal(before, after) {
			return nil
		}
		err = d.setFinalizers(ctx, k, have, after)
		switch other := explained(err); {
		case errors.Is(other, cloud.ErrConflict):
			continue // it was changed, or another one came: look again
		case errors.Is(other, cloud.ErrRejected):
			return other
		}
		return ignoreGone(err)
	}
	return errBusy
}

func (d *Driver) setFinalizers(ctx context.Context, k kind, have *unstructured.Unstructured, list []string) error {
	patch, err := json.Marshal(map[string]any{"metadata": map[string]any{
		"finalizers": list, "uid": string(have.GetUID()), "resourceVersion": have.GetResourceVersion(),
	}})
	if err != nil {
		return err
	}
	_, err = d.objects(k, have.GetNamespace()).Patch(ctx, have.GetName(), types.MergePatchType, patch, metav1.PatchOptions{FieldManager: Manager})
	return err
}

func ignoreGone(err error) error {
	if apierrors.IsNotFound(err) {
		return nil
	}
	return err
}

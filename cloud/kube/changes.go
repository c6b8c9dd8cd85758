package kube

import (
	"context"
	"crypto/sha256"
	"fmt"
	"sync"

	"github.com/go-logr/logr"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/tools/cache"
	"k8s.io/klog/v2"

	"github.com/vpnctl/vpnctl/cloud/kube/prints"
	"github.com/vpnctl/vpnctl/state"
)

// Named tells whether gateways use a Secret.
type Named func(namespace, name string) bool

// Watching is what Changes asks, and whom it tells besides.
type Watching struct {
	Named Named
	// Denied is told that the account may not watch a resource, or list it for that, each
	// time that it is tried; and once it may, with no error. Nil: nobody is.
	Denied func(resource string, err error)
}

// Changes tells that something may have changed which a plan of an estate depends on:
// manifests (of their status only what others than vpnctl write), objects that are ours, whether pods are available, nodes
// (Ready, cordoned, which there are), and the Secrets that are named. However much
// changes until it is received is told once. It begins with what stands, survives
// restarts of the API server, and is closed once ctx is done.
//
// Of most kinds the metadata alone are watched, and of every object a fingerprint is kept.
func (d *Driver) Changes(ctx context.Context, estate string, w Watching) <-chan struct{} {
	told := make(chan struct{}, 1)
	var wait sync.WaitGroup
	tell := func() {
		select {
		case told <- struct{}{}:
		default:
		}
	}
	keep := func(r schema.GroupVersionResource, whole bool, selector string, f cache.ReflectorStore) {
		lw, kind := d.source(r, whole, selector, w.hearing(ctx, r))
		quiet := klog.Logger(logr.Discard())
		reflector := cache.NewReflectorWithOptions(lw, kind, f, cache.ReflectorOptions{Name: r.String(), TypeDescription: r.String(), Logger: &quiet})
		wait.Go(func() { reflector.RunWithContext(klog.NewContext(ctx, quiet)) })
	}
	follow := func(r schema.GroupVersionResource, whole bool, selector string, read func(metav1.Object) string) {
		keep(r, whole, selector, prints.New(read, tell))
	}
	ours := state.LabelManagedBy + "=vpnctl," + state.LabelEstate + "=" + estate
	for _, k := range kinds {
		switch {
		case k.manifest:
			follow(k.resource, false, "", ofManifest)
		case k.secret:
			marked := func(o metav1.Object) bool { return o.GetLabels()[state.LabelEstate] == estate }
			keep(k.resource, false, "", prints.OfSecrets(marked, w.Named, tell))
		case k.name == kindDeployment:
			follow(k.resource, true, ours, ofDeployment)
		default:
			follow(k.resource, false, ours, metav1.Object.GetResourceVersion)
		}
	}
	follow(nodes, true, "", ofNode)
	go func() {
		wait.Wait()
		close(told)
	}()
	return told
}

// hearing tells whether calls for a resource are forbidden.
func (w Watching) hearing(ctx context.Context, r schema.GroupVersionResource) func(error) {
	return func(err error) {
		switch {
		case w.Denied == nil || ctx.Err() != nil:
		case err == nil:
			w.Denied(r.GroupResource().String(), nil)
		case apierrors.IsForbidden(err):
			w.Denied(r.GroupResource().String(), err)
		}
	}
}

// source lists and watches a resource, as a whole or its metadata. What becomes of a
// watch is heard, and of a list that fails: one that may be listed but not watched is
// denied.
func (d *Driver) source(r schema.GroupVersionResource, whole bool, selector string, heard func(error)) (cache.ListerWatcher, runtime.Object) {
	with := func(o metav1.ListOptions) metav1.ListOptions {
		o.LabelSelector = selector
		return o
	}
	if whole {
		return &cache.ListWatch{
			ListWithContextFunc: func(ctx context.Context, o metav1.ListOptions) (runtime.Object, error) {
				l, err := d.api.Resource(r).List(ctx, with(o))
				if err != nil {
					heard(err)
				}
				return l, err
			},
			WatchFuncWithContext: func(ctx context.Context, o metav1.ListOptions) (watch.Interface, error) {
				s, err := d.api.Resource(r).Watch(ctx, with(o))
				heard(err)
				return s, err
			},
		}, &unstructured.Unstructured{}
	}
	return &cache.ListWatch{
		ListWithContextFunc: func(ctx context.Context, o metav1.ListOptions) (runtime.Object, error) {
			l, err := d.meta.Resource(r).List(ctx, with(o))
			if err != nil {
				heard(err)
			}
			return l, err
		},
		WatchFuncWithContext: func(ctx context.Context, o metav1.ListOptions) (watch.Interface, error) {
			s, err := d.meta.Resource(r).Watch(ctx, with(o))
			heard(err)
			return s, err
		},
	}, &metav1.PartialObjectMetadata{}
}

// ofObject changes with what people write and with its deletion, not with its status.
func ofObject(o metav1.Object) string {
	return fmt.Sprint(o.GetUID(), o.GetGeneration(), o.GetDeletionTimestamp() != nil, o.GetLabels(), o.GetAnnotations(), o.GetFinalizers())
}

// ofManifest is ofObject, and changes also with what other hands write into its status.
func ofManifest(o metav1.Object) string { return ofObject(o) + hands(o) }

// reporter is the field manager of the gateways' pods.
const reporter = "vpnctl-agent"

// hands is a digest of who has written which fields of a status. What somebody changes in
// a field of ours is ours no more, so of our own entry the fields count and not the time:
// writes that only change values aren't told of, and after what was put right one more
// look is taken, which finds nothing. Pods write all the time, and nothing of ours.
func hands(o metav1.Object) string {
	sum := sha256.New()
	for _, e := range o.GetManagedFields() {
		if e.Subresource != "status" || e.FieldsV1 == nil || e.Manager == reporter {
			continue
		}
		when := ""
		if e.Manager != Manager && e.Time != nil {
			when = e.Time.String()
		}
		fmt.Fprintf(sum, "%s %s %s\n", e.Manager, when, e.FieldsV1.GetRawBytes())
	}
	return string(sum.Sum(nil)[:16])
}

// ofDeployment changes with what it asks for and with whether its pod is available.
func ofDeployment(o metav1.Object) string {
	u, _ := o.(*unstructured.Unstructured)
	var d appsv1.Deployment
	if u == nil || runtime.DefaultUnstructuredConverter.FromUnstructured(u.Object, &d) != nil {
		return o.GetResourceVersion()
	}
	return fmt.Sprint(ofObject(o), d.OwnerReferences, rollout(u))
}

// ofNode changes with whether gateways can be there.
func ofNode(o metav1.Object) string {
	u, _ := o.(*unstructured.Unstructured)
	var n corev1.Node
	if u == nil || runtime.DefaultUnstructuredConverter.FromUnstructured(u.Object, &n) != nil {
		return o.GetResourceVersion()
	}
	return fmt.Sprint(n.UID, nodeFact(&n))
}

package fakeapi

import (
	"fmt"
	"strconv"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/labels"
)

// filter tells which objects a list or watch is about.
func (q *request) filter() (func(*unstructured.Unstructured) bool, error) {
	byLabel, err := labels.Parse(q.URL.Query().Get("labelSelector"))
	if err != nil {
		return nil, apierrors.NewBadRequest(err.Error())
	}
	byField, err := fields.ParseSelector(q.URL.Query().Get("fieldSelector"))
	if err != nil {
		return nil, apierrors.NewBadRequest(err.Error())
	}
	return func(u *unstructured.Unstructured) bool {
		return (q.call.Namespace == "" || u.GetNamespace() == q.call.Namespace) && byLabel.Matches(labels.Set(u.GetLabels())) &&
			byField.Matches(fields.Set{"metadata.name": u.GetName(), "metadata.namespace": u.GetNamespace()})
	}, nil
}

// list answers a page of a list. Pages that follow are of the same moment.
func (s *Server) list(q *request) (any, error) {
	matches, err := q.filter()
	if err != nil {
		return nil, err
	}
	left := []*unstructured.Unstructured{}
	if token := q.URL.Query().Get("continue"); token != "" {
		held, known := s.store.pages[token]
		if !known {
			return nil, apierrors.NewResourceExpired("the provided continue parameter is too old to display a consistent list result")
		}
		left = held
	} else {
		for _, u := range s.store.list(q.kind, q.call.Namespace) {
			if matches(u) {
				left = append(left, u)
			}
		}
	}
	meta := map[string]any{"resourceVersion": strconv.FormatInt(s.store.version, 10)}
	limit, _ := strconv.Atoi(q.URL.Query().Get("limit"))
	if limit > 0 && len(left) > limit {
		token := fmt.Sprintf("page-%d-%d", s.store.version, len(s.store.pages))
		s.store.pages[token] = left[limit:]
		left, meta["continue"] = left[:limit], token
	}
	items := make([]any, 0, len(left))
	for _, u := range left {
		if q.call.Metadata {
			items = append(items, partial(u))
		} else {
			items = append(items, u.Object)
		}
	}
	if q.call.Metadata {
		return map[string]any{"apiVersion": "meta.k8s.io/v1", "kind": "PartialObjectMetadataList", "metadata": meta, "items": items}, nil
	}
	return map[string]any{"apiVersion": q.kind.gvk.GroupVersion().String(), "kind": q.kind.gvk.Kind + "List", "metadata": meta, "items": items}, nil
}

// partial is an object's metadata alone.
func partial(u *unstructured.Unstructured) map[string]any {
	return map[string]any{"apiVersion": "meta.k8s.io/v1", "kind": "PartialObjectMetadata", "metadata": u.Object["metadata"]}
}

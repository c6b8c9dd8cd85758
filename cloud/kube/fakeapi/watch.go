package fakeapi

import (
	"encoding/json"
	"net/http"
	"strconv"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// watch streams what happens after a resourceVersion; without one, or on request, what
// stands comes first.
func (s *Server) watch(w http.ResponseWriter, q *request) {
	matches, err := q.filter()
	if err != nil {
		refuse(w, err)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(http.StatusOK)
	f := &feed{server: s, request: q, matches: matches, to: json.NewEncoder(w), flush: w.(http.Flusher).Flush}
	f.flush()
	stop := make(chan struct{})
	defer close(stop)
	go func() {
		var late <-chan time.Time
		if n, _ := strconv.Atoi(q.URL.Query().Get("timeoutSeconds")); n > 0 {
			late = time.After(time.Duration(n) * time.Second)
		}
		select {
		case <-q.Context().Done():
		case <-late:
		case <-s.quit:
		case <-stop:
			return
		}
		s.mu.Lock()
		f.ended = true
		s.wake.Broadcast()
		s.mu.Unlock()
	}()
	f.run()
}

// feed is one watch.
type feed struct {
	server  *Server
	request *request
	matches func(*unstructured.Unstructured) bool
	to      *json.Encoder
	flush   func()
	at      int64 // what was sent up to
	ended   bool
}

func (f *feed) run() {
	s, query := f.server, f.request.URL.Query()
	from, err := strconv.ParseInt(query.Get("resourceVersion"), 10, 64)
	s.mu.Lock()
	f.at = from
	standing := err != nil || from == 0 || query.Get("sendInitialEvents") == "true"
	var first []*unstructured.Unstructured
	if standing {
		f.at, first = s.store.version, s.store.list(f.request.kind, f.request.call.Namespace)
	}
	s.mu.Unlock()
	for _, u := range first {
		if f.matches(u) && f.send("ADDED", u) != nil {
			return
		}
	}
	if query.Get("sendInitialEvents") == "true" && f.bookmark() != nil {
		return
	}
	for {
		next, old, ended := f.next()
		switch {
		case ended:
			return
		case old:
			status := apierrors.NewResourceExpired("too old resource version").Status()
			status.APIVersion, status.Kind = "v1", "Status"
			_ = f.to.Encode(map[string]any{"type": "ERROR", "object": status})
			return
		}
		for _, e := range next {
			if f.tell(e) != nil {
				return
			}
		}
	}
}

// next waits for what happens next.
func (f *feed) next() (news []event, old, ended bool) {
	s := f.server
	s.mu.Lock()
	defer s.mu.Unlock()
	for {
		if f.ended {
			return nil, false, true
		}
		if f.at < s.store.oldest {
			return nil, true, false
		}
		for _, e := range s.store.events {
			if e.version > f.at && e.of == f.request.kind.gvr() {
				news = append(news, e)
			}
		}
		if f.at = s.store.version; len(news) > 0 {
			return news, false, false
		}
		s.wake.Wait()
	}
}

// tell sends an event as this watch sees it: what comes to match is added, what no
// longer does is deleted.
func (f *feed) tell(e event) error {
	was, is := e.before != nil && f.matches(e.before), e.kind != "DELETED" && f.matches(e.object)
	switch {
	case was && is:
		return f.send("MODIFIED", e.object)
	case is:
		return f.send("ADDED", e.object)
	case was:
		return f.send("DELETED", e.object)
	}
	return nil
}

func (f *feed) send(kind string, u *unstructured.Unstructured) error {
	var object any = u.Object
	if f.request.call.Metadata {
		object = partial(u)
	}
	err := f.to.Encode(map[string]any{"type": kind, "object": object})
	f.flush()
	return err
}

// bookmark ends what stood there at first.
func (f *feed) bookmark() error {
	u := &unstructured.Unstructured{Object: map[string]any{}}
	u.SetGroupVersionKind(f.request.kind.gvk)
	u.SetResourceVersion(strconv.FormatInt(f.at, 10))
	u.SetAnnotations(map[string]string{"k8s.io/initial-events-end": "true"})
	return f.send("BOOKMARK", u)
}

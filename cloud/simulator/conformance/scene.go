package conformance

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// A scene is what one behaviour is shown in: the users, what the cloud holds,
// and verbs that clean up after themselves.
type scene struct {
	*testing.T
	stage
}

// A stage is what all scenes of a run share.
type stage struct {
	cloud                     Cloud
	operator, admin, customer *client

	network, subnet, pool, router string // IDs
	cidr                          string
	nodes                         []string // IDs
}

const missing = "00000000-0000-4000-8000-000000000000" // an ID that nothing has

func (s *scene) do(k *client, method, service, path string, body any, headers ...string) answer {
	s.Helper()
	a, err := k.call(method, service, path, body, headers...)
	if err != nil {
		s.Fatalf("%s %s: %v", method, path, err)
	}
	return a
}

func (s *scene) get(k *client, path string, headers ...string) answer {
	s.Helper()
	return s.do(k, "GET", "network", path, nil, headers...)
}

func (s *scene) put(k *client, path string, body any, headers ...string) answer {
	s.Helper()
	return s.do(k, "PUT", "network", path, body, headers...)
}

func (s *scene) delete(k *client, path string, headers ...string) answer {
	s.Helper()
	return s.do(k, "DELETE", "network", path, nil, headers...)
}

// try creates an object; what was made is deleted at the end of the scene.
func (s *scene) try(k *client, collection string, attributes object) answer {
	s.Helper()
	a := s.do(k, "POST", "network", "/"+collection, object{singular(collection): attributes})
	if a.status == http.StatusCreated {
		s.remove(k, collection, a.body().object(singular(collection)).id())
	}
	return a
}

// make is try of what must succeed.
func (s *scene) make(k *client, collection string, attributes object) object {
	s.Helper()
	a := s.try(k, collection, attributes)
	s.expect(a, http.StatusCreated, "")
	return a.body().object(singular(collection))
}

// remove deletes at the end of the scene, waiting for what still uses the object.
func (s *scene) remove(k *client, collection, id string) {
	s.Cleanup(func() {
		var a answer
		for range 20 {
			a = s.delete(k, "/"+collection+"/"+id)
			if a.status == http.StatusNoContent || a.status == http.StatusNotFound {
				return
			}
			time.Sleep(200 * time.Millisecond)
		}
		s.Errorf("left behind: %s", a)
	})
}

// read is the object as it is now.
func (s *scene) read(k *client, collection, id string) object {
	s.Helper()
	a := s.get(k, "/"+collection+"/"+id)
	s.expect(a, http.StatusOK, "")
	return a.body().object(singular(collection))
}

// update is a PUT of some attributes.
func (s *scene) update(k *client, collection, id string, attributes object, headers ...string) answer {
	s.Helper()
	return s.put(k, "/"+collection+"/"+id, object{singular(collection): attributes}, headers...)
}

// list is the objects that a query finds.
func (s *scene) list(k *client, collection, query string) []object {
	s.Helper()
	a := s.get(k, "/"+collection+"?"+query)
	s.expect(a, http.StatusOK, "")
	return a.body().list(strings.ReplaceAll(collection, "-", "_"))
}

// ids is list's IDs, sorted.
func (s *scene) ids(k *client, collection, query string) []string {
	s.Helper()
	ids := []string{}
	for _, o := range s.list(k, collection, query) {
		ids = append(ids, o.id())
	}
	slices.Sort(ids)
	return ids
}

// expect fails the scene unless the answer has this status and, where one is
// named, Neutron's type of error.
func (s *scene) expect(a answer, status int, errorType string) {
	s.Helper()
	if a.status != status {
		s.Fatalf("want %d %s, got %s", status, errorType, a)
	}
	if errorType != "" && a.errorType() != errorType {
		s.Fatalf("want type %s, got %s", errorType, a)
	}
}

func (s *scene) same(what string, want, got any) {
	s.Helper()
	if diff := cmp.Diff(want, got); diff != "" {
		s.Fatalf("%s (-want +got):\n%s", what, diff)
	}
}

// until waits for what the services do in their own time.
func (s *scene) until(what string, done func() bool) {
	s.Helper()
	for end := time.Now().Add(30 * time.Second); !done(); time.Sleep(50 * time.Millisecond) {
		if time.Now().After(end) {
			s.Fatalf("not within 30 s: %s", what)
		}
	}
}

// together makes n calls at once; their answers come in no order that matters.
func together(n int, call func(i int) answer) []answer {
	answers := make([]answer, n)
	var all sync.WaitGroup
	for i := range n {
		all.Go(func() { answers[i] = call(i) })
	}
	all.Wait()
	return answers
}

func statuses(answers []answer) []int {
	var list []int
	for _, a := range answers {
		list = append(list, a.status)
	}
	slices.Sort(list)
	return list
}

// name is one that nothing else has, so that filters by it are exact.
func (s *scene) name() string { return fmt.Sprintf("conformance-%x", time.Now().UnixNano()) }

func singular(collection string) string {
	word := strings.ReplaceAll(collection, "-", "_")
	if stem, ok := strings.CutSuffix(word, "ies"); ok {
		return stem + "y"
	}
	return strings.TrimSuffix(word, "s")
}

func sorted(list ...string) []string {
	slices.Sort(list)
	return list
}

func ifMatch(revision int) []string {
	return []string{"If-Match", fmt.Sprintf("revision_number=%d", revision)}
}

package fakeapi

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strconv"
)

// stored is one custom resource.
type stored struct{ object map[string]any }

// SetSecret makes or replaces a Secret.
func (s *Server) SetSecret(namespace, name string, data map[string][]byte) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.secrets[namespace+"/"+name] = maps.Clone(data)
}

// DeleteSecret removes a Secret.
func (s *Server) DeleteSecret(namespace, name string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.secrets, namespace+"/"+name)
}

// SetObject makes or replaces a custom resource. The object is any value whose JSON
// has apiVersion and kind; resource is its plural name.
func (s *Server) SetObject(resource, namespace, name string, object any) error {
	data, err := json.Marshal(object)
	if err != nil {
		return err
	}
	o, err := decode(data)
	if err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	o["metadata"] = map[string]any{"name": name, "namespace": namespace}
	s.stamp(o)
	s.objects[resource+"/"+namespace+"/"+name] = &stored{o}
	return nil
}

// DeleteObject removes a custom resource.
func (s *Server) DeleteObject(resource, namespace, name string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.objects, resource+"/"+namespace+"/"+name)
}

// Object returns a custom resource as JSON, nil where there is none.
func (s *Server) Object(resource, namespace, name string) []byte {
	s.mu.Lock()
	defer s.mu.Unlock()
	o := s.objects[resource+"/"+namespace+"/"+name]
	if o == nil {
		return nil
	}
	return encode(o.object)
}

// Admit sets what every change of an object must pass, as admission does.
func (s *Server) Admit(check func(old, object map[string]any) error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.admit = check
}

// stamp gives the object a new resourceVersion.
func (s *Server) stamp(object map[string]any) {
	s.version++
	object["metadata"].(map[string]any)["resourceVersion"] = strconv.Itoa(s.version)
}

// patchStatus merges a patch into the status alone, as the subresource does. A patch
// that changes nothing is no new version.
func (s *Server) patchStatus(o *stored, patch []byte) error {
	change, err := decode(patch)
	if err != nil {
		return err
	}
	next := maps.Clone(o.object)
	if status := merge(o.object["status"], change["status"]); status == nil {
		delete(next, "status")
	} else {
		next["status"] = status
	}
	if err := unique(next["status"]); err != nil {
		return err
	}
	if s.admit != nil {
		if err := s.admit(o.object, next); err != nil {
			return err
		}
	}
	if !bytes.Equal(encode(o.object), encode(next)) {
		next["metadata"] = maps.Clone(next["metadata"].(map[string]any))
		s.stamp(next)
		o.object = next
	}
	return nil
}

// merge is a JSON merge patch (RFC 7386) that leaves its arguments as they are.
func merge(old, patch any) any {
	change, ok := patch.(map[string]any)
	if !ok {
		return patch
	}
	before, _ := old.(map[string]any)
	result := map[string]any{}
	maps.Copy(result, before)
	for k, v := range change {
		if v == nil {
			delete(result, k)
			continue
		}
		result[k] = merge(result[k], v)
	}
	return result
}

// unique holds lists of named entries to one entry a name, as list maps are.
func unique(status any) error {
	fields, _ := status.(map[string]any)
	for _, field := range slices.Sorted(maps.Keys(fields)) {
		list, _ := fields[field].([]any)
		seen := map[any]bool{}
		for i, e := range list {
			entry, _ := e.(map[string]any)
			name := entry["name"]
			if name != nil && seen[name] {
				return fmt.Errorf("status.%s[%d]: Duplicate value: %v", field, i, name)
			}
			seen[name] = true
		}
	}
	return nil
}

// decode keeps numbers as they are written.
func decode(data []byte) (map[string]any, error) {
	d := json.NewDecoder(bytes.NewReader(data))
	d.UseNumber()
	var object map[string]any
	err := d.Decode(&object)
	return object, err
}

func encode(v any) []byte {
	data, _ := json.Marshal(v) // was JSON before
	return data
}

package render

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"

	"github.com/vpnctl/vpnctl/plan/resource"
	"github.com/vpnctl/vpnctl/plan/vpn"
	"github.com/vpnctl/vpnctl/render/yaml"
)

// manifests are the gateway's and its peers' own manifests as objects: the agent
// writes to their status. They get our labels and annotations beside
// their own.
func (r *rendering) manifests(labels, notes map[string]string) ([]resource.Object, error) {
	var objects []resource.Object
	for _, m := range r.in.Gateway.Manifests {
		text, err := written(m, labels, notes)
		if err != nil {
			return nil, fmt.Errorf("writing %s %s: %w", m.Kind, m.Name, err)
		}
		objects = append(objects, r.object(m.APIVersion, m.Kind, m.Name, text))
	}
	return objects, nil
}

// written is a manifest as it stands in the tree.
func written(m vpn.Manifest, labels, notes map[string]string) (string, error) {
	var object map[string]json.RawMessage
	if err := json.Unmarshal([]byte(m.JSON), &object); err != nil {
		return "", err
	}
	var meta map[string]json.RawMessage
	if raw := object["metadata"]; raw != nil {
		if err := json.Unmarshal(raw, &meta); err != nil {
			return "", err
		}
	}
	if meta == nil {
		return "", errors.New("it has no metadata")
	}
	for field, ours := range map[string]map[string]string{"labels": labels, "annotations": notes} {
		all := map[string]string{}
		if raw := meta[field]; raw != nil {
			if err := json.Unmarshal(raw, &all); err != nil {
				return "", err
			}
		}
		if all == nil { // null
			all = map[string]string{}
		}
		maps.Copy(all, ours)
		meta[field], _ = json.Marshal(all)
	}
	if m.Namespace != "" {
		meta["namespace"], _ = json.Marshal(m.Namespace)
	}
	object["metadata"], _ = json.Marshal(meta)
	data, err := json.Marshal(object)
	if err != nil {
		return "", err
	}
	return yaml.FromJSON(m.APIVersion, m.Kind, data)
}

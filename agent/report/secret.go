package report

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"

	"github.com/vpnctl/vpnctl/plan/vpn"
)

// Secret asks the API for one Secret of the pod's namespace. Calls are spread: one
// that comes too soon after another waits its turn.
func (c *Cluster) Secret(ctx context.Context, ref vpn.SecretRef) ([]byte, bool, error) {
	if err := c.secrets.wait(ctx); err != nil {
		return nil, false, err
	}
	name := c.api.namespace + "/" + ref.Name
	body, err := c.api.do(ctx, http.MethodGet, "/api/v1/namespaces/"+c.api.namespace+"/secrets/"+url.PathEscape(ref.Name), nil)
	if code(err) == http.StatusNotFound {
		return nil, false, nil
	}
	if err != nil {
		return nil, false, fmt.Errorf("reading Secret %s: %w", name, c.api.explain(err, "get", "secrets", ref.Name))
	}
	var secret struct {
		Kind string
		Data map[string][]byte
	}
	if json.Unmarshal(body, &secret) != nil || secret.Kind != "Secret" { // what the decoder would say may quote the value
		return nil, false, fmt.Errorf("reading Secret %s: %w", name, errNotSecret)
	}
	data, found := secret.Data[ref.Key]
	return data, found, nil
}

var errNotSecret = errors.New("the answer isn't a Secret")

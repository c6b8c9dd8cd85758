package render

import (
	"fmt"

	"github.com/vpnctl/vpnctl/plan/resource"
)

// maxConfigMap is how many bytes the values of a ConfigMap may have together: an API
// server refuses more.
const maxConfigMap = 1 << 20

// checkSizes refuses a gateway whose ConfigMaps no cluster would take. The objects are
// as they will be written, patches included.
func (r *rendering) checkSizes(objects []resource.Object) {
	for _, o := range objects {
		if o.Kind != "ConfigMap" || len(o.Content) <= maxConfigMap { // no value is longer than its YAML
			continue
		}
		size := 0
		for _, value := range decode(o.Content).Data {
			size += len(value)
		}
		if size > maxConfigMap {
			r.refuse(fmt.Errorf("ConfigMap %s has %d bytes, and a cluster takes %d at most", o.Name, size, maxConfigMap), "split the gateway: fewer peers, exposures and grants in one")
		}
	}
}

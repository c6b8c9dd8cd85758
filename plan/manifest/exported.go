package manifest

import (
	"encoding/json"
	"path/filepath"
	"regexp"
	"strings"

	ipsecv1alpha1 "github.com/vpnctl/vpnctl/crds/ipsec/v1alpha1"
	vpnv1alpha1 "github.com/vpnctl/vpnctl/crds/vpn/v1alpha1"
	"github.com/vpnctl/vpnctl/plan/alloc"
	"github.com/vpnctl/vpnctl/plan/manifest/decode"
	"github.com/vpnctl/vpnctl/plan/vpn"
)

// uid is what Kubernetes gives objects, and what an operator's tags end with.
var uid = regexp.MustCompile(`^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$`)

// Exported reads gateways as a cluster holds them, with their UIDs and statuses: what
// kubectl get -o yaml prints, of one kind or of several, as a List or as documents. Other
// objects are passed over. Specs are not looked at: they count as they are written in the
// manifests of the estate.
func Exported(name string, data []byte) ([]alloc.Operated, Diagnostics) {
	r := &reading{decoder: new(decode.Decoder)}
	name = filepath.Clean(name)
	var all []alloc.Operated
	owners, uids := map[vpn.Owner]Position{}, map[string]Position{}
	for _, o := range r.documents(file{name: name, data: data}) {
		if o.kind != vpnv1alpha1.KindVPNGateway && o.kind != ipsecv1alpha1.KindIPsecGateway {
			continue
		}
		c := check{o, &r.found}
		g, ok := c.exported()
		if !ok {
			continue
		}
		at := o.position("metadata.uid")
		if before, twice := owners[g.Owner]; twice {
			c.fail("", refuse("%s stands there twice", g.Owner), before)
			continue
		}
		if before, twice := uids[g.UID]; twice {
			c.fail("metadata.uid", refuse("two gateways have the UID %s", g.UID), before)
			continue
		}
		owners[g.Owner], uids[g.UID] = at, at
		all = append(all, g)
	}
	if len(all) == 0 && r.found.Errors() == 0 {
		r.failFile(name, refuse("holds no gateway").with("kubectl get ipsecgateways,vpngateways -A -o yaml"))
	}
	return all, r.found.sort()
}

// exported reads one gateway.
func (c check) exported() (alloc.Operated, bool) {
	const hint = "export it as the cluster holds it: kubectl get -o yaml"
	id := c.root.Get("metadata").Get("uid")
	switch {
	case id == nil || id.Kind != decode.String || id.Text == "":
		c.fail("metadata.uid", refuse("required, but missing").with(hint))
		return alloc.Operated{}, false
	case !uid.MatchString(id.Text):
		c.fail("metadata.uid", refuse("%.80q is no UID", id.Text).with(hint))
		return alloc.Operated{}, false
	}
	var s alloc.Status
	if v := c.root.Get("status"); v != nil {
		read, err := v.Any()
		var text []byte
		if err == nil {
			text, err = json.Marshal(read)
		}
		if err == nil {
			err = json.Unmarshal(text, &s)
		}
		if err != nil {
			c.fail("status", refuse("can't be read: %v", err))
			return alloc.Operated{}, false
		}
	}
	g := s.Operated(vpn.Owner{Kind: c.kind, Namespace: c.namespace, Name: c.name}, id.Text)
	if g.Problem != "" {
		field, why, _ := strings.Cut(g.Problem, ": ")
		c.fail(field, refuse("%s", why))
		return alloc.Operated{}, false
	}
	return g, true
}

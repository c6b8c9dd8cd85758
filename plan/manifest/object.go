package manifest

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	estatev1alpha1 "github.com/vpnctl/vpnctl/crds/estate/v1alpha1"
	ipsecv1alpha1 "github.com/vpnctl/vpnctl/crds/ipsec/v1alpha1"
	vpnv1alpha1 "github.com/vpnctl/vpnctl/crds/vpn/v1alpha1"
	"github.com/vpnctl/vpnctl/plan/manifest/decode"
)

// versions are the versions that our groups are read in, and kinds what they
// hold. Anything else in one of these groups is a mistake, never skipped.
var (
	versions = map[string]string{
		ipsecv1alpha1.Group:  ipsecv1alpha1.Version,
		vpnv1alpha1.Group:    vpnv1alpha1.Version,
		estatev1alpha1.Group: estatev1alpha1.Version,
	}
	kinds = map[string]string{ // kind to group
		ipsecv1alpha1.KindIPsecGateway: ipsecv1alpha1.Group,
		ipsecv1alpha1.KindClusterLink:  ipsecv1alpha1.Group,
		vpnv1alpha1.KindVPNGateway:     vpnv1alpha1.Group,
		vpnv1alpha1.KindVPNPeer:        vpnv1alpha1.Group,
		estatev1alpha1.KindEstate:      estatev1alpha1.Group,
	}
)

// defaultNamespace is where kubectl puts an object that names none.
const defaultNamespace = "default"

// objects turns one document into the objects that are ours. A List is opened;
// objects of other groups become notes.
func (r *reading) objects(f file, doc int, root *decode.Value) []*object {
	o := &object{file: f.name, document: doc, placeless: f.placeless, root: root, base: r.base(f.origin, root)}
	c := check{o, &r.found}
	if root.Kind != decode.Map {
		c.fail("", refuse("a manifest must be a mapping, not %s", root.Kind))
		return nil
	}
	if root.Get("apiVersion") == nil && root.Get("kind") == nil {
		c.fail("", refuse("no manifest: it has neither apiVersion nor kind").with("name the folder that holds the manifests alone"))
		r.lost = true
		return nil
	}
	if !c.header() {
		r.lost, r.broken = true, true
		return nil
	}
	if items, ok := list(o); ok {
		return r.items(c, f, doc, items)
	}
	group, version, _ := strings.Cut(o.apiVersion, "/")
	switch ours, why := c.known(group, version); {
	case why != nil:
		r.lost, r.broken = true, true
		return nil
	case !ours:
		at := o.position("")
		r.notes = append(r.notes, Diagnostic{
			File: at.File, Line: at.Line, Column: at.Column, Document: doc, Object: o.String(),
			Message: fmt.Sprintf("skipped: %s of %s is not a kind of vpnctl", o.kind, o.apiVersion), Severity: Note,
		})
		return nil
	}
	if !c.metadata() {
		r.lost, r.broken = true, true
		return nil
	}
	return []*object{o}
}

// header reads apiVersion and kind, which every object must have.
func (c check) header() bool {
	ok := true
	for _, f := range []struct {
		name string
		to   *string
	}{{"apiVersion", &c.apiVersion}, {"kind", &c.kind}} {
		switch v := c.root.Get(f.name); {
		case v == nil || v.Kind == decode.Null || v.Text == "" && v.Kind == decode.String:
			c.fail(f.name, c.headless())
			ok = false
		case v.Kind != decode.String:
			c.fail(f.name, refuse("must be a string, not %s", v.Kind))
			ok = false
		default:
			*f.to = v.Text
		}
	}
	return ok
}

// headless says that apiVersion or kind is missing, and what it should be.
func (c check) headless() *refusal {
	if v := c.root.Get("kind"); v != nil && kinds[v.Text] != "" {
		group := kinds[v.Text]
		return refuse("required, but missing").with("%s/%s", group, versions[group])
	}
	return refuse("required, but missing")
}

// list tells whether an object is a List of others, kubectl's or of one kind.
func list(o *object) (*decode.Value, bool) {
	single, ok := strings.CutSuffix(o.kind, "List")
	_, known := kinds[single]
	return o.root.Get("items"), ok && (single == "" && o.apiVersion == "v1" || known)
}

// items reads the objects of a List. Those of a typed one may leave out what
// its type says.
func (r *reading) items(c check, f file, doc int, items *decode.Value) []*object {
	if items == nil || items.Kind != decode.List {
		if items != nil && items.Kind != decode.Null {
			c.fail("items", refuse("must be a list, not %s", items.Kind))
		}
		return nil
	}
	var out []*object
	for _, item := range items.Items {
		if single := strings.TrimSuffix(c.kind, "List"); single != "" && item.Kind == decode.Map {
			item = typed(item, c.apiVersion, single)
		}
		out = append(out, r.objects(f, doc, item)...)
	}
	return out
}

// typed adds the apiVersion and kind that an item of a typed list leaves out.
func typed(item *decode.Value, apiVersion, kind string) *decode.Value {
	out := *item
	out.Fields = slices.Clone(item.Fields)
	for _, f := range [][2]string{{"apiVersion", apiVersion}, {"kind", kind}} {
		if out.Get(f[0]) == nil {
			text := &decode.Value{Kind: decode.String, Text: f[1], Line: item.Line, Column: item.Column}
			out.Fields = append(out.Fields, decode.Field{Name: f[0], Line: item.Line, Column: item.Column, Value: text})
		}
	}
	return &out
}

// known tells whether an object is of a kind that is read here. One that is
// merely close to it is a mistake that must not pass as somebody else's object.
func (c check) known(group, version string) (bool, *refusal) {
	want, ours := versions[group]
	var no *refusal
	switch home, kind := kinds[c.kind]; {
	case ours && version != want:
		no = refuse("version %s is not known in %s", quoted(version), group).with("%s/%s", group, want)
		c.fail("apiVersion", no)
	case ours && (!kind || home != group):
		no = refuse("%s is not known in %s", quoted(c.kind), c.apiVersion)
		if kind {
			no.with("%s is a kind of %s/%s", c.kind, home, versions[home])
		} else {
			no.did(c.kind, kindNames())
		}
		c.fail("kind", no)
	case !ours && kind:
		no = refuse("%s is not a group of vpnctl, but %s is a kind of one", quoted(group), c.kind).with("%s/%s", home, versions[home])
		c.fail("apiVersion", no)
	case !ours && nearGroup(group) != "":
		no = refuse("%s is not a group of vpnctl", quoted(group)).with("%s?", nearGroup(group))
		c.fail("apiVersion", no)
	}
	return ours, no
}

func kindNames() []string {
	var out []string
	for k := range kinds {
		out = append(out, k)
	}
	slices.Sort(out)
	return out
}

// nearGroup returns our group that a name is a slip away from.
func nearGroup(group string) string {
	if !strings.Contains(group, ".") {
		return ""
	}
	groups := []string{ipsecv1alpha1.Group, vpnv1alpha1.Group, estatev1alpha1.Group}
	near := decode.Nearest(group, groups)
	// Another team's group under the same domain is no slip.
	if _, domain, _ := strings.Cut(group, "."); domain == "bnerd.net" && decode.Nearest(strings.TrimSuffix(group, ".bnerd.net"), []string{"ipsec", "vpn", "vpnctl"}) == "" {
		return ""
	}
	return near
}

// metadata reads the name and the namespace.
func (c check) metadata() bool {
	meta := c.root.Get("metadata")
	if meta == nil || meta.Kind != decode.Map {
		c.fail("metadata", refuse("required, but missing"))
		return false
	}
	if !c.scalar(meta, "name", &c.name) || !c.scalar(meta, "namespace", &c.namespace) {
		return false
	}
	if c.name == "" {
		no := refuse("required, but missing")
		if meta.Get("generateName") != nil {
			no.with("a generated name would be another one each time")
		}
		c.fail("metadata.name", no)
		return false
	}
	c.scope()
	_, no := label(c.name)
	if no != nil {
		if plain := strings.ReplaceAll(c.name, ".", "-"); plain != c.name && patterns.label.MatchString(plain) {
			no.with("Kubernetes allows dots here, but the name becomes that of a connection: %s?", plain)
		}
		c.fail("metadata.name", no)
		return false
	}
	if _, no := label(cmp.Or(c.namespace, defaultNamespace)); no != nil {
		c.fail("metadata.namespace", no)
		return false
	}
	return true
}

// scalar reads one string of metadata.
func (c check) scalar(meta *decode.Value, name string, to *string) bool {
	v := meta.Get(name)
	if v == nil || v.Kind == decode.Null {
		return true
	}
	holder := struct {
		Text string `json:"text,omitempty"`
	}{}
	one := &decode.Value{Kind: decode.Map, Fields: []decode.Field{{Name: "text", Line: v.Line, Column: v.Column, Value: v}}}
	problems := new(decode.Decoder).Into(one, &holder)
	for i := range problems {
		problems[i].Field = "metadata." + name
	}
	c.unreadable(problems)
	*to = holder.Text
	return len(problems) == 0
}

// scope fills in the default namespace, or takes it away where there is none.
func (c check) scope() {
	switch {
	case c.kind == ipsecv1alpha1.KindClusterLink || c.kind == estatev1alpha1.KindEstate:
		if c.namespace != "" {
			c.warn("metadata.namespace", refuse("has no effect: a %s has no namespace", c.kind))
			c.namespace = ""
		}
	case c.namespace == "":
		c.namespace = defaultNamespace
	}
}

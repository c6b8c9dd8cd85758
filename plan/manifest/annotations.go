package manifest

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	ipsecv1alpha1 "github.com/vpnctl/vpnctl/crds/ipsec/v1alpha1"
	vpnv1alpha1 "github.com/vpnctl/vpnctl/crds/vpn/v1alpha1"
	"github.com/vpnctl/vpnctl/plan/manifest/decode"
	"github.com/vpnctl/vpnctl/plan/resource"
	"github.com/vpnctl/vpnctl/plan/vpn"
)

// annotatable are the annotations that are read, and on which kinds.
var annotatable = map[string][]string{
	ipsecv1alpha1.AnnotationAttested: {ipsecv1alpha1.KindClusterLink},
	ipsecv1alpha1.AnnotationAbandon:  {ipsecv1alpha1.KindClusterLink},
	ipsecv1alpha1.AnnotationLinks:    {vpnv1alpha1.KindVPNGateway, ipsecv1alpha1.KindIPsecGateway},
}

// annotations warns about those of an object that say something elsewhere, or would if
// they were written as they are read. Anybody's others are fine.
func (c check) annotations() {
	list := c.root.Find("metadata.annotations")
	if list == nil {
		return
	}
	for _, f := range list.Fields {
		kinds, known := annotatable[f.Name]
		switch {
		case known && !slices.Contains(kinds, c.kind):
			c.warn(annotation(f.Name), refuse("has no effect on a %s", c.kind).with("it belongs to a %s", strings.Join(kinds, " or ")))
		case !known && meantAnnotation(f.Name) != "":
			c.warn(annotation(f.Name), refuse("says nothing to vpnctl").with("%s?", meantAnnotation(f.Name)))
		}
	}
}

// meantAnnotation is the annotation that another one of our domain is a slip away from.
func meantAnnotation(name string) string {
	group, own, _ := strings.Cut(name, "/")
	if !strings.HasSuffix(group, ".bnerd.net") || name == resource.OwnerAnnotation { // which apply writes on each
		return ""
	}
	var names []string
	for known := range annotatable {
		names = append(names, strings.TrimPrefix(known, ipsecv1alpha1.Group+"/"))
	}
	slices.Sort(names)
	if near := decode.Nearest(own, names); near != "" {
		return ipsecv1alpha1.Group + "/" + near
	}
	return ""
}

// annotation is the field path of an annotation.
func annotation(name string) string { return fmt.Sprintf("metadata.annotations[%q]", name) }

// annotated reads a link's annotations. A link that nobody has attested may stand there:
// what it lacks is the other side's word, and a plan has a reason for that.
func (l *link) annotated() {
	attested, abandon := annotation(ipsecv1alpha1.AnnotationAttested), annotation(ipsecv1alpha1.AnnotationAbandon)
	_, err := l.model.Attested()
	switch {
	case l.foreign && err != nil:
		l.warn(attested, refuse("plan and apply refuse the link until this is mended: %v", err))
	case !l.foreign && !errors.Is(err, vpn.ErrNotAttested):
		l.warn(attested, refuse("has no effect: the link stays in our own project"))
	}
	switch text, there := l.model.Annotations[ipsecv1alpha1.AnnotationAbandon]; {
	case !there:
	case text != "true" && text != "false":
		l.fail(abandon, refuse("%s is neither \"true\" nor \"false\"", quoted(text)))
	case !l.foreign:
		l.warn(abandon, refuse("has no effect: the link stays in our own project"))
	}
}

// optIn reads which links into customers' projects may reach the gateway's reverse
// exposures.
func (g *gateway) optIn(annotations map[string]string) {
	text, there := annotations[ipsecv1alpha1.AnnotationLinks]
	if !there {
		return
	}
	field := annotation(ipsecv1alpha1.AnnotationLinks)
	for part := range strings.SplitSeq(text, ",") {
		name := strings.TrimSpace(part)
		switch {
		case strings.TrimSpace(text) == "":
			g.fail(field, refuse("names no ClusterLink").with("remove it, or list names separated by commas"))
		case !patterns.label.MatchString(name):
			g.fail(field, refuse("%s is no name of a ClusterLink", quoted(name)).with("a name is a DNS label, and commas separate names"))
		case slices.Contains(g.model.Links, name):
			g.warn(field, refuse("%s is given twice", quoted(name)))
		default:
			g.model.Links = append(g.model.Links, name)
		}
	}
	slices.Sort(g.model.Links)
}

// optIns holds the links that gateways name to those that there are.
func (r *relations) optIns() {
	links := map[string]*link{}
	for _, l := range r.links {
		links[l.name] = l
	}
	field := annotation(ipsecv1alpha1.AnnotationLinks)
	for _, g := range r.gateways {
		if len(g.model.Links) > 0 && !g.reverses() {
			g.warn(field, refuse("has no effect: the gateway has no reverse exposures, for which alone a ClusterLink gets a route back"))
		}
		for _, name := range g.model.Links {
			switch l := links[name]; {
			case l == nil && !r.reading.lost:
				g.warn(field, refuse("there is no ClusterLink %s", quoted(name)).did(name, r.linkNames(g.model.Links)))
			case l != nil && !l.foreign:
				at := l.position("")
				r.reading.remark(g.object, field, refuse("%s need not be named (%s): a link of our own project reaches every gateway with reverse exposures", l, at), at)
			}
		}
	}
}

// reverses tells whether the gateway has reverse exposures, or may have some that could
// not be read.
func (g *gateway) reverses() bool {
	return g.obscures("spec.reverseExposures") || slices.ContainsFunc(g.exposed, func(x exposure) bool { return x.reverse })
}

// remark tells something of an object that is as its author wants it.
func (r *reading) remark(o *object, field string, n *refusal, related ...Position) {
	check{o, &r.notes}.report(Note, field, n, related)
}

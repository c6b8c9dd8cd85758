package manifest

import (
	"fmt"
	"slices"

	estatev1alpha1 "github.com/vpnctl/vpnctl/crds/estate/v1alpha1"
	"github.com/vpnctl/vpnctl/plan/manifest/decode"
	"github.com/vpnctl/vpnctl/plan/vpn"
)

// cloudsField is where an Estate says how customers' projects are reached.
const cloudsField = "spec.openstack.links"

// clouds reads how the customers' projects of links are reached, by link. An entry that
// is refused stays in the map, so that its link isn't told that there is none.
func (c check) clouds(w estatev1alpha1.OpenStack, target string) map[string]string {
	if len(w.Links) > 0 && target == vpn.TargetCluster {
		c.fail(cloudsField, refuse("set, but target is cluster, where the Secret that a ClusterLink names holds the customer's credential").
			with("remove it, or set target: directory"))
	}
	if len(w.Links) == 0 {
		return nil
	}
	out, seen := map[string]string{}, map[string]int{}
	for i, entry := range w.Links {
		at := fmt.Sprintf("%s[%d]", cloudsField, i)
		link, cloud := read(c, at+".link", entry.Link, label), read(c, at+".cloud", entry.Cloud, name)
		c.once(seen, at+".link", link, i, cloudsField)
		if cloud != "" && cloud == w.Cloud {
			c.fail(at+".cloud", refuse("%s is the Estate's own cloud", quoted(cloud)).
				with("a customer's project needs an entry of clouds.yaml of its own"))
		}
		out[link] = cloud
	}
	return out
}

// clouds gives every link into a customer's project the entry of clouds.yaml that
// reaches it, where no cluster holds its Secret.
func (r *relations) clouds() {
	if r.estate.Kubernetes.Target != vpn.TargetDirectory {
		return
	}
	known := map[string]*link{}
	for _, l := range r.links {
		known[l.name] = l
		cloud, there := r.estate.OpenStack.Clouds[l.name]
		if l.foreign && there {
			l.model.Cloud = cloud
		} else if l.foreign && !r.reading.settings.obscures(cloudsField) {
			l.fail("spec.credentialsSecretRef", refuse("no Secret is read with target directory, and the Estate doesn't say how the customer's project is reached").
				with("add {link: %s, cloud: …} to %s of the Estate, with an entry of clouds.yaml", l.name, cloudsField))
		}
	}
	for name := range r.estate.OpenStack.Clouds {
		r.idle(name, known[name])
	}
}

// idle warns about an entry of the Estate that no link makes use of.
func (r *relations) idle(name string, l *link) {
	c := r.reading.settings
	list := c.root.Find(cloudsField)
	if list == nil || name == "" {
		return
	}
	i := slices.IndexFunc(list.Items, func(v *decode.Value) bool { return v.Get("link") != nil && v.Get("link").Text == name })
	field := fmt.Sprintf("%s[%d].link", cloudsField, i)
	switch {
	case l == nil && !r.reading.lost:
		c.warn(field, refuse("there is no ClusterLink %s; as long as anything of such a link is there, this entry has to stay", quoted(name)).did(name, r.linkNames(nil)))
	case l != nil && !l.foreign:
		at := l.position("")
		c.warn(field, refuse("has no effect: %s stays in our own project (%s)", l, at), at)
	}
}

// linkNames are those of the links that are not named yet.
func (r *relations) linkNames(named []string) []string {
	var out []string
	for _, l := range r.links {
		if !slices.Contains(named, l.name) {
			out = append(out, l.name)
		}
	}
	return out
}

// obscures tells whether a field may be missing only because it, something that holds it
// or something beside it could not be read.
func (c check) obscures(field string) bool {
	above, _ := parentField(field)
	return slices.ContainsFunc(c.broken, func(b string) bool { return within(b, above) || within(above, b) })
}

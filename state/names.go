package state

import (
	"fmt"
	"regexp"
	"strings"
	"unicode/utf8"

	"github.com/vpnctl/vpnctl/plan/resource"
	"github.com/vpnctl/vpnctl/plan/vpn"
)

// Name is the name of every OpenStack object of an owner. Names are never
// unique, in Neutron and here: what identifies an object is its tags, and a
// cut-off create its name and Description together.
func Name(o vpn.Owner) string {
	return cut("vpnctl-" + strings.ReplaceAll(o.Path(), "/", "-"))
}

const descriptionHead = "vpnctl: "

// Description is the description of every OpenStack object of an owner, word for
// word. It says whose an object is while its tags are not written yet.
func Description(estate string, o vpn.Owner) string {
	return cut(descriptionHead + o.String() + " of estate " + estate)
}

// ReadDescription reads what Description wrote.
func ReadDescription(description string) (estate string, o vpn.Owner, ours bool) {
	rest, ours := strings.CutPrefix(description, descriptionHead)
	if !ours {
		return "", vpn.Owner{}, false
	}
	text, estate, found := strings.Cut(rest, " of estate ")
	o, known := vpn.ParseOwner(text)
	if !found || !known || description != Description(estate, o) {
		return "", vpn.Owner{}, false
	}
	return estate, o, true
}

// RuleDescription marks a security-group rule as ours, which can't be tagged, and
// says what it is for.
func RuleDescription(why string) string { return cut(descriptionHead + why) }

// OurRule tells whether a rule's description is one that RuleDescription wrote.
func OurRule(description string) bool { return strings.HasPrefix(description, descriptionHead) }

// RuleReason is what RuleDescription was given; a description of another hand is
// its own reason.
func RuleReason(description string) string { return strings.TrimPrefix(description, descriptionHead) }

// cut keeps whole characters within what Neutron accepts.
func cut(s string) string {
	for utf8.RuneCountInString(s) > maxLength {
		_, size := utf8.DecodeLastRuneInString(s)
		s = s[:len(s)-size]
	}
	return s
}

// Label names of Kubernetes objects.
const (
	LabelManagedBy = "app.kubernetes.io/managed-by"
	LabelEstate    = Prefix + "estate"
	LabelGateway   = Prefix + "gateway"
)

// Labels are the ownership labels of an owner's Kubernetes objects. Those of a gateway
// name it; the namespace is the object's own. A link has its own manifest alone.
func Labels(estate string, o vpn.Owner) map[string]string {
	labels := map[string]string{LabelManagedBy: "vpnctl", LabelEstate: estate}
	if o.Gateway() {
		labels[LabelGateway] = o.Name
	}
	return labels
}

// Annotations are the ownership annotations of an owner's Kubernetes objects.
func Annotations(o vpn.Owner) map[string]string {
	return map[string]string{resource.OwnerAnnotation: o.String()}
}

const maxLabel = 63

var (
	dnsLabel     = regexp.MustCompile(`^[a-z0-9]([-a-z0-9]*[a-z0-9])?$`)
	dnsSubdomain = regexp.MustCompile(`^[a-z0-9]([-.a-z0-9]*[a-z0-9])?$`)
)

// Check tells why an owner can't carry the marks: an estate that is no DNS
// label, a name that fits no label or makes a tag, name or description longer
// than Neutron accepts. Everything else here relies on it.
func Check(estate string, o vpn.Owner) error {
	if len(estate) > maxLabel || !dnsLabel.MatchString(estate) {
		return fmt.Errorf("estate %.80q is not a DNS label of at most %d characters", estate, maxLabel)
	}
	if !dnsSubdomain.MatchString(o.Name) || o.Namespace != "" && !dnsLabel.MatchString(o.Namespace) {
		return fmt.Errorf("%.300q is not the name of a Kubernetes object", o.Path())
	}
	if o.Kind != vpn.KindClusterLink && len(o.Name) > maxLabel {
		return fmt.Errorf("name %s: %d characters, a label value holds %d", o.Name, len(o.Name), maxLabel)
	}
	for _, m := range []struct{ what, text string }{
		{"ownership tag", tag(ownerIs, o.String())},
		{"name", "vpnctl-" + o.Path()},
		{"description", descriptionHead + o.String() + " of estate " + estate},
	} {
		if len(m.text) > maxLength {
			return fmt.Errorf("name %s: its %s would have %d characters, OpenStack accepts %d", o.Name, m.what, len(m.text), maxLength)
		}
	}
	return nil
}

package manifest_test

import (
	"fmt"
	"strings"
	"testing"
	"unicode/utf16"

	"github.com/google/go-cmp/cmp"

	"github.com/vpnctl/vpnctl/plan/manifest"
)

// told to the end: the Estate is sound, so whatever is said is about the text.
const soundEstate = `
---
apiVersion: vpnctl.bnerd.net/v1alpha1
kind: Estate
metadata: {name: prod}
spec: {openstack: {network: transit, router: edge, floatingIPPool: public}}
`

const link = `apiVersion: ipsec.bnerd.net/v1alpha1
kind: ClusterLink
metadata: {name: north}
spec:
  serviceClusterRouter: r
  serviceClusterCIDR: 10.40.0.0/16
`

func wide(text string) string {
	out := "\xff\xfe"
	for _, u := range utf16.Encode([]rune(text)) {
		out += string([]byte{byte(u), byte(u >> 8)})
	}
	return out
}

// bomb is a thousand million words in nine lines.
func bomb() string {
	var b strings.Builder
	b.WriteString("a0: &a0 [x,x,x,x,x,x,x,x,x,x]\n")
	for i := 1; i < 9; i++ {
		fmt.Fprintf(&b, "a%d: &a%d [%s]\n", i, i, strings.Repeat(fmt.Sprintf("*a%d,", i-1), 10))
	}
	return b.String()
}

func TestHostileText(t *testing.T) {
	for sentence, c := range map[string]struct{ text, want string }{
		"a byte order mark is dropped":           {"\xef\xbb\xbf" + link, ""},
		"line ends of Windows are line ends":     {strings.ReplaceAll(link, "\n", "\r\n"), ""},
		"empty documents are none":               {"---\n---\n# nothing\n---\n" + link + "---\n...\n", ""},
		"a comment on the separator is fine":     {"--- # first\n" + link, ""},
		"UTF-16 is named":                        {wide(link), "= 1:1: the file is UTF-16\n=     hint: save it as UTF-8\n"},
		"a NUL byte is named":                    {link + "\x00", "= 7:1: a NUL byte: this is not a text file\n"},
		"a control character is named":           {strings.Replace(link, "north", "nor\x1bth", 1), "= 3:21: control character U+001B\n"},
		"text that is no UTF-8 is named":         {strings.Replace(link, "north", "nör\xfcth", 1), "= 3:21: byte 0xfc is not UTF-8\n=     hint: save the file as UTF-8\n"},
		"a tab for indentation is named":         {strings.Replace(link, "  serviceClusterCIDR", "\tserviceClusterCIDR", 1), "= 6:1: not YAML: a tab used for indentation\n=     hint: indent with spaces\n"},
		"half a file is named":                   {"apiVersion: v1\nkind: \"List", "= 2:1: not YAML: found unexpected end of stream\n=     hint: the file ends too early\n"},
		"half a mapping is named":                {link + "status: {a: 1", "= 7:1: not YAML: did not find expected ',' or '}'\n"},
		"a colon too many is named":              {strings.Replace(link, "Router: r", "Router: r: s", 1), "= 5:3: not YAML: mapping values are not allowed in this context\n"},
		"a bad document leaves the next alone":   {"a: [\n---\n" + strings.Replace(link, "10.40", "10.400", 1), "= 1:1: not YAML: did not find expected node content\n= 8:3: spec.serviceClusterCIDR: \"10.400.0.0/16\" is not an IPv4 network in CIDR form\n"},
		"an alias stands for its anchor":         {strings.NewReplacer("Router: r\n", "Router: &x 10.40.0.0/16\n", "CIDR: 10.40.0.0/16", "CIDR: *x").Replace(link), ""},
		"an alias without an anchor is named":    {strings.Replace(link, "Router: r", "Router: *nobody", 1), "= 5:3: not YAML: unknown anchor 'nobody' referenced\n"},
		"an anchor within itself is named":       {strings.Replace(link, "spec:", "spec: &s\n  loop: *s", 1), "= 5:9: nested or repeated by aliases beyond all measure\n=     hint: write it out\n"},
		"a bomb of aliases is named":             {bomb(), "= 5:18: nested or repeated by aliases beyond all measure\n=     hint: write it out\n"},
		"a document without measure is named":    {"apiVersion: v1\nkind: List\nitems: [" + strings.Repeat("1,", 200_000) + "]\n", "= 3:400001: a document of more than 200000 values\n=     hint: write several documents\n"},
		"a merge key is merged":                  {"apiVersion: ipsec.bnerd.net/v1alpha1\nkind: ClusterLink\nmetadata: {name: north}\nspec:\n  <<: {serviceClusterRouter: r, serviceClusterCIDR: 1.2.3.0/24}\n  serviceClusterCIDR: 10.40.0.0/16\n", ""},
		"a merge key needs a mapping":            {strings.Replace(link, "spec:\n", "spec:\n  <<: 7\n", 1), "= 5:7: spec: a merge key needs a mapping\n"},
		"a merged field is held to the rules":    {"apiVersion: ipsec.bnerd.net/v1alpha1\nkind: ClusterLink\nmetadata: {name: north}\nspec:\n  <<: {serviceClusterRouter: r, serviceClusterCIDR: 1.2.3.0/33}\n", "= 5:33: spec.serviceClusterCIDR: \"1.2.3.0/33\" is not an IPv4 network in CIDR form\n"},
		"a key that is a number is named":        {link + "7: x\n", "= 7:1: key 7 must be a string, but YAML reads it as a number\n=     hint: quote it\n"},
		"a key that is a boolean is named":       {link + "on: x\n", "= 7:1: key on must be a string, but YAML reads it as a boolean\n=     hint: quote it\n"},
		"a key that is a list is named":          {link + "? [a]\n: x\n", "= 7:3: a key must be a string\n"},
		"a tag is named":                         {strings.Replace(link, "Router: r", "Router: !secret r", 1), "= 5:25: spec.serviceClusterRouter: the tag !secret is not supported\n"},
		"a tag that says what is there is fine":  {strings.Replace(link, "Router: r", "Router: !!str 010", 1), ""},
		"an unquoted yes is no string":           {strings.Replace(link, "Router: r", "Router: yes", 1), "= 5:25: spec.serviceClusterRouter: must be a string, but yes may be read as a boolean\n=     hint: quote it: \"yes\"\n"},
		"an unquoted 010 is no string":           {strings.Replace(link, "Router: r", "Router: 010", 1), "= 5:25: spec.serviceClusterRouter: must be a string, but 010 may be read as a number\n=     hint: quote it: \"010\"\n"},
		"an unquoted date is no string":          {strings.Replace(link, "Router: r", "Router: 2026-01-01", 1), "= 5:25: spec.serviceClusterRouter: must be a string, but 2026-01-01 may be read as a date\n=     hint: quote it: \"2026-01-01\"\n"},
		"a mapping is no string":                 {strings.Replace(link, "Router: r", "Router: {name: r}", 1), "= 5:25: spec.serviceClusterRouter: must be a string, not a mapping\n"},
		"nothing is no value":                    {strings.Replace(link, "Router: r", "Router:", 1), "= 5:24: spec.serviceClusterRouter: required, but empty\n=     hint: such as serviceClusterRouter: customer-router\n"},
		"a list is no mapping":                   {strings.Replace(link, "{name: north}", "[name, north]", 1), "= 3:1: metadata: required, but missing\n"},
		"an odd field name is quoted":            {link + "\"spec.x\\n::error::\": 1\n", "= 7:1: [\"spec.x\\n::error::\"]: there is no such field\n"},
		"a label with dots is found":             {strings.Replace(link, "{name: north}", "{name: north, labels: {a.b/c: 1}}", 1), "= 3:41: metadata.labels[\"a.b/c\"]: must be a string, but 1 may be read as a number\n=     hint: quote it: \"1\"\n"},
		"a name of 253 letters is shortened":     {strings.Replace(link, "north", strings.Repeat("n", 253), 1), "= 3:12: metadata.name: \"" + strings.Repeat("n", 80) + "…\" is not a DNS label\n=     hint: 1 to 63 lower-case letters, digits and hyphens, with a letter or digit at both ends\n"},
		"braces and quotes in a name are no use": {strings.Replace(link, "{name: north}", `{name: "a\"}\nb{"}`, 1), "= 3:12: metadata.name: \"a\\\"}\\nb{\" is not a DNS label\n=     hint: 1 to 63 lower-case letters, digits and hyphens, with a letter or digit at both ends\n"},
	} {
		t.Run(sentence, func(t *testing.T) {
			text := c.text
			if !strings.HasPrefix(text, "\xff\xfe") {
				text += soundEstate
			}
			got, _ := told(text)
			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Errorf("(-want +got)\n%s", diff)
			}
		})
	}
}

// Incomplete input is no input: with one error the Estate is empty.
func TestAnErrorLeavesNoEstate(t *testing.T) {
	loaded, found := manifest.Load([]string{"-"}, manifest.Options{Stdin: strings.NewReader(link + "more: 1\n" + soundEstate)})
	if found.Errors() != 1 {
		t.Fatalf("%d errors, want 1", found.Errors())
	}
	if diff := cmp.Diff(0, len(loaded.Estate.Links)+len(loaded.Estate.Name)); diff != "" {
		t.Errorf("the Estate is %+v", loaded.Estate)
	}
}

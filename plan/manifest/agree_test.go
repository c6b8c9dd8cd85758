package manifest_test

import (
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/txtar"
	"sigs.k8s.io/yaml"

	"github.com/vpnctl/vpnctl/crds/admission"
	"github.com/vpnctl/vpnctl/crds/corpus"
	"github.com/vpnctl/vpnctl/plan/manifest"
)

// onlyValidation is what validation refuses and an API server doesn't: errors whose
// message matches, and why admission can't know.
var onlyValidation = []struct{ message, because string }{
	{`^there is no VPNGateway `, "admission sees one object: the gateway may follow"},
	{`^the peer is one of \w+, but `, "the gateway is another object"},
	{`is an IPsecGateway, which has tunnels`, "the gateway is another object"},
	{`^VPNGateway \S+ has no (reverse )?exposure `, "the gateway is another object"},
	{`does not lie behind `, "targets are the gateway's, networks its peers'"},
	{`^is the key of `, "each peer is an object"},
	{`is pinned by .+ too`, "the other one is another object"},
	{`^\S+ of the same namespace and name is in `, "the other one is another object"},
	{`fixes as the service CIDR$`, "a road warrior's address is a peer's, the range is its gateway's"},
	{`the road warriors' range$`, "a road warrior's address is a peer's, the range is its gateway's"},
	{`overlaps .+ of (tunnel )?\S+ \(`, "peers are objects; of tunnels, each would be compared with each, for which admission has no budget"},
	{`overlaps .+, the service CIDR of `, "peers are objects; of tunnels, each network would be compared, for which admission has no budget"},
	{`lies in \S+, the service CIDR of `, "the gateway with that range is another object"},
	{`the Estate's service CIDR pool$`, "the Estate is a file that no cluster has"},
	{`Estate's internalSourceCIDRs$`, "the Estate is a file that no cluster has"},
	{`^reverse exposures need spec.internalSourceCIDRs in the Estate`, "the Estate is a file that no cluster has"},
	{`service CIDR pool \S+$`, "the Estate is a file that no cluster has"},
	{`is the Estate's lock address$`, "the Estate is a file that no cluster has"},
	{`^\S+ is the network of ClusterLink `, "the other one is another object"},
	{`^\S+ is the router of ClusterLink `, "the other one is another object"},
	{`overlaps \S+ of ClusterLink `, "the other one is another object"},
	{`overlaps \S+ behind `, "peers are other objects"},
	{`^no Secret is read with target directory`, "the Estate is a file that no cluster has"},
	{`is neither "true" nor "false"$`, "admission's rules see no annotations"},
	{`is no name of a ClusterLink$`, "admission's rules see no annotations"},
	{`^names no ClusterLink$`, "admission's rules see no annotations"},
	{`^a second VPNPeer `, "a cluster takes the second for a change of the first"},
}

// byOthers are the cases of testdata/rules in which a request fails before admission.
var byOthers = map[string]string{
	"there is an Estate":                       "the Estate is a file that no cluster has",
	"a link that can't be read may be there":   "the request's address holds the name",
	"an attestation is a text":                 "metadata have a type of their own, which is read before the rules of any kind",
	"a customer's side is abandoned in a text": "metadata have a type of their own, which is read before the rules of any kind",
	"a gateway's links are a text":             "metadata have a type of their own, which is read before the rules of any kind",
	"an object's name is a string":             "the request's address holds the name",
	"an object has a name":                     "the request's address holds the name",
	"an object has metadata":                   "the request's address holds the name",
	"a namespace is a DNS label":               "there is no such namespace",
	"a key given twice is refused":             "kubectl refuses it when it reads the file",
}

// onlyServer is what an API server refuses and validation can't: reasons that match.
var onlyServer = []struct{ reason, because string }{
	{`can't be (changed|added)`, "manifests don't say what an object was; a plan refuses what it knows from the ledger"},
}

// TestServerAndValidateAgree: an API server refuses an object exactly if validation has
// an error for it, but for what stands in the two tables. This goes for the cases of
// the definitions and for those of testdata/rules.
func TestServerAndValidateAgree(t *testing.T) {
	cases, err := corpus.Cases()
	if err != nil {
		t.Fatal(err)
	}
	used := map[string]bool{}
	for _, c := range cases {
		text, err := yaml.Marshal(c.Object)
		if err != nil {
			t.Fatal(err)
		}
		own := kindAndName(c.Object)
		agree(t, filepath.Base(c.Archive)+": "+c.Name, string(text)+"---\n"+c.Company, map[string][]string{own: c.Refused}, used)
	}
	server, err := admission.New()
	if err != nil {
		t.Fatal(err)
	}
	archives, _ := filepath.Glob("testdata/rules/*.txtar")
	for _, path := range archives {
		archive, err := txtar.ParseFile(path)
		if err != nil {
			t.Fatal(err)
		}
		for _, f := range archive.Files[1:] {
			if byOthers[f.Name] != "" {
				continue
			}
			edited, _ := edit(t, string(archive.Files[0].Data), string(f.Data))
			no := map[string][]string{}
			for line := range strings.Lines(refused(t, server, edited)) {
				no[strings.TrimSpace(strings.TrimPrefix(line, "~"))] = []string{"refused"}
			}
			agree(t, filepath.Base(path)+": "+f.Name, edited, no, used)
		}
	}
	for _, e := range onlyValidation {
		if !used[e.message] {
			t.Errorf("no case needs the exception %q", e.message)
		}
	}
}

// agree loads a stream and compares its errors with what a server refuses, by kind and
// name. An unknown field is refused by both, too: kubectl asks for strictness.
func agree(t *testing.T, name, text string, refused map[string][]string, used map[string]bool) {
	t.Helper()
	_, found := manifest.Load([]string{"-"}, manifest.Options{Stdin: strings.NewReader(text)})
	wrong := map[string]bool{}
	for _, d := range found {
		kind, path, _ := strings.Cut(d.Object, " ")
		own := kind + " " + path[strings.LastIndex(path, "/")+1:]
		if d.Severity != manifest.Error {
			continue
		}
		wrong[own] = true
		if kind == "Estate" || len(refused[own]) > 0 || d.Message == "there is no such field" {
			continue
		}
		excused := false
		for _, e := range onlyValidation {
			if regexp.MustCompile(e.message).MatchString(d.Message) {
				used[e.message], excused = true, true
			}
		}
		if !excused {
			t.Errorf("%s: validation alone refuses %s: %s: %s", name, d.Object, d.Field, d.Message)
		}
	}
	for own, reasons := range refused {
		for _, reason := range reasons {
			if !wrong[own] && !regexp.MustCompile(onlyServer[0].reason).MatchString(reason) {
				t.Errorf("%s: the server alone refuses %s: %s", name, own, reason)
			}
		}
	}
}

func kindAndName(object map[string]any) string {
	meta, _ := object["metadata"].(map[string]any)
	name, _ := meta["name"].(string)
	return object["kind"].(string) + " " + name
}

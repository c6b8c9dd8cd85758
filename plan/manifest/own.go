package manifest

import (
	"bytes"
	"path/filepath"
	"regexp"
	"slices"
)

// What a folder may hold besides manifests because vpnctl has been there. The
// texts are recognised by how they begin, whatever their files are called.
var (
	savedPlan = regexp.MustCompile(`^\s*\{\s*"version":\s*"vpnctl\.bnerd\.net/plan/`)
	simulated = regexp.MustCompile(`^\s*\{\s*"format":\s*"vpnctl-simulator/`)
	rendered  = []byte("# Written by vpnctl. ")                    // first line of every file of a rendered tree
	installs  = []byte("# Written by vpnctl render controller.\n") // and of what installs the controller
)

// IsSavedPlan tells by the beginning of a file whether it is a plan that vpnctl saved, of
// whatever version.
func IsSavedPlan(head []byte) bool { return savedPlan.Match(head) }

// stub matches what stands in a file's place while its content lies elsewhere or is
// locked: a pointer of Git LFS, a text of git-crypt.
var stub = regexp.MustCompile(`^(version https://git-lfs\.github\.com/spec/|\x00GITCRYPT\x00)`)

func isStub(data []byte) bool { return stub.Match(data) }

// cloudFiles are where OpenStack clients look for clouds and their passwords.
var cloudFiles = []string{
	"clouds.yaml", "clouds.yml", "clouds-public.yaml", "clouds-public.yml", "secure.yaml", "secure.yml",
}

// ours matches every kind and group that an object of ours must name.
var ours = regexp.MustCompile(`(?i)vpngateway|vpnpeer|ipsecgateway|clusterlink|\.bnerd\.net`)

// mentions tells whether a text may hold a manifest of ours, in whatever encoding
// and however broken: without one of these words it can't.
func mentions(data []byte) bool {
	return ours.Match(data) || bytes.IndexByte(data, 0) >= 0 && ours.Match(bytes.ReplaceAll(data, []byte{0}, nil))
}

// noManifest says what a file found in a folder is, where it is none that people
// write for vpnctl, and "" for all others.
func noManifest(name string, data []byte) string {
	head := data[:min(len(data), 512)]
	switch {
	case IsSavedPlan(head):
		return "a saved plan"
	case simulated.Match(head):
		return "the state of a simulated cloud"
	case slices.Contains(cloudFiles, filepath.Base(name)) && !mentions(data):
		return "names clouds, not gateways"
	}
	return ""
}

// ownFolder says the same of a folder.
func ownFolder(dir string) string {
	switch {
	case simulated.Match(beginning(filepath.Join(dir, "state.json"))):
		return "the state of a simulated cloud"
	case renderedTree(dir):
		return treeRendered
	case bytes.HasPrefix(beginning(kustomization(dir)), installs):
		return "what vpnctl has rendered to install the controller"
	}
	return ""
}

// What is said of what vpnctl has rendered, and what helps.
const (
	treeRendered = "a tree that vpnctl has rendered"
	fileRendered = "a file that vpnctl has rendered"
	nameOthers   = "name the folder of the manifests that people write"
	writtenNow   = "if people write it now, remove its first line"
)

// renderedTree tells whether a folder is such a tree, or a part of one.
func renderedTree(dir string) bool { return isRendered(beginning(kustomization(dir))) }

func isRendered(data []byte) bool { return bytes.HasPrefix(data, rendered) }

// beginning reads the first bytes of a file, or none.
func beginning(name string) []byte {
	f, err := open(name)
	if err != nil {
		return nil
	}
	defer f.Close()
	head := make([]byte, 512)
	n, _ := f.Read(head)
	return head[:n]
}

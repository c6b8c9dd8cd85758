package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"
	"k8s.io/apimachinery/pkg/util/yaml"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"

	"github.com/vpnctl/vpnctl/cloud/kube/fakeapi"
)

// inCluster gives the script command that is another client of a simulated API server,
// which its first use starts and $KUBECONFIG leads to:
//
//	cluster                        an empty one
//	cluster put FILE               creates or replaces what a file holds, statuses too
//	cluster remove KIND NS/NAME
//	cluster deny VERB RESOURCE     takes a right away; without words, all are back
//
// In a file, {{3h12m}} is the time so long ago, {{-22m}} the time that is to come.
func inCluster(t *testing.T) func(*testscript.TestScript, bool, []string) {
	return func(ts *testscript.TestScript, neg bool, args []string) {
		api, started := ts.Value(clusterKey{}).(*scriptCluster)
		if !started {
			ts.Fatalf("the script has no place for a cluster")
		}
		if api.Server == nil {
			api.Server = fakeapi.New(t, "acme", "globex")
			file := filepath.Join(ts.Getenv("WORK"), ".kube.yaml")
			ts.Check(writeKubeconfig(file, api.Config()))
			ts.Setenv("KUBECONFIG", file)
		}
		switch {
		case neg:
			ts.Fatalf("cluster can't fail")
		case len(args) == 0:
		case len(args) == 2 && args[0] == "put":
			for _, o := range objectsIn(ts, args[1]) {
				api.Put(t, o)
			}
		case len(args) == 3 && args[0] == "remove":
			namespace, name, _ := strings.Cut(args[2], "/")
			api.Remove(t, args[1], namespace, name)
		case len(args) == 3 && args[0] == "deny":
			api.Deny(func(c fakeapi.Call) bool { return c.Verb == args[1] && c.Resource == args[2] })
		case len(args) == 1 && args[0] == "deny":
			api.Deny(nil)
		default:
			ts.Fatalf("usage: cluster [put FILE | remove KIND NS/NAME | deny [VERB RESOURCE]]")
		}
	}
}

type clusterKey struct{}

// scriptCluster is a script's cluster, once it has one.
type scriptCluster struct{ *fakeapi.Server }

var fromNow = regexp.MustCompile(`\{\{(-?[0-9][0-9a-z]*)\}\}`)

func objectsIn(ts *testscript.TestScript, file string) []map[string]any {
	data, err := os.ReadFile(ts.MkAbs(file))
	ts.Check(err)
	text := fromNow.ReplaceAllStringFunc(string(data), func(m string) string {
		ago, err := time.ParseDuration(fromNow.FindStringSubmatch(m)[1])
		ts.Check(err)
		return `"` + time.Now().Add(-ago).UTC().Format(time.RFC3339) + `"`
	})
	var all []map[string]any
	for d := yaml.NewYAMLOrJSONDecoder(strings.NewReader(text), 4096); ; {
		var o map[string]any
		if err := d.Decode(&o); errors.Is(err, io.EOF) {
			return all
		} else if err != nil {
			ts.Fatalf("%s: %v", file, err)
		}
		if len(o) > 0 {
			all = append(all, o)
		}
	}
}

// writeKubeconfig writes one for whoever a configuration is of.
func writeKubeconfig(file string, c *rest.Config) error {
	k := clientcmdapi.NewConfig()
	k.Clusters["fake"] = &clientcmdapi.Cluster{Server: c.Host}
	k.Contexts["fake"] = &clientcmdapi.Context{Cluster: "fake"}
	k.CurrentContext = "fake"
	if err := clientcmd.WriteToFile(*k, file); err != nil {
		return fmt.Errorf("writing %s: %w", file, err)
	}
	return nil
}

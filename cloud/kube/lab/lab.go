//go:build e2e

package lab

import (
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
)

// variable names the kubeconfig of a lab that the tests share.
const variable = "VPNCTL_KUBELAB"

// A Lab is a cluster that runs.
type Lab struct {
	Kubeconfig string            // an administrator's
	API        dynamic.Interface // as that administrator, with no limit on the rate of calls

	dir     string // the lab's folder, in which the kubeconfig is
	scripts string
	server  string
	http    *http.Client
	kinds   sync.Map // by group, version and kind, what the server calls their objects
}

// Start gives the lab of $VPNCTL_KUBELAB, of which it starts what doesn't run, or one of
// $VPNCTL_KUBELABS that stand beside it. No other test uses it meanwhile. Where the first
// isn't set, the test has a lab of its own, as with Own.
func Start(t testing.TB) *Lab {
	t.Helper()
	shared := os.Getenv(variable)
	if shared == "" {
		return Own(t)
	}
	return start(t, turn(t, shared))
}

// Own gives a lab that is the test's alone, and ends with it.
func Own(t testing.TB) *Lab {
	t.Helper()
	kubeconfig := filepath.Join(t.TempDir(), "lab", "kubeconfig")
	t.Cleanup(func() { (&Lab{Kubeconfig: kubeconfig, scripts: scripts(t)}).run(t, "down", "--purge") })
	return start(t, kubeconfig)
}

func start(t testing.TB, kubeconfig string) *Lab {
	t.Helper()
	l := &Lab{Kubeconfig: kubeconfig, scripts: scripts(t)}
	l.dir = filepath.Dir(l.Kubeconfig)
	l.Up(t)
	l.connect(t)
	return l
}

func (l *Lab) connect(t testing.TB) {
	t.Helper()
	config, err := clientcmd.BuildConfigFromFlags("", l.Kubeconfig)
	if err != nil {
		t.Fatal(err)
	}
	config.QPS, config.UserAgent = -1, "lab"
	if l.API, err = dynamic.NewForConfig(config); err != nil {
		t.Fatal(err)
	}
	l.server = config.Host
	if l.http, err = rest.HTTPClientFor(config); err != nil {
		t.Fatal(err)
	}
}

// get reads from the API server what is no object, and gives its answer and code.
func (l *Lab) get(t testing.TB, path string) ([]byte, int) {
	t.Helper()
	request, err := http.NewRequestWithContext(lasting(t), http.MethodGet, l.server+path, nil)
	if err != nil {
		t.Fatal(err)
	}
	answer, err := l.http.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	body, err := io.ReadAll(answer.Body)
	if err != nil {
		t.Fatal(err)
	}
	return body, answer.StatusCode
}

// scripts finds the lab's scripts in the tree that the test is of.
func scripts(t testing.TB) string {
	t.Helper()
	at, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	for ; at != "/"; at = filepath.Dir(at) {
		folder := filepath.Join(at, "cloud/kube/testdata/lab")
		if _, err := os.Stat(filepath.Join(folder, "up")); err == nil {
			return folder
		}
	}
	t.Fatal("the test is not in the tree of vpnctl")
	return ""
}

// run runs one of the lab's scripts for this lab.
func (l *Lab) run(t testing.TB, script string, args ...string) {
	t.Helper()
	cmd := exec.Command(filepath.Join(l.scripts, script), args...)
	cmd.Env = append(os.Environ(), variable+"="+l.Kubeconfig)
	if l.Kubeconfig != os.Getenv(variable) { // which alone may have been given its ports
		cmd.Env = append(cmd.Env, "VPNCTL_KUBELAB_PORT_BASE=")
	}
	began := time.Now()
	out, err := cmd.CombinedOutput()
	said := strings.TrimSpace(script + " " + strings.Join(args, " "))
	if err != nil {
		t.Fatalf("%s: %v\n%s", said, err, out)
	}
	t.Logf("%s: %.1f s", said, time.Since(began).Seconds())
}

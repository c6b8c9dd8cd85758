package report

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/transport"
)

// accountDir is where a pod finds its service account's token.
const accountDir = "/var/run/secrets/kubernetes.io/serviceaccount"

// maxAnswer bounds what is read of an answer: a Secret is at most 1 MiB, twice that
// where an annotation repeats it, in base64.
const maxAnswer = 8 << 20

// Server says where the Kubernetes API is and who asks.
type Server struct {
	URL       string // https://host:port
	Directory string // holds token, ca.crt and namespace, which change under a running pod
}

// InCluster is the server that the kubelet tells a pod of.
func InCluster() (Server, error) {
	host, port := os.Getenv("KUBERNETES_SERVICE_HOST"), os.Getenv("KUBERNETES_SERVICE_PORT")
	if host == "" || port == "" {
		return Server{}, errors.New("KUBERNETES_SERVICE_HOST and KUBERNETES_SERVICE_PORT aren't set: this isn't a pod")
	}
	return Server{URL: "https://" + net.JoinHostPort(host, port), Directory: accountDir}, nil
}

// client asks one server. It never follows another one's directions, and what it
// says of an answer is the answer's own message, never its content.
type client struct {
	url       string
	namespace string
	timeout   time.Duration // of one call
	http      *http.Client
}

// connect reads what the pod was given. The transport reads both again, because they
// are rotated under it: the token every minute and once the server refuses it, the CA
// every few minutes.
func connect(s Server, timeout time.Duration) (*client, error) {
	namespace, err := os.ReadFile(filepath.Join(s.Directory, "namespace"))
	if err != nil {
		return nil, fmt.Errorf("reading the pod's namespace: %w", err)
	}
	token := transport.NewCachedFileTokenSource(filepath.Join(s.Directory, "token"))
	if _, err := token.Token(); err != nil {
		return nil, fmt.Errorf("reading the pod's service account: %w", err)
	}
	rt, err := transport.New(&transport.Config{
		UserAgent:     "vpnctl-agent",
		WrapTransport: transport.ResettableTokenSourceWrapTransport(token),
		TLS:           transport.TLSConfig{CAFile: filepath.Join(s.Directory, "ca.crt")},
	})
	if err != nil {
		return nil, fmt.Errorf("reading the pod's service account: %w", err)
	}
	stay := func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	return &client{
		url: strings.TrimSuffix(s.URL, "/"), namespace: strings.TrimSpace(string(namespace)), timeout: timeout,
		http: &http.Client{Transport: rt, CheckRedirect: stay},
	}, nil
}

// do makes one call and returns the body of a good answer. Any other one is an
// answer error; no answer at all is an error that isn't.
func (c *client) do(ctx context.Context, method, path string, patch []byte) ([]byte, error) {
	ctx, cancel := context.WithTimeout(ctx, c.timeout)
	defer cancel()
	request, err := http.NewRequestWithContext(ctx, method, c.url+path, bytes.NewReader(patch))
	if err != nil {
		return nil, err
	}
	request.Header.Set("Accept", "application/json")
	if patch != nil {
		request.Header.Set("Content-Type", "application/merge-patch+json")
	}
	response, err := c.http.Do(request)
	if err != nil {
		return nil, c.silence(err)
	}
	defer response.Body.Close()
	body, err := io.ReadAll(io.LimitReader(response.Body, maxAnswer))
	if err != nil {
		return nil, c.silence(err)
	}
	if response.StatusCode != http.StatusOK {
		return nil, readAnswer(response, body)
	}
	return body, nil
}

// silence says in few words that no answer came.
func (c *client) silence(err error) error {
	if errors.Is(err, context.DeadlineExceeded) {
		return fmt.Errorf("no answer from %s within %s", c.url, c.timeout)
	}
	var wrapped *url.Error
	if errors.As(err, &wrapped) {
		err = wrapped.Err
	}
	return fmt.Errorf("asking %s: %w", c.url, err)
}

// answer is a refusal of the server's.
type answer struct {
	code    int
	message string        // the server's own
	after   time.Duration // how long to wait, where it says so
}

func (a *answer) Error() string {
	if a.message == "" {
		return fmt.Sprintf("answer %d %s", a.code, http.StatusText(a.code))
	}
	return fmt.Sprintf("answer %d: %s", a.code, a.message)
}

func readAnswer(response *http.Response, body []byte) *answer {
	a := &answer{code: response.StatusCode}
	var status metav1.Status
	if json.Unmarshal(body, &status) == nil && status.Kind == "Status" {
		a.message = short(status.Message)
	}
	if n, err := strconv.Atoi(response.Header.Get("Retry-After")); err == nil && n > 0 {
		a.after = time.Duration(n) * time.Second
	}
	return a
}

// away tells whether the server as a whole is at fault, rather than this request:
// then nothing else is worth asking for now. It returns how long it wants to be
// left alone.
func away(err error) (bool, time.Duration) {
	var a *answer
	if !errors.As(err, &a) {
		return true, 0
	}
	return a.code == http.StatusUnauthorized || a.code == http.StatusTooManyRequests || a.code >= 500, a.after
}

// code of a refusal, 0 for any other error.
func code(err error) int {
	var a *answer
	if errors.As(err, &a) {
		return a.code
	}
	return 0
}

// explain says what a refusal means here, and who can change it.
func (c *client) explain(err error, verb, resource, name string) error {
	switch code(err) {
	case http.StatusUnauthorized:
		return fmt.Errorf("the API server doesn't accept the pod's token: %w", err)
	case http.StatusForbidden:
		return fmt.Errorf("%s doesn't allow to %s %s %s: %w", c.role(err), verb, resource, name, err)
	}
	return err
}

// role is the Role that should have allowed it: it has the name of the service
// account, which the server tells.
func (c *client) role(err error) string {
	_, user, found := strings.Cut(err.Error(), "system:serviceaccount:")
	account, _, ends := strings.Cut(user, `"`)
	if !found || !ends {
		return "the pod's Role in " + c.namespace
	}
	return "Role " + strings.Replace(account, ":", "/", 1)
}

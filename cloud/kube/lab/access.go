//go:build e2e

package lab

import (
	"path/filepath"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"
)

// Nobody is the kubeconfig of the user lab-nobody, in the group lab-nobodies, who may
// do no more than everyone who is logged in, until a test binds a role to them.
func (l *Lab) Nobody() string { return filepath.Join(l.dir, "access", "nobody") }

// ServiceAccount writes a kubeconfig for a ServiceAccount, which must exist, with a
// token for an hour.
func (l *Lab) ServiceAccount(t testing.TB, namespace, name string) string {
	t.Helper()
	request := &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "authentication.k8s.io/v1", "kind": "TokenRequest",
		"metadata": map[string]any{"name": name, "namespace": namespace},
		"spec":     map[string]any{"expirationSeconds": int64(3600)},
	}}
	made, err := l.Objects(t, "v1", "ServiceAccount", namespace).Create(lasting(t), request, metav1.CreateOptions{}, "token")
	if err != nil {
		t.Fatalf("a token for the ServiceAccount %s/%s: %v", namespace, name, err)
	}
	return l.kubeconfig(t, namespace, text(made.Object, "status", "token"))
}

// kubeconfig writes one for whoever has the token, with a namespace as its default.
func (l *Lab) kubeconfig(t testing.TB, namespace, token string) string {
	t.Helper()
	config, err := clientcmd.LoadFromFile(l.Kubeconfig)
	if err != nil {
		t.Fatal(err)
	}
	in := config.Contexts[config.CurrentContext]
	in.Namespace = namespace
	config.AuthInfos[in.AuthInfo] = &clientcmdapi.AuthInfo{Token: token}
	file := filepath.Join(t.TempDir(), "kubeconfig")
	if err := clientcmd.WriteToFile(*config, file); err != nil {
		t.Fatal(err)
	}
	return file
}

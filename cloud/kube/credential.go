package kube

import (
	"context"
	"crypto/sha256"
	"encoding/base64"
	"fmt"
	"slices"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/vpnctl/vpnctl/cloud"
	ipsecv1alpha1 "github.com/vpnctl/vpnctl/crds/ipsec/v1alpha1"
	"github.com/vpnctl/vpnctl/plan/vpn"
)

// Keys of a customer's Secret, which are the names of the environment. Its cloud is the
// operator's own, so the URL of its Keystone, its region and its certificates may be there
// and are not read.
const (
	keyCredential = "OS_APPLICATION_CREDENTIAL_ID"
	keySecret     = "OS_APPLICATION_CREDENTIAL_SECRET"
)

// Credential is what a Secret holds of a customer's OpenStack credential. It is for
// logging in, and for nothing else: neither lines nor errors hold any of it.
type Credential struct {
	values   map[string]string
	Revision string // tells one content from another, within this process
}

// Get is the value of a variable of the environment, as far as a credential has it.
func (c Credential) Get(key string) string { return c.values[key] }

// String and GoString keep it out of whatever is printed.
func (c Credential) String() string   { return "(hidden)" }
func (c Credential) GoString() string { return "(hidden)" }

// Credential reads the credential for the customer's project of a link, out of the Secret
// that the link names, or the ClusterLink in the cluster where its manifest was not read.
// An error is a *cloud.CredentialError where the Secret is to blame.
func (d *Driver) Credential(ctx context.Context, l vpn.Link) (Credential, error) {
	ref, err := d.credentialRef(ctx, l)
	if err != nil {
		return Credential{}, err
	}
	if want := ipsecv1alpha1.SecretPrefix + l.Owner.Name; ref.Name != want { // before anything is read
		return Credential{}, credential(ipsecv1alpha1.ReasonSecretName, "Secret %s/%s must have the name %s", ref.Namespace, ref.Name, want)
	}
	data, there, err := d.open(ctx, ref.Namespace, ref.Name)
	switch {
	case apierrors.IsForbidden(err):
		return Credential{}, credential(ipsecv1alpha1.ReasonSecretNotFound, "Secret %s/%s may not be read", ref.Namespace, ref.Name)
	case err != nil:
		return Credential{}, err
	case !there:
		return Credential{}, credential(ipsecv1alpha1.ReasonSecretNotFound, "there is no Secret %s/%s", ref.Namespace, ref.Name)
	}
	c := Credential{values: map[string]string{}}
	sum := sha256.New()
	for _, key := range []string{keyCredential, keySecret} {
		text, err := base64.StdEncoding.DecodeString(data[key])
		if err != nil {
			return Credential{}, credential(ipsecv1alpha1.ReasonSecretIncomplete, "key %s of Secret %s/%s can't be read", key, ref.Namespace, ref.Name)
		}
		c.values[key] = strings.TrimSpace(string(text))
		fmt.Fprintf(sum, "%d %s", len(c.values[key]), c.values[key])
	}
	c.Revision = string(sum.Sum(nil))
	return c, c.whole(ref)
}

// whole refuses a Secret that lacks something.
func (c Credential) whole(ref vpn.NamespacedRef) error {
	lacks := slices.DeleteFunc([]string{keyCredential, keySecret}, func(key string) bool { return c.values[key] != "" })
	if len(lacks) > 0 {
		return credential(ipsecv1alpha1.ReasonSecretIncomplete, "Secret %s/%s lacks %s", ref.Namespace, ref.Name, strings.Join(lacks, ", "))
	}
	return nil
}

// credentialRef is which Secret a link names.
func (d *Driver) credentialRef(ctx context.Context, l vpn.Link) (vpn.NamespacedRef, error) {
	if l.Credentials != (vpn.NamespacedRef{}) {
		return l.Credentials, nil
	}
	k, _ := kindOf(ipsecv1alpha1.KindClusterLink)
	u, err := d.objects(k, "").Get(ctx, l.Owner.Name, metav1.GetOptions{})
	switch {
	case apierrors.IsNotFound(err):
		return vpn.NamespacedRef{}, credential(ipsecv1alpha1.ReasonSecretNotFound, "ClusterLink %s is gone, and with it the name of its Secret", l.Owner.Name)
	case err != nil:
		return vpn.NamespacedRef{}, fmt.Errorf("reading ClusterLink %s: %w", l.Owner.Name, err)
	}
	get := func(field string) string {
		text, _, _ := unstructured.NestedString(u.Object, "spec", "credentialsSecretRef", field)
		return text
	}
	return vpn.NamespacedRef{Namespace: get("namespace"), Name: get("name")}, nil
}

func credential(reason, format string, args ...any) error {
	return &cloud.CredentialError{Reason: reason, Message: fmt.Sprintf(format, args...)}
}

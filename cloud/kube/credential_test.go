package kube_test

import (
	"encoding/base64"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/vpnctl/vpnctl/cloud"
	"github.com/vpnctl/vpnctl/cloud/kube/fakeapi"
	"github.com/vpnctl/vpnctl/plan/vpn"
)

// secretOf is a Secret in a namespace of the roster's world.
func secretOf(name string, values map[string]string) fields {
	data := fields{}
	for key, v := range values {
		data[key] = base64.StdEncoding.EncodeToString([]byte(v))
	}
	return fields{"apiVersion": "v1", "kind": "Secret", "metadata": fields{"name": name, "namespace": "acme"}, "data": data}
}

func wholeCredential() map[string]string {
	return map[string]string{
		"OS_AUTH_URL": "https://keystone.example/v3\n", "OS_APPLICATION_CREDENTIAL_ID": "abc", "OS_APPLICATION_CREDENTIAL_SECRET": "hush",
		"OS_REGION_NAME": "fra1", "OS_CACERT": "hush", "OS_USERNAME": "hush",
	}
}

// TestCredential: a link's Secret is read under its own name alone, it is told what is
// missing of it, and nothing of it shows.
func TestCredential(t *testing.T) {
	without := func(key string) func(map[string]string) { return func(v map[string]string) { delete(v, key) } }
	with := func(key, value string) func(map[string]string) { return func(v map[string]string) { v[key] = value } }
	named := vpn.NamespacedRef{Namespace: "acme", Name: "clusterlink-north"}
	for sentence, c := range map[string]struct {
		ref    vpn.NamespacedRef // zero: the ClusterLink in the cluster says which
		change func(map[string]string)
		link   bool // it is in the cluster
		denied bool
		want   string // the reason
		says   string
	}{
		"a whole one":                     {ref: named},
		"one whose manifest was not read": {link: true},
		"one without what isn't read":     {ref: named, change: func(v map[string]string) { delete(v, "OS_AUTH_URL"); delete(v, "OS_CACERT") }},
		"one whose link is gone":          {want: "SecretNotFound", says: "ClusterLink north is gone"},
		"another link's":                  {ref: vpn.NamespacedRef{Namespace: "acme", Name: "clusterlink-south"}, want: "SecretNameNotAllowed", says: "clusterlink-north"},
		"one in another namespace":        {ref: vpn.NamespacedRef{Namespace: "globex", Name: "clusterlink-north"}, want: "SecretNotFound", says: "globex/clusterlink-north"},
		"one that may not be read":        {ref: named, denied: true, want: "SecretNotFound", says: "may not be read"},
		"one without an ID":               {ref: named, change: without("OS_APPLICATION_CREDENTIAL_ID"), want: "SecretIncomplete", says: "OS_APPLICATION_CREDENTIAL_ID"},
		"one with an empty secret":        {ref: named, change: with("OS_APPLICATION_CREDENTIAL_SECRET", " \n"), want: "SecretIncomplete", says: "OS_APPLICATION_CREDENTIAL_SECRET"},
	} {
		t.Run(sentence, func(t *testing.T) {
			api := fakeapi.New(t, "acme", "globex")
			values := wholeCredential()
			if c.change != nil {
				c.change(values)
			}
			api.Put(t, secretOf("clusterlink-north", values))
			api.Put(t, secretOf("clusterlink-south", values))
			if c.link {
				api.Put(t, manifestOf(ipsecGroup, "ClusterLink", "", "north", fields{"serviceClusterRouter": "r", "serviceClusterCIDR": "10.40.0.0/16",
					"credentialsSecretRef": fields{"name": "clusterlink-north", "namespace": "acme"}, "customerProjectID": "p"}, nil))
			}
			api.Deny(func(call fakeapi.Call) bool { return c.denied && call.Resource == "secrets" })
			got, err := overFake(t, api).Credential(t.Context(), vpn.Link{Owner: vpn.Owner{Kind: vpn.KindClusterLink, Name: "north"}, Credentials: c.ref})
			if c.want == "" {
				if err != nil || got.Get("OS_AUTH_URL") != "" || got.Get("OS_CACERT") != "" || got.Get("OS_APPLICATION_CREDENTIAL_SECRET") != "hush" || got.Get("OS_USERNAME") != "" || got.Revision == "" {
					t.Errorf("error %v, or something was not read as it stands there", err)
				}
				if shown := fmt.Sprintf("%v %+v %#v %s", got, got, got, got); strings.Contains(shown, "hush") {
					t.Error("its secret shows")
				}
				return
			}
			var fault *cloud.CredentialError
			if !errors.As(err, &fault) || fault.Reason != c.want || !strings.Contains(fault.Message, c.says) || strings.Contains(err.Error(), "hush") {
				t.Errorf("error %v, want one for %s that says %q", err, c.want, c.says)
			}
		})
	}
}

// TestCredentialRevision: it changes with what the Secret holds, and with nothing else.
func TestCredentialRevision(t *testing.T) {
	api := fakeapi.New(t, "acme")
	north := vpn.Link{Owner: vpn.Owner{Kind: vpn.KindClusterLink, Name: "north"}, Credentials: vpn.NamespacedRef{Namespace: "acme", Name: "clusterlink-north"}}
	var seen []string
	labelled := secretOf("clusterlink-north", wholeCredential())
	labelled["metadata"].(fields)["labels"] = fields{"a": "b"}
	other := wholeCredential()
	other["OS_APPLICATION_CREDENTIAL_SECRET"] = "another"
	for _, o := range []fields{secretOf("clusterlink-north", wholeCredential()), labelled, secretOf("clusterlink-north", other)} {
		api.Put(t, o)
		c, err := overFake(t, api).Credential(t.Context(), north)
		if err != nil {
			t.Fatal(err)
		}
		seen = append(seen, c.Revision)
	}
	if seen[0] != seen[1] || seen[1] == seen[2] {
		t.Errorf("as it was, labelled, with another secret: %q", seen)
	}
}

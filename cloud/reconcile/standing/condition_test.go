package standing

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/vpnctl/vpnctl/cloud"
	vpnv1alpha1 "github.com/vpnctl/vpnctl/crds/vpn/v1alpha1"
	"github.com/vpnctl/vpnctl/plan"
	"github.com/vpnctl/vpnctl/plan/manifest"
	"github.com/vpnctl/vpnctl/plan/resource"
	"github.com/vpnctl/vpnctl/plan/vpn"
)

var dc1 = vpn.Owner{Kind: vpn.KindVPNGateway, Namespace: "acme", Name: "dc1"}

func change(k resource.Kind) plan.Change {
	return plan.Change{ID: resource.ID{Kind: k, Namespace: dc1.Namespace, Name: dc1.Name}, Owner: dc1, Action: plan.Create}
}

func object(kind, name string) plan.Change {
	return plan.Change{ID: resource.ID{Kind: resource.KubernetesKind(kind), Namespace: "acme", Name: name}, Owner: dc1, Action: plan.Update}
}

func outcome(c plan.Change, err error) cloud.Outcome {
	o := cloud.Outcome{Change: c, State: cloud.Done, Err: err}
	if err != nil {
		o.State = cloud.Failed
	}
	return o
}

// TestConditions: what each way to end says, in the words of the conditions; what isn't
// named is True.
func TestConditions(t *testing.T) {
	broken := errors.New("409")
	port, fip := change(resource.KindPort), change(resource.KindFloatingIP)
	for name, tt := range map[string]struct {
		account account
		want    map[string]string // condition → status reason
	}{
		"nothing to do": {account: account{rollout: cloud.Rollout{Available: true}}},
		"all was done":  {account: account{rollout: cloud.Rollout{Available: true}, outcomes: map[resource.ID]cloud.Outcome{port.ID: outcome(port, nil)}}},
		"no pod yet": {
			account: account{}, want: map[string]string{"DeploymentReady": "False DeploymentUnavailable"},
		},
		"a Secret is missing": {
			account: account{rollout: cloud.Rollout{Available: true}, missing: []vpn.SecretRef{{Name: "psk", Key: "a"}}},
			want:    map[string]string{"DeploymentReady": "False PeerSecretMissing"},
		},
		"the group": {
			account: failing(change(resource.KindSecurityGroup), broken),
			want:    map[string]string{"PortReady": "False EnsureSecurityGroupFailed"},
		},
		"the port": {
			account: failing(port, broken),
			want:    map[string]string{"PortReady": "False EnsurePortFailed", "PortAttached": "Unknown Pending", "RoutingReady": "Unknown Pending"},
		},
		"its pairs": {
			account: failing(port, cloud.During(cloud.StepPairs, broken)),
			want:    map[string]string{"PortAttached": "Unknown Pending", "RoutingReady": "False EnsureAllowedAddressPairsFailed"},
		},
		"its attachment": {
			account: failing(port, cloud.During(cloud.StepAttach, broken)),
			want:    map[string]string{"PortAttached": "False EnsurePortAttachedToServerFailed"},
		},
		"the floating IP": {
			account: failing(fip, broken), want: map[string]string{"FIPAttached": "False EnsureFIPFailed"},
		},
		"the route": {
			account: failing(change(resource.KindRoute), broken), want: map[string]string{"RoutingReady": "False EnsureRouterRouteFailed"},
		},
		"the attachment definition": {
			account: failing(object("NetworkAttachmentDefinition", "dc1"), broken), want: map[string]string{"ConfigRendered": "False NADFailed"},
		},
		"a ConfigMap": {
			account: failing(object("ConfigMap", "dc1-nat"), broken), want: map[string]string{"ConfigRendered": "False ConfigMapFailed"},
		},
		"the key": {
			account: failing(object("Secret", "dc1-wg-key"), broken), want: map[string]string{"ConfigRendered": "False WGKeyFailed"},
		},
		"a ServiceAccount": {
			account: failing(object("ServiceAccount", "dc1"), broken), want: map[string]string{"DeploymentReady": "False ServiceAccountFailed"},
		},
		"a Role": {
			account: failing(object("Role", "dc1"), broken), want: map[string]string{"DeploymentReady": "False RoleBindingFailed"},
		},
		"the policy": {
			account: failing(object("NetworkPolicy", "dc1-nic1"), broken), want: map[string]string{"DeploymentReady": "False NetworkPolicyFailed"},
		},
		"the Deployment": {
			account: failing(object("Deployment", "dc1"), broken), want: map[string]string{"DeploymentReady": "False DeploymentFailed"},
		},
		"nothing was tried": {
			account: account{rollout: cloud.Rollout{Available: true}, changes: map[resource.ID]plan.Change{fip.ID: fip}},
			want:    map[string]string{"FIPAttached": "Unknown Pending"},
		},
		"no address is left": {
			account: refusing(plan.Refusal{Message: "exhausted", Reason: vpnv1alpha1.ReasonAllocationFailed}),
			want:    map[string]string{"Allocated": "False AllocationFailed"},
		},
		"no node is left": {
			account: refusing(plan.Refusal{Message: "full", Reason: vpnv1alpha1.ReasonNodeSelection}),
			want:    map[string]string{"PortAttached": "False NodeSelectionFailed"},
		},
		"no internal sources": {
			account: refusing(plan.Refusal{Message: "none", Reason: vpnv1alpha1.ReasonInternalSources}),
			want:    map[string]string{"ConfigRendered": "False ReverseExposuresRequireInternalSourceCIDRs"},
		},
		"a floating IP that somebody holds": {
			account: refusing(plan.Refusal{Message: "held", ID: fip.ID}), want: map[string]string{"FIPAttached": "False EnsureFIPFailed"},
		},
		"a road warrior": {
			account: account{rollout: cloud.Rollout{Available: true}, gateway: vpn.Gateway{Protocol: vpn.WireGuard, Peers: []vpn.Peer{{Name: "ina", RoadWarrior: true}}}},
			want:    map[string]string{"SecurityGroupScoped": "False HostnameEndpointOpensPort"},
		},
		"a site with an address": {
			account: account{rollout: cloud.Rollout{Available: true}, gateway: vpn.Gateway{Protocol: vpn.WireGuard, Peers: []vpn.Peer{{Name: "hq", Endpoint: "198.51.100.7:51820"}}}},
			want:    map[string]string{"SecurityGroupScoped": "True AllSourcesPinned"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			got, first := map[string]string{}, ""
			for _, c := range tt.account.conditions() {
				if c.Type == vpnv1alpha1.ConditionReady {
					if want := readiness(tt.want); string(c.Status) != want || first != "" && c.Reason != first && c.Status == False {
						t.Errorf("Ready is %s %s, want %s", c.Status, c.Reason, want)
					}
					continue
				}
				if c.Status != True || c.Type == vpnv1alpha1.ConditionSecurityGroupScoped {
					got[c.Type] = string(c.Status) + " " + c.Reason
				}
				if c.Status == False && first == "" && c.Type != vpnv1alpha1.ConditionSecurityGroupScoped {
					first = c.Reason
				}
				if c.Status != True && c.Message == "" {
					t.Errorf("%s says nothing", c.Type)
				}
			}
			if len(got) == 0 {
				got = nil
			}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("(-want +got)\n%s", diff)
			}
		})
	}
}

// readiness is what Ready has to be.
func readiness(want map[string]string) string {
	worst := "True"
	for condition, text := range want {
		switch status, _, _ := strings.Cut(text, " "); {
		case condition == vpnv1alpha1.ConditionSecurityGroupScoped:
		case status == "False":
			worst = "False"
		case worst == "True":
			worst = status
		}
	}
	return worst
}

func failing(c plan.Change, err error) account {
	a := account{rollout: cloud.Rollout{Available: true}}
	a.tried(outcome(c, err))
	return a
}

func refusing(r plan.Refusal) account {
	return account{rollout: cloud.Rollout{Available: true}, refusals: []plan.Refusal{r}}
}

// TestInvalidManifests: the gateway says what is wrong with itself, or which peer keeps it
// where it is; peers say it of themselves.
func TestInvalidManifests(t *testing.T) {
	bad := func(file, field, message string) manifest.Diagnostic {
		return manifest.Diagnostic{File: file, Field: field, Message: message, Severity: manifest.Error}
	}
	type said struct{ gateway, peers []string }
	for name, tt := range map[string]struct {
		wrong manifest.Diagnostics
		want  said
	}{
		"the gateway": {
			manifest.Diagnostics{bad("VPNGateway acme/dc1", "spec.protocol", "is not known")},
			said{gateway: []string{"Validated False InvalidSpec spec.protocol: is not known", "Ready False InvalidSpec Validated: spec.protocol: is not known"}},
		},
		"a peer": {
			manifest.Diagnostics{bad("VPNPeer acme/plant1", "spec.ipsec", "missing")},
			said{
				gateway: []string{
					"Validated True Valid ", "ConfigRendered False RenderInputFailed the last good state stays: peer plant1: spec.ipsec: missing",
					"Ready False RenderInputFailed ConfigRendered: the last good state stays: peer plant1: spec.ipsec: missing",
				},
				peers: []string{"plant1 Authorized False InvalidSpec spec.ipsec: missing"},
			},
		},
		"a grant of what isn't exposed": {
			manifest.Diagnostics{bad("VPNPeer acme/plant1", "spec.authorization.exposures[0]", "not exposed")},
			said{
				gateway: []string{
					"Validated True Valid ", "ConfigRendered False RenderInputFailed the last good state stays: peer plant1: spec.authorization.exposures[0]: not exposed",
					"Ready False RenderInputFailed ConfigRendered: the last good state stays: peer plant1: spec.authorization.exposures[0]: not exposed",
				},
				peers: []string{"plant1 Authorized False UnknownGrant spec.authorization.exposures[0]: not exposed"},
			},
		},
	} {
		s := Invalid(dc1, tt.wrong)
		var got said
		for _, c := range s.Conditions {
			got.gateway = append(got.gateway, strings.Join([]string{c.Type, string(c.Status), c.Reason, c.Message}, " "))
		}
		for peer, c := range s.Peers {
			got.peers = append(got.peers, strings.Join([]string{peer, c.Type, string(c.Status), c.Reason, c.Message}, " "))
		}
		slices.Sort(got.peers)
		if diff := cmp.Diff(tt.want, got, cmp.AllowUnexported(said{})); diff != "" {
			t.Errorf("%s (-want +got)\n%s", name, diff)
		}
	}
}

// TestAuthorization: what each peer is told.
func TestAuthorization(t *testing.T) {
	granted := &vpn.Grants{Exposures: []string{"web"}}
	for name, tt := range map[string]struct {
		peers []vpn.Peer
		want  map[string]string
	}{
		"one peer without a block":   {[]vpn.Peer{{Name: "a"}}, map[string]string{"a": "True DefaultAllow"}},
		"one peer, an empty block":   {[]vpn.Peer{{Name: "a", Grants: &vpn.Grants{}}}, map[string]string{"a": "False NoGrants"}},
		"two peers, one has a grant": {[]vpn.Peer{{Name: "a", Grants: granted}, {Name: "b"}}, map[string]string{"a": "True Authorized", "b": "False NoGrants"}},
	} {
		got := map[string]string{}
		for peer, c := range authorized(vpn.Gateway{Owner: dc1, Exposures: []vpn.Exposure{{Name: "web"}}, Peers: tt.peers}) {
			got[peer] = string(c.Status) + " " + c.Reason
		}
		if diff := cmp.Diff(tt.want, got); diff != "" {
			t.Errorf("%s (-want +got)\n%s", name, diff)
		}
	}
}

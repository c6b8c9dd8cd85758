package standing

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/vpnctl/vpnctl/cloud"
	ipsecv1alpha1 "github.com/vpnctl/vpnctl/crds/ipsec/v1alpha1"
	vpnv1alpha1 "github.com/vpnctl/vpnctl/crds/vpn/v1alpha1"
	"github.com/vpnctl/vpnctl/plan"
	"github.com/vpnctl/vpnctl/plan/resource"
	"github.com/vpnctl/vpnctl/plan/vpn"
)

// The statuses of a condition, as Kubernetes spells them.
const (
	True    = "True"
	False   = "False"
	Unknown = "Unknown"
)

// Say is a condition.
func Say(kind, status, reason, message string) cloud.Condition {
	return cloud.Condition{Type: kind, Status: status, Reason: reason, Message: message}
}

// ReasonPending is that of a condition whose change waits, has not been tried, or was
// left out.
const ReasonPending = cloud.ReasonPending

// stage is one condition of a gateway: what it consists of, and the reason for each
// part that fails.
type stage struct {
	condition string
	parts     []part
}

type part struct {
	kind   resource.Kind
	step   cloud.Step // empty: the change as a whole
	reason string
}

// stages are what each of them follows from, see Stages.
var stages = []stage{
	{vpnv1alpha1.ConditionPortReady, []part{
		{resource.KindSecurityGroup, "", vpnv1alpha1.ReasonSecurityGroup},
		{resource.KindPort, "", vpnv1alpha1.ReasonPort},
	}},
	{vpnv1alpha1.ConditionPortAttached, []part{{resource.KindPort, cloud.StepAttach, vpnv1alpha1.ReasonPortAttached}}},
	{vpnv1alpha1.ConditionFIPAttached, []part{{resource.KindFloatingIP, "", vpnv1alpha1.ReasonFIP}}},
	{vpnv1alpha1.ConditionRoutingReady, []part{
		{resource.KindPort, cloud.StepPairs, vpnv1alpha1.ReasonAddressPairs},
		{resource.KindRoute, "", vpnv1alpha1.ReasonRouterRoute},
	}},
	{vpnv1alpha1.ConditionConfigRendered, []part{
		{resource.KubernetesKind("Secret"), "", vpnv1alpha1.ReasonWGKey},
		{resource.KubernetesKind("NetworkAttachmentDefinition"), "", vpnv1alpha1.ReasonNAD},
		{resource.KubernetesKind("ConfigMap"), "", vpnv1alpha1.ReasonConfigMap},
	}},
	{vpnv1alpha1.ConditionDeploymentReady, []part{
		{resource.KubernetesKind("ServiceAccount"), "", vpnv1alpha1.ReasonServiceAccount},
		{resource.KubernetesKind("Role"), "", vpnv1alpha1.ReasonRoleBinding},
		{resource.KubernetesKind("RoleBinding"), "", vpnv1alpha1.ReasonRoleBinding},
		{resource.KubernetesKind("NetworkPolicy"), "", vpnv1alpha1.ReasonNetworkPolicy},
		{resource.KubernetesKind("Deployment"), "", vpnv1alpha1.ReasonDeployment},
	}},
}

// Stages are the conditions that follow from what was done, in the order in which whoever
// has a manifest of that kind is built.
func Stages(kind string) []string {
	table, last := stages, []string(nil)
	if kind == vpn.KindClusterLink {
		table, last = linkStages, []string{ipsecv1alpha1.ConditionReverseRoutesInstalled}
	}
	var all []string
	for _, s := range table {
		all = append(all, s.condition)
	}
	return append(all, last...)
}

// account is what is known of one gateway when its conditions are written.
type account struct {
	gateway  vpn.Gateway
	link     bool      // it is a link's: then the gateway is none
	crossing *crossing // of a link into a customer's project
	refusals []plan.Refusal
	changes  map[resource.ID]plan.Change   // that are not done yet, or were just done
	outcomes map[resource.ID]cloud.Outcome // of this run
	rollout  cloud.Rollout
	fresh    bool            // nothing of it was there when the run looked
	blocked  string          // why it is left as it is, although its manifests may ask for something else
	unrouted bool            // of a link: its forward route does not stand
	awaited  []string        // of a link: gateways without a way back for which none is planned
	missing  []vpn.SecretRef // Secrets of its peers that are not in the cluster
}

// conditions are those of a gateway whose manifest is valid, in their order, with Ready
// as the last.
//
//	the stage's changes          condition
//	none, or all done            True
//	one failed, or is refused    False, with its reason
//	one is not done              Unknown, Pending: the first thing that it waits for
//	none may be                  ConfigRendered Unknown, Pending: why, and how many wait
func (a *account) conditions() []cloud.Condition {
	all := []cloud.Condition{a.validated(), a.allocated()}
	for _, s := range stages {
		all = append(all, a.stage(s))
	}
	if c, says := a.scoped(); says {
		all = append(all, c)
	}
	return append(all, ready(all))
}

// validated tells of a manifest that is valid by itself whether it is with what stands.
func (a *account) validated() cloud.Condition {
	if r, refused := a.refusal(vpnv1alpha1.ConditionValidated); refused {
		return Say(vpnv1alpha1.ConditionValidated, False, r.Reason, told(r))
	}
	return Say(vpnv1alpha1.ConditionValidated, True, "Valid", "")
}

func (a *account) allocated() cloud.Condition {
	if r, refused := a.refusal(vpnv1alpha1.ConditionAllocated); refused {
		return Say(vpnv1alpha1.ConditionAllocated, False, cmp.Or(r.Reason, vpnv1alpha1.ReasonAllocationFailed), told(r))
	}
	return Say(vpnv1alpha1.ConditionAllocated, True, vpnv1alpha1.ConditionAllocated, "")
}

func (a *account) stage(s stage) cloud.Condition {
	if r, refused := a.refusal(s.condition); refused {
		return Say(s.condition, False, cmp.Or(r.Reason, s.reason(r.ID.Kind)), told(r))
	}
	if a.fresh && len(a.changes) == 0 && len(a.refusals) > 0 {
		return Say(s.condition, Unknown, ReasonPending, "waits: nothing is made as long as this is refused")
	}
	c := cloud.Condition{Type: s.condition, Status: True, Reason: s.condition}
	for _, p := range s.parts {
		switch status, why := a.part(p); {
		case status == False:
			return Say(s.condition, False, p.reason, why)
		case status == Unknown && c.Status == True:
			c = Say(s.condition, Unknown, ReasonPending, why)
		}
	}
	if c.Status != True {
		return c
	}
	switch s.condition {
	case vpnv1alpha1.ConditionConfigRendered:
		if a.blocked != "" {
			return Say(s.condition, Unknown, ReasonPending, a.blocked)
		}
	case vpnv1alpha1.ConditionRoutingReady:
		c.Reason, c.Message = a.routing()
	case vpnv1alpha1.ConditionDeploymentReady:
		return a.available(c)
	}
	return c
}

// reason is that of the part which a kind of resource is, else of the first.
func (s stage) reason(k resource.Kind) string {
	i := slices.IndexFunc(s.parts, func(p part) bool { return p.kind == k && p.step == "" })
	return s.parts[max(i, 0)].reason
}

// part tells what became of the changes of one kind.
func (a *account) part(p part) (status, why string) {
	status = True
	for _, id := range a.ids(p.kind) {
		o, tried := a.outcomes[id]
		switch {
		case tried && o.State == cloud.Done:
		case tried && o.State == cloud.Failed && failsAt(p, o.Err):
			return False, o.Err.Error()
		case tried && o.State == cloud.Failed && !before(p.step, cloud.StepOf(o.Err)):
			// it failed after this step: what this part is about is done
		case status == True:
			status, why = Unknown, "waits: "+reason(a.changes[id], o)
		}
	}
	return status, why
}

// failsAt tells whether an error is this part's.
func failsAt(p part, err error) bool { return cloud.StepOf(err) == p.step }

// before tells whether a step comes only after the one in which the change failed. A
// port is made, gets its pairs and is attached.
func before(step, failed cloud.Step) bool {
	order := []cloud.Step{"", cloud.StepPairs, cloud.StepAttach, cloud.StepJoin}
	return slices.Index(order, failed) < slices.Index(order, step)
}

func reason(c plan.Change, o cloud.Outcome) string {
	switch {
	case errors.Is(o.Err, cloud.ErrStopped):
		return fmt.Sprintf("%s: its turn is next", c.ID)
	case o.Err != nil:
		return fmt.Sprintf("%s: %s", c.ID, o.Err)
	case c.Held != "":
		return fmt.Sprintf("%s: %s", c.ID, c.Held)
	}
	return fmt.Sprintf("%s: %s", c.ID, c.Action)
}

// ids are the changed resources of a kind, in order.
func (a *account) ids(k resource.Kind) []resource.ID {
	var all []resource.ID
	for id := range a.changes {
		if id.Kind == k {
			all = append(all, id)
		}
	}
	slices.SortFunc(all, resource.ID.Compare)
	return all
}

// refusal is the first refusal that a condition speaks of.
func (a *account) refusal(condition string) (plan.Refusal, bool) {
	i := slices.IndexFunc(a.refusals, func(r plan.Refusal) bool { return a.conditionOf(r) == condition })
	if i < 0 {
		return plan.Refusal{}, false
	}
	return a.refusals[i], true
}

// conditionOf is the condition that a refusal belongs to: by its reason, else by the
// resource that it names, else that of what comes first.
func (a *account) conditionOf(r plan.Refusal) string {
	table, first := stages, vpnv1alpha1.ConditionAllocated
	if a.link {
		table, first = linkStages, ipsecv1alpha1.ConditionLegAttached
	}
	if c, told := crossReasons[r.Reason]; told {
		return c
	}
	switch r.Reason {
	case vpnv1alpha1.ReasonInvalidSpec:
		return vpnv1alpha1.ConditionValidated
	case vpnv1alpha1.ReasonAllocationFailed:
		return first
	case vpnv1alpha1.ReasonNodeSelection, vpnv1alpha1.ReasonProviderID:
		return vpnv1alpha1.ConditionPortAttached
	case vpnv1alpha1.ReasonRender, vpnv1alpha1.ReasonRenderInput, vpnv1alpha1.ReasonInternalSources, vpnv1alpha1.ReasonResolve:
		return vpnv1alpha1.ConditionConfigRendered
	}
	for _, s := range table {
		if slices.ContainsFunc(s.parts, func(p part) bool { return p.kind == r.ID.Kind && p.step == "" }) {
			return s.condition
		}
	}
	return first
}

func told(r plan.Refusal) string {
	if r.Hint == "" {
		return r.Message
	}
	return r.Message + ": " + r.Hint
}

// routing says whether there is anything to route, and what is missing all the same.
func (a *account) routing() (reason, message string) {
	if len(a.gateway.ReverseExposures) == 0 {
		return vpnv1alpha1.ReasonNotRequired, ""
	}
	return vpnv1alpha1.ReasonRouted, ""
}

// available adds what the pod says to a Deployment that is as it should be.
func (a *account) available(c cloud.Condition) cloud.Condition {
	switch {
	case len(a.missing) > 0:
		return Say(c.Type, False, vpnv1alpha1.ReasonPeerSecretMissing, lacking(a.missing))
	case !a.rollout.Available:
		return Say(c.Type, False, vpnv1alpha1.ReasonUnavailable, cmp.Or(a.rollout.Message, "no pod is available"))
	}
	c.Reason = "Available"
	return c
}

// scoped tells whether a WireGuard gateway's port is open to named sources alone. It
// says nothing of IPsec, whose ports always are.
func (a *account) scoped() (cloud.Condition, bool) {
	if a.gateway.Protocol != vpn.WireGuard {
		return cloud.Condition{}, false
	}
	var open []string
	for _, p := range a.gateway.Peers {
		if !p.Sender().IsValid() {
			open = append(open, p.Name)
		}
	}
	if len(open) == 0 {
		return Say(vpnv1alpha1.ConditionSecurityGroupScoped, True, vpnv1alpha1.ReasonAllSourcesPinned, ""), true
	}
	return Say(vpnv1alpha1.ConditionSecurityGroupScoped, False, vpnv1alpha1.ReasonHostnameOpensPort,
		"the port is open to everyone, because of peers without a literal endpoint: "+strings.Join(open, ", ")), true
}

// ready sums conditions up. That a port is open to everyone is no fault.
func ready(all []cloud.Condition) cloud.Condition {
	for _, want := range []string{False, Unknown} {
		for _, c := range all {
			if c.Status == want && c.Type != vpnv1alpha1.ConditionSecurityGroupScoped {
				return Say(vpnv1alpha1.ConditionReady, want, c.Reason, strings.TrimSuffix(c.Type+": "+c.Message, ": "))
			}
		}
	}
	return Say(vpnv1alpha1.ConditionReady, True, vpnv1alpha1.ConditionReady, "")
}

package view

import (
	"bytes"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"maps"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	ipsecv1alpha1 "github.com/vpnctl/vpnctl/crds/ipsec/v1alpha1"
	vpnv1alpha1 "github.com/vpnctl/vpnctl/crds/vpn/v1alpha1"
	"github.com/vpnctl/vpnctl/plan/roster"
	"github.com/vpnctl/vpnctl/plan/vpn"
)

// spoken is by which condition of what, and with which status, each reason is given.
var spoken = map[string]struct{ condition, status string }{
	vpnv1alpha1.ReasonInvalidSpec:       {vpnv1alpha1.ConditionValidated, roster.False},
	vpnv1alpha1.ReasonAllocationFailed:  {vpnv1alpha1.ConditionAllocated, roster.False},
	vpnv1alpha1.ReasonNotRequired:       {vpnv1alpha1.ConditionRoutingReady, roster.True},
	vpnv1alpha1.ReasonRouted:            {vpnv1alpha1.ConditionRoutingReady, roster.True},
	vpnv1alpha1.ReasonNodeSelection:     {vpnv1alpha1.ConditionPortAttached, roster.False},
	vpnv1alpha1.ReasonProviderID:        {vpnv1alpha1.ConditionPortAttached, roster.False},
	vpnv1alpha1.ReasonSecurityGroup:     {vpnv1alpha1.ConditionPortReady, roster.False},
	vpnv1alpha1.ReasonPort:              {vpnv1alpha1.ConditionPortReady, roster.False},
	vpnv1alpha1.ReasonPortAttached:      {vpnv1alpha1.ConditionPortAttached, roster.False},
	vpnv1alpha1.ReasonFIP:               {vpnv1alpha1.ConditionFIPAttached, roster.False},
	vpnv1alpha1.ReasonAddressPairs:      {vpnv1alpha1.ConditionRoutingReady, roster.False},
	vpnv1alpha1.ReasonRouterRoute:       {vpnv1alpha1.ConditionRoutingReady, roster.False},
	vpnv1alpha1.ReasonNAD:               {vpnv1alpha1.ConditionConfigRendered, roster.False},
	vpnv1alpha1.ReasonResolve:           {vpnv1alpha1.ConditionConfigRendered, roster.False},
	vpnv1alpha1.ReasonRender:            {vpnv1alpha1.ConditionConfigRendered, roster.False},
	vpnv1alpha1.ReasonRenderInput:       {vpnv1alpha1.ConditionConfigRendered, roster.False},
	vpnv1alpha1.ReasonConfigMap:         {vpnv1alpha1.ConditionConfigRendered, roster.False},
	vpnv1alpha1.ReasonWGKey:             {vpnv1alpha1.ConditionConfigRendered, roster.False},
	vpnv1alpha1.ReasonInternalSources:   {vpnv1alpha1.ConditionConfigRendered, roster.False},
	vpnv1alpha1.ReasonServiceAccount:    {vpnv1alpha1.ConditionDeploymentReady, roster.False},
	vpnv1alpha1.ReasonRoleBinding:       {vpnv1alpha1.ConditionDeploymentReady, roster.False},
	vpnv1alpha1.ReasonNetworkPolicy:     {vpnv1alpha1.ConditionDeploymentReady, roster.False},
	vpnv1alpha1.ReasonDeployment:        {vpnv1alpha1.ConditionDeploymentReady, roster.False},
	vpnv1alpha1.ReasonUnavailable:       {vpnv1alpha1.ConditionDeploymentReady, roster.False},
	vpnv1alpha1.ReasonPeerSecretMissing: {vpnv1alpha1.ConditionDeploymentReady, roster.False},
	vpnv1alpha1.ReasonHostnameOpensPort: {vpnv1alpha1.ConditionSecurityGroupScoped, roster.False},
	vpnv1alpha1.ReasonAllSourcesPinned:  {vpnv1alpha1.ConditionSecurityGroupScoped, roster.True},
	vpnv1alpha1.ReasonDefaultAllow:      {vpnv1alpha1.ConditionAuthorized, roster.True},
	vpnv1alpha1.ReasonAuthorized:        {vpnv1alpha1.ConditionAuthorized, roster.True},
	vpnv1alpha1.ReasonNoGrants:          {vpnv1alpha1.ConditionAuthorized, roster.False},
	vpnv1alpha1.ReasonUnknownGrant:      {vpnv1alpha1.ConditionAuthorized, roster.False},

	ipsecv1alpha1.ReasonRouterResolve:              {ipsecv1alpha1.ConditionLegAttached, roster.False},
	ipsecv1alpha1.ReasonTransitLegPort:             {ipsecv1alpha1.ConditionLegAttached, roster.False},
	ipsecv1alpha1.ReasonRouterHasPort:              {ipsecv1alpha1.ConditionLegAttached, roster.False},
	ipsecv1alpha1.ReasonTransitIPMismatch:          {ipsecv1alpha1.ConditionLegAttached, roster.False},
	ipsecv1alpha1.ReasonGatewayRouterNotConfigured: {ipsecv1alpha1.ConditionRouteInstalled, roster.False},
	ipsecv1alpha1.ReasonReverseRoutes:              {ipsecv1alpha1.ConditionReverseRoutesInstalled, roster.False},
	ipsecv1alpha1.ReasonAttested:                   {ipsecv1alpha1.ConditionTenantIsolationAttested, roster.True},
	ipsecv1alpha1.ReasonAttestationMissing:         {ipsecv1alpha1.ConditionTenantIsolationAttested, roster.False},
	ipsecv1alpha1.ReasonAttestationMalformed:       {ipsecv1alpha1.ConditionTenantIsolationAttested, roster.False},
	ipsecv1alpha1.ReasonResolved:                   {ipsecv1alpha1.ConditionCredentialsResolved, roster.True},
	ipsecv1alpha1.ReasonSecretNotFound:             {ipsecv1alpha1.ConditionCredentialsResolved, roster.False},
	ipsecv1alpha1.ReasonSecretIncomplete:           {ipsecv1alpha1.ConditionCredentialsResolved, roster.False},
	ipsecv1alpha1.ReasonAuthentication:             {ipsecv1alpha1.ConditionCredentialsResolved, roster.False},
	ipsecv1alpha1.ReasonCredentialsUnscoped:        {ipsecv1alpha1.ConditionCredentialsResolved, roster.False},
	ipsecv1alpha1.ReasonRoleMissing:                {ipsecv1alpha1.ConditionCredentialsResolved, roster.False},
	ipsecv1alpha1.ReasonShared:                     {ipsecv1alpha1.ConditionTransitNetworkShared, roster.True},
	ipsecv1alpha1.ReasonSharedByOthers:             {ipsecv1alpha1.ConditionTransitNetworkShared, roster.True},
	ipsecv1alpha1.ReasonShareRefused:               {ipsecv1alpha1.ConditionTransitNetworkShared, roster.False},
	ipsecv1alpha1.ReasonTransitNetworkNotOwned:     {ipsecv1alpha1.ConditionTransitNetworkShared, roster.False},
	ipsecv1alpha1.ReasonCustomerSideUnreachable:    {vpnv1alpha1.ConditionReady, roster.False}, // of a link that goes
	ipsecv1alpha1.ReasonAbandoned:                  {vpnv1alpha1.ConditionReady, roster.False}, // of a link that goes
	ipsecv1alpha1.ReasonSecretName:                 {ipsecv1alpha1.ConditionCredentialsResolved, roster.False},
	ipsecv1alpha1.ReasonCredentialsProject:         {ipsecv1alpha1.ConditionCredentialsResolved, roster.False},
	ipsecv1alpha1.ReasonCredentialsAreOperators:    {ipsecv1alpha1.ConditionCredentialsResolved, roster.False},

	vpnv1alpha1.ReasonGatewayNotReady: {vpnv1alpha1.ConditionReady, roster.False}, // of a peer

	"Pending":    {vpnv1alpha1.ConditionPortReady, roster.Unknown},
	"Unobserved": {vpnv1alpha1.ConditionReady, roster.Unknown},
	"Deleting":   {vpnv1alpha1.ConditionReady, roster.Unknown},
}

// TestStatusOfEveryReason shows what status and wait make of each reason that there is. One
// that is new has to be told here how it is given.
func TestStatusOfEveryReason(t *testing.T) {
	known := reasons(t)
	for _, r := range known {
		if _, told := spoken[r]; !told {
			t.Errorf("nothing is said here of the reason %s", r)
		}
	}
	var out bytes.Buffer
	for _, reason := range slices.Sorted(maps.Keys(spoken)) {
		if !slices.Contains(known, reason) {
			t.Errorf("there is no reason %s any more", reason)
		}
		c := reasoned(reason)
		fmt.Fprintf(&out, "\n# %s\n", reason)
		if err := Status(&out, c, StatusOptions{Now: noon}); err != nil {
			t.Fatal(err)
		}
		for _, g := range c.Gateways {
			v := g.Await(roster.GoalReady, "", noon)
			word := map[bool]string{true: "ends without it", false: "goes on"}[v.Stuck]
			if v.Met {
				word = "it has come"
			}
			fmt.Fprintf(&out, "wait: %s: %s\n", word, v.Text)
			if v.Met != (g.Ready().Word == roster.Yes) {
				t.Errorf("%s: wait says met: %v, and status %s", reason, v.Met, g.Ready().Word)
			}
		}
	}
	golden(t, "status_reasons.txt", out.Bytes())
}

var noon = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

// reasoned is a gateway, a gateway with a peer, or a link of whom a reason is given.
func reasoned(reason string) roster.Cluster {
	s := spoken[reason]
	c := roster.Condition{Type: s.condition, Status: s.status, Reason: reason, Message: "what is to be said", Since: noon.Add(-time.Hour), Generation: 1}
	all := []roster.Condition{c}
	if c.Type != vpnv1alpha1.ConditionReady {
		sum := roster.Condition{Type: vpnv1alpha1.ConditionReady, Status: s.status, Reason: reason, Message: c.Type + ": " + c.Message, Since: c.Since, Generation: 1}
		if c.Harmless() {
			sum.Status, sum.Reason, sum.Message = roster.True, "Ready", ""
		}
		all = append(all, sum)
	}
	m := roster.Manifest{Generation: 1, Created: noon.Add(-41 * 24 * time.Hour), Conditions: all}
	if slices.Contains([]string{ipsecv1alpha1.ReasonCustomerSideUnreachable, ipsecv1alpha1.ReasonAbandoned}, reason) || slices.Contains([]string{ipsecv1alpha1.ConditionLegAttached, ipsecv1alpha1.ConditionRouteInstalled, ipsecv1alpha1.ConditionReverseRoutesInstalled,
		ipsecv1alpha1.ConditionTenantIsolationAttested, ipsecv1alpha1.ConditionCredentialsResolved, ipsecv1alpha1.ConditionTransitNetworkShared}, c.Type) {
		return roster.Cluster{Links: []roster.Link{{Name: "north", Manifest: m, Touched: true, Router: "north", CIDR: "10.40.0.0/16"}}}
	}
	g := roster.Gateway{Owner: dc1, Protocol: vpn.IPsec, Touched: true, Manifest: m}
	if c.Type == vpnv1alpha1.ConditionAuthorized || reason == vpnv1alpha1.ReasonGatewayNotReady {
		peer := m
		peer.Conditions = all[:1]
		if c.Type == vpnv1alpha1.ConditionReady {
			peer.Conditions = append(peer.Conditions, roster.Condition{Type: vpnv1alpha1.ConditionAuthorized, Status: roster.True, Generation: 1})
		}
		g.Conditions = []roster.Condition{{Type: vpnv1alpha1.ConditionReady, Status: roster.True, Reason: "Ready", Since: c.Since, Generation: 1}}
		g.Peers = []roster.Peer{{Namespace: "acme", Gateway: "dc1", Name: "plant1", Manifest: peer, Report: roster.Report{State: "ESTABLISHED", Up: 1, Expected: 1}}}
	}
	if reason == "Deleting" {
		g.Deleting = noon.Add(-time.Minute)
	}
	return roster.Cluster{Gateways: []roster.Gateway{g}}
}

// reasons are the values of all constants Reason…, where they are written.
func reasons(t *testing.T) []string {
	t.Helper()
	var all []string
	for _, folder := range []string{"crds/ipsec/v1alpha1", "crds/vpn/v1alpha1", "cloud", "cloud/reconcile", "cloud/reconcile/standing", "cloud/reconcile/loop"} {
		files, err := filepath.Glob("../../" + folder + "/*.go")
		if err != nil {
			t.Fatal(err)
		}
		for _, file := range files {
			parsed, err := parser.ParseFile(token.NewFileSet(), file, nil, 0)
			if err != nil {
				t.Fatal(err)
			}
			all = append(all, reasonsIn(t, parsed)...)
		}
	}
	if len(all) < 40 {
		t.Fatalf("only %d reasons were found", len(all))
	}
	return all
}

func reasonsIn(t *testing.T, file *ast.File) []string {
	t.Helper()
	var all []string
	ast.Inspect(file, func(n ast.Node) bool {
		v, is := n.(*ast.ValueSpec)
		if !is || len(v.Values) == 0 || !strings.HasPrefix(v.Names[0].Name, "Reason") {
			return true
		}
		if text, is := v.Values[0].(*ast.BasicLit); is {
			value, err := strconv.Unquote(text.Value)
			if err != nil {
				t.Fatal(err)
			}
			all = append(all, value)
		}
		return true
	})
	return all
}

package v1alpha1

// Finalizer keeps a VPNGateway until its cloud side is gone.
const Finalizer = "vpn.bnerd.net/cleanup"

// Condition types of a gateway of either group, in the order in which they
// come true. A later one says nothing while an earlier one is False.
const (
	ConditionValidated       = "Validated"
	ConditionAllocated       = "Allocated"
	ConditionPortReady       = "PortReady"
	ConditionPortAttached    = "PortAttached"
	ConditionFIPAttached     = "FIPAttached"
	ConditionRoutingReady    = "RoutingReady"
	ConditionConfigRendered  = "ConfigRendered"
	ConditionDeploymentReady = "DeploymentReady"
	// ConditionSecurityGroupScoped is False while a WireGuard port must be open
	// to everyone.
	ConditionSecurityGroupScoped = "SecurityGroupScoped"
	// ConditionReady sums up all others for the observed generation. A peer's says that its
	// manifest is in force, and nothing of its tunnel, which State and Up tell.
	ConditionReady = "Ready"
	// ConditionAuthorized is a peer's: it may reach something.
	ConditionAuthorized = "Authorized"
)

// Reasons of the conditions.
const (
	ReasonInvalidSpec       = "InvalidSpec"
	ReasonAllocationFailed  = "AllocationFailed"
	ReasonNotRequired       = "NotRequired"
	ReasonRouted            = "Routed"
	ReasonNodeSelection     = "NodeSelectionFailed"
	ReasonProviderID        = "ProviderIDUnparseable"
	ReasonSecurityGroup     = "EnsureSecurityGroupFailed"
	ReasonPort              = "EnsurePortFailed"
	ReasonPortAttached      = "EnsurePortAttachedToServerFailed"
	ReasonFIP               = "EnsureFIPFailed"
	ReasonAddressPairs      = "EnsureAllowedAddressPairsFailed"
	ReasonRouterRoute       = "EnsureRouterRouteFailed"
	ReasonNAD               = "NADFailed"
	ReasonResolve           = "ResolveFailed"
	ReasonRender            = "RenderFailed"
	ReasonRenderInput       = "RenderInputFailed"
	ReasonConfigMap         = "ConfigMapFailed"
	ReasonWGKey             = "WGKeyFailed"
	ReasonInternalSources   = "ReverseExposuresRequireInternalSourceCIDRs"
	ReasonServiceAccount    = "ServiceAccountFailed"
	ReasonRoleBinding       = "RoleBindingFailed"
	ReasonNetworkPolicy     = "NetworkPolicyFailed"
	ReasonDeployment        = "DeploymentFailed"
	ReasonUnavailable       = "DeploymentUnavailable"
	ReasonPeerSecretMissing = "PeerSecretMissing"
	ReasonGatewayNotReady   = "GatewayNotReady" // of a peer: why stands in its gateway's status
	ReasonHostnameOpensPort = "HostnameEndpointOpensPort"
	ReasonAllSourcesPinned  = "AllSourcesPinned"
	ReasonDefaultAllow      = "DefaultAllow"
	ReasonAuthorized        = "Authorized"
	ReasonNoGrants          = "NoGrants"
	ReasonUnknownGrant      = "UnknownGrant"
)

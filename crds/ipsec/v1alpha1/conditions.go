package v1alpha1

// Finalizers keep an IPsecGateway and a ClusterLink until their cloud side is gone.
const (
	Finalizer     = "ipsec.bnerd.net/cleanup"
	LinkFinalizer = "ipsec.bnerd.net/clusterlink-cleanup"
)

// Condition types of a ClusterLink that gateways don't have. The last three
// appear only on a link into a customer's project.
const (
	ConditionLegAttached             = "LegAttached"
	ConditionRouteInstalled          = "RouteInstalled"
	ConditionReverseRoutesInstalled  = "ReverseRoutesInstalled"
	ConditionTenantIsolationAttested = "TenantIsolationAttested"
	ConditionCredentialsResolved     = "CredentialsResolved"
	ConditionTransitNetworkShared    = "TransitNetworkShared"
)

// Reasons of a ClusterLink's conditions.
const (
	ReasonRouterResolve              = "RouterResolveFailed"
	ReasonAllocation                 = "AllocationFailed" // no transit IP is free
	ReasonTransitLegPort             = "EnsureTransitLegPortFailed"
	ReasonRouterHasPort              = "EnsureRouterHasPortFailed"
	ReasonTransitIPMismatch          = "TransitIPMismatch"
	ReasonGatewayRouterNotConfigured = "GatewayRouterNotConfigured"
	ReasonReverseRoutes              = "EnsureReverseRoutesFailed"
	ReasonSecretName                 = "SecretNameNotAllowed"
	ReasonCredentialsProject         = "CredentialsProjectMismatch"
	ReasonCredentialsAreOperators    = "CredentialsAreOperatorProject"
)

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

	ReasonAttested             = "Attested"
	ReasonAttestationMissing   = "AttestationMissing"
	ReasonAttestationMalformed = "AttestationMalformed"

	ReasonResolved                = "Resolved"
	ReasonSecretName              = "SecretNameNotAllowed"
	ReasonSecretNotFound          = "SecretNotFound"   // or no such entry of clouds.yaml
	ReasonSecretIncomplete        = "SecretIncomplete" // it is no credential
	ReasonAuthentication          = "AuthenticationFailed"
	ReasonCredentialsUnscoped     = "CredentialsUnscoped"
	ReasonCredentialsProject      = "CredentialsProjectMismatch"
	ReasonCredentialsAreOperators = "CredentialsAreOperatorProject"
	ReasonRoleMissing             = "RoleMissing"

	ReasonShared                 = "Shared"
	ReasonSharedByOthers         = "SharedByOthers" // used, and never taken back
	ReasonShareRefused           = "ShareRefused"
	ReasonTransitNetworkNotOwned = "TransitNetworkNotOwned"

	ReasonCustomerSideUnreachable = "CustomerSideUnreachable" // on deletion: everything is left
	ReasonAbandoned               = "Abandoned"
)

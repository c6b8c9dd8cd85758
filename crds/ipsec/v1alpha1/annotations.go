package v1alpha1

// Annotations by which people say what no field does.
const (
	// AnnotationAttested is on a ClusterLink into a customer's project: who has checked
	// that the project named by customerProjectID may be joined to the transit network, and
	// when. It reads <who>; <RFC 3339 date>: 1 to 200 printable characters without a
	// semicolon, then a full-date or a date-time. Without it nothing is made for the link.
	AnnotationAttested = "ipsec.bnerd.net/tenant-isolation-attested"
	// AnnotationAbandon with the value true lets such a ClusterLink go although the
	// customer's credential no longer works: our own side is removed, and what is in the
	// customer's project stays there. It is "true" or "false", the default.
	AnnotationAbandon = "ipsec.bnerd.net/abandon-customer-side"
	// AnnotationLinks is on a VPNGateway or an IPsecGateway: names of ClusterLinks into
	// customers' projects, separated by commas, that get routes back to the gateway for its
	// reverse exposures. Without it none of them does. ClusterLinks of our own project
	// reach every gateway with reverse exposures.
	AnnotationLinks = "ipsec.bnerd.net/cluster-links"
)

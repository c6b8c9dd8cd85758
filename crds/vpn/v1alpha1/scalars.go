package v1alpha1

// Label is a name of at most 63 lower-case letters, digits and hyphens.
//
// +kubebuilder:validation:Pattern=`^[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?$`
// +kubebuilder:validation:MaxLength=63
type Label string

// Proposal is a crypto proposal from the approved list.
//
// +kubebuilder:validation:Enum=aes256-sha256-ecp256;aes256-sha512-ecp384;aes256gcm16-prfsha384-ecp384;aes256gcm16-prfsha256-ecp256
type Proposal string

// Lifetime is a whole number followed by s, m or h, such as 86400s: a year at most.
//
// +kubebuilder:validation:Pattern=`^[0-9]+[smh]$`
// +kubebuilder:validation:MaxLength=12
// +kubebuilder:validation:XValidation:rule="!self.matches('^[0-9]+[smh]$') || int(self.substring(0, self.size() - 1)) <= (self.endsWith('s') ? 31622400 : self.endsWith('m') ? 527040 : 8784)",message="longer than a year"
type Lifetime string

// Identity is an IKE identity: FQDN, address or e-mail style, without white
// space or braces. It is that of one peer, never a range or everybody's.
//
// +kubebuilder:validation:Pattern=`^[A-Za-z0-9.@:_-]+$`
// +kubebuilder:validation:XValidation:rule="!self.matches('^[0:.]+$|^[0-9]+([.][0-9]+){3}-[0-9.]+$|^[0-9A-Fa-f.]*:[0-9A-Fa-f:.]*-[0-9A-Fa-f:.]+$|^(?i:ipv[46](net|range)?|asn1[dg]n):')",message="an identity must be that of one peer, not any, a range or a network"
// +kubebuilder:validation:MaxLength=253
type Identity string

// Address is an IPv4 address in dotted form.
//
// +kubebuilder:validation:Pattern=`^$|^((25[0-5]|2[0-4][0-9]|1[0-9]{2}|[1-9]?[0-9])\.){3}(25[0-5]|2[0-4][0-9]|1[0-9]{2}|[1-9]?[0-9])$`
// +kubebuilder:validation:MaxLength=15
// +kubebuilder:validation:XValidation:rule="!self.matches('^(0|127|169[.]254|22[4-9]|2[3-5][0-9])[.]')",message="not the address of a host that can be reached"
type Address string

// AutoAddress is an IPv4 address, or auto to have one assigned.
//
// +kubebuilder:validation:Pattern=`^$|^auto$|^((25[0-5]|2[0-4][0-9]|1[0-9]{2}|[1-9]?[0-9])\.){3}(25[0-5]|2[0-4][0-9]|1[0-9]{2}|[1-9]?[0-9])$`
// +kubebuilder:validation:MaxLength=15
// +kubebuilder:validation:XValidation:rule="!self.matches('^(0|127|169[.]254|22[4-9]|2[3-5][0-9])[.]')",message="not the address of a host that can be reached"
type AutoAddress string

// CIDR is an IPv4 network such as 192.168.10.0/24.
//
// +kubebuilder:validation:Pattern=`^((25[0-5]|2[0-4][0-9]|1[0-9]{2}|[1-9]?[0-9])\.){3}(25[0-5]|2[0-4][0-9]|1[0-9]{2}|[1-9]?[0-9])/(3[0-2]|[12]?[0-9])$`
// +kubebuilder:validation:MaxLength=18
// +kubebuilder:validation:XValidation:rule="!self.matches('^(0|127)[.].*/([89]|..)$|^169[.]254[.].*/(1[6-9]|[23].)$')",message="a network where no host can be reached"
// +kubebuilder:validation:XValidation:rule="!self.matches('^(22[4-9]|2[3-5][0-9])[.].*/([4-9]|..)$')",message="a network where no host can be reached"
type CIDR string

// ServiceCIDR is an IPv4 /24 without host bits, such as 100.64.3.0/24.
//
// +kubebuilder:validation:Pattern=`^$|^((25[0-5]|2[0-4][0-9]|1[0-9]{2}|[1-9]?[0-9])\.){3}0/24$`
// +kubebuilder:validation:MaxLength=18
// +kubebuilder:validation:XValidation:rule="!self.matches('^(0|127)[.].*/([89]|..)$|^169[.]254[.].*/(1[6-9]|[23].)$')",message="a network where no host can be reached"
// +kubebuilder:validation:XValidation:rule="!self.matches('^(22[4-9]|2[3-5][0-9])[.].*/([4-9]|..)$')",message="a network where no host can be reached"
type ServiceCIDR string

// SecretKeyRef names one key of a Secret in the object's own namespace.
type SecretKeyRef struct {
	// Name of the Secret.
	//
	// +kubebuilder:validation:Pattern=`^[a-z0-9]([a-z0-9-]*[a-z0-9])?(\.[a-z0-9]([a-z0-9-]*[a-z0-9])?)*$`
	// +kubebuilder:validation:MaxLength=253
	Name string `json:"name"`
	// Key within the Secret.
	//
	// +kubebuilder:validation:Pattern=`^[.]?[-_a-zA-Z0-9][-._a-zA-Z0-9]*$`
	// +kubebuilder:validation:MaxLength=253
	Key string `json:"key"`
}

// Endpoint says which public address a gateway answers on.
type Endpoint struct {
	// FloatingIPPool is the external network, by ID or by name, that a floating
	// IP is allocated from. Default: the pool that the Estate names. A change
	// after creation has no effect.
	//
	// +kubebuilder:validation:Pattern=`^$|^[^\s[:cntrl:]]([^[:cntrl:]]*[^\s[:cntrl:]])?$`
	// +kubebuilder:validation:MaxLength=255
	FloatingIPPool string `json:"floatingIPPool,omitempty"`
	// FloatingIP pins an existing floating IP of the project instead of
	// allocating one. It stays the customer's: never tagged, never released.
	FloatingIP Address `json:"floatingIP,omitempty"`
}

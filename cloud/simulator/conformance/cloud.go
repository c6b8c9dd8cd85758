package conformance

// A Cloud is what the suite runs against: three users of it and the names of
// what it must hold already.
type Cloud struct {
	AuthURL string // of Keystone, ending in /v3

	Operator Credential // member of the project that owns all that follows
	Admin    Credential // has the admin role in the same project
	Customer Credential // member of another project
	Password Password   // by which the same customer logs in too

	Network string   // the operator's, with one IPv4 subnet
	Router  string   // the operator's: an interface there, a gateway to Pool
	Pool    string   // external network
	Nodes   []string // at least two servers of the operator's
}

// A Password is that of a user in the domain Default.
type Password struct {
	User, Word string
	Project    string // its name
}

// A Credential is an application credential.
type Credential struct {
	ID, Secret string
}

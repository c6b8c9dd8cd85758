package cloud

// Side is the customer's side of a link into another project, as it was looked at with the
// customer's credential.
type Side struct {
	Project    string           // the customer's; of a link that was made, that of its ledger
	Credential string           // whose it is, for people: "secret acme/clusterlink-north"
	Fault      *CredentialError // why it can't be looked at; nil: it was
}

// ReasonPending is that of a condition which nobody can tell yet: of a credential, whether
// it is good.
const ReasonPending = "Pending"

// CredentialError is why a customer's credential can't be used. It concerns one link and
// nobody else, and holds no part of the credential.
type CredentialError struct {
	Reason  string // that of the link's condition
	Message string
	Hint    string

	// Passing: nothing is wrong with the credential as far as is known, and what failed may
	// go well at another time. No side is left behind for it.
	Passing bool
}

func (e *CredentialError) Error() string { return e.Message }

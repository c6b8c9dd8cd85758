package cloud

import "time"

// Manifest is a gateway, peer or link as a cluster holds it, with what its people wrote
// and what was said of it.
type Manifest struct {
	Kind, Namespace, Name string
	UID                   string
	Version               string // resourceVersion
	Generation            int64  // counts the edits of its spec
	Created               time.Time
	Deleting              bool
	Held                  bool   // it carries our finalizer
	Estate                string // that its label names; empty: none
	JSON                  []byte // as it was written: without a status and what the server counts
	Status                []byte // JSON of its status, nil without one
}

// Status is what is to be said of a manifest. What it leaves out stays as it is.
type Status struct {
	Fields     map[string]any // of the status, as JSON has them
	Conditions []Condition
}

// Condition is one statement about a manifest, without its history: the generation and
// the time of the last change are kept by whoever writes it down.
type Condition struct {
	Type    string
	Status  string // True, False or Unknown
	Reason  string
	Message string
}

// Happening is something to be told of a manifest, as a Kubernetes Event.
type Happening struct {
	Warning bool
	Reason  string // one word: PortReady
	Message string
}

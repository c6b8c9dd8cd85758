package reconcile

import "github.com/vpnctl/vpnctl/cloud"

// Decide plans from what was seen alone, without drivers.
func Decide(in Input, seen *cloud.Observation) *Result { return prepare(in, seen).result() }

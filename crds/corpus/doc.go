// Package corpus holds objects of the four kinds that a cluster serves, with what an
// API server answers to each: at least one that is refused by each rule of the
// definitions, and one that is accepted beside it. Tests put them before the API
// server's own code, before a real API server and before validation, which have to
// agree; the binary doesn't hold them.
//
// Each archive of testdata has company.yaml, what validation wants beside an object,
// subject.yaml, an object without fault, and cases named by a sentence. A case is
// edits of the subject, one a line, and the reasons (~) for which the result is
// refused, in their order; without one it is accepted:
//
//	spec.protocol: openvpn              sets a field, to a value in YAML
//	- spec.ipsec.ike                    removes a field, or an entry of a list
//	64 spec.gatewayRef: a               repeats a text, or the entries of a list, in
//	191 spec.exposures: [{name: e%}]    which % is the number of the repetition
//	was spec.protocol: wireguard        edits what the object was: then it is an update
package corpus

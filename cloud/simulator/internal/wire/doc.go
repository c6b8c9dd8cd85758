// Package wire holds what the simulated services share: a request once it is parsed, the answer before it is
// sent, and errors in the shape of each service. The server makes requests and sends answers; the services
// between them are functions from the one to the other.
package wire

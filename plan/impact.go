package plan

import "fmt"

// Impact is what a change does to tunnels, from nothing to what a customer must
// follow.
type Impact int

// The impacts, in rising order.
const (
	ImpactNone      Impact = iota // no packet notices
	ImpactReload                  // configuration reload, tunnels stay up
	ImpactReconnect               // named tunnels renegotiate
	ImpactRestart                 // the pod rolls: every tunnel of the gateway is down for about a minute
	ImpactCustomer                // the other side must change its configuration
)

var impacts = []string{"none", "reload", "reconnect", "restart", "customer"}

// String is the impact's name.
func (i Impact) String() string {
	if i < 0 || int(i) >= len(impacts) {
		return fmt.Sprintf("impact(%d)", int(i))
	}
	return impacts[i]
}

// MarshalText writes the name.
func (i Impact) MarshalText() ([]byte, error) { return []byte(i.String()), nil }

// UnmarshalText reads a name; an unknown one is an error.
func (i *Impact) UnmarshalText(text []byte) error {
	for n, name := range impacts {
		if name == string(text) {
			*i = Impact(n)
			return nil
		}
	}
	return fmt.Errorf("impact %q is not one of %v", text, impacts)
}

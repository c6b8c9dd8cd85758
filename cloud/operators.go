package cloud

import (
	"github.com/vpnctl/vpnctl/plan/alloc"
	"github.com/vpnctl/vpnctl/plan/vpn"
)

// operators are the gateways that files tell of, and those that were seen besides. Who
// could see nothing has said why already.
func (s Scope) operators(seen []*Observation) Operators {
	o := Operators{Told: map[vpn.Owner]bool{}, Stopped: s.OperatorStopped}
	add := func(g alloc.Operated) {
		if !o.Told[g.Owner] {
			o.Gateways = append(o.Gateways, g)
		}
	}
	for _, g := range s.Operated {
		add(g)
		o.Told[g.Owner] = true
	}
	for _, side := range seen {
		if side == nil {
			continue
		}
		o.Stopped = o.Stopped || side.OperatorStopped
		for _, g := range side.Operated {
			add(g)
		}
	}
	return o
}

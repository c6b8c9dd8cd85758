package neutron

import (
	"time"

	"github.com/vpnctl/vpnctl/cloud/simulator/internal/store"
)

// Later says how long after a call the cloud does what it does by itself. A delay of 0 stands for: once one
// read has seen the state before, so that the next one sees the state after it.
type Later struct {
	Detach time.Duration // a port leaves its server
	Status time.Duration // a floating IP's status follows its association
}

func schedule(db *store.DB, kind, target string, now time.Time, delay time.Duration) {
	p := &store.Pending{Kind: kind, Target: target}
	if delay > 0 {
		p.Due = now.Add(delay)
	}
	db.Pendings.Put(p)
}

// ScheduleDetach has a port leave its server a while from now.
func (l Later) ScheduleDetach(db *store.DB, port string, now time.Time) {
	schedule(db, store.PendingDetach, port, now, l.Detach)
}

// Settle does what is due. seen tells which objects the call that comes now will read.
func Settle(db *store.DB, now time.Time, seen func(kind, target string) bool) {
	for p := range db.Pendings.All() {
		switch {
		case !p.Due.IsZero() && !now.Before(p.Due), p.Due.IsZero() && p.Seen && seen(p.Kind, p.Target):
			settle(db, p, now)
		case p.Due.IsZero() && !p.Seen && seen(p.Kind, p.Target):
			next := *p
			next.Seen = true
			db.Pendings.Put(&next)
		}
	}
}

// SettleAll does everything that is under way, as if enough time had gone by.
func SettleAll(db *store.DB, now time.Time) {
	for p := range db.Pendings.All() {
		settle(db, p, now)
	}
}

func settle(db *store.DB, p *store.Pending, now time.Time) {
	db.Pendings.Delete(p.Key())
	stamp := now.UTC().Format(timeFormat)
	if p.Kind == store.PendingDetach {
		if port, ok := db.Ports.Get(p.Target); ok {
			Unbind(db, port, stamp)
		}
		return
	}
	f, ok := db.FloatingIPs.Get(p.Target)
	if !ok {
		return
	}
	next := *f
	next.Status = "DOWN"
	if f.PortID != nil {
		next.Status = "ACTIVE"
	}
	if next.Status == f.Status {
		return
	}
	next.RevisionNumber++
	next.UpdatedAt = stamp
	db.FloatingIPs.Put(&next)
}

// Unbind takes a port off its server. A port that Nova made is deleted.
func Unbind(db *store.DB, p *store.Port, stamp string) {
	if p.NovaMade {
		removePort(db, p, stamp)
		return
	}
	next := *p
	next.DeviceID, next.DeviceOwner, next.Status = "", "", "DOWN"
	next.HostID, next.VIFType, next.VIFDetails = "", "unbound", nil
	next.RevisionNumber++
	next.UpdatedAt = stamp
	db.Ports.Put(&next)
}

// removePort deletes a port with what hangs on it: its floating IPs lose their association.
func removePort(db *store.DB, p *store.Port, stamp string) {
	on := db.FloatingIPsOn(p.ID)
	db.Ports.Delete(p.ID)
	db.Pendings.Delete(store.PendingDetach + "/" + p.ID)
	for _, f := range on {
		next := *f
		next.PortID, next.FixedIPAddress, next.RouterID, next.Status = nil, nil, nil, "DOWN"
		next.RevisionNumber++
		next.UpdatedAt = stamp
		db.FloatingIPs.Put(&next)
	}
}

package frontier

import (
	"net/netip"
	"time"

	"anatomy/vocab"
)

// A Lease is the right to fetch some URLs of one host. It counts at the host's site and address.
type Lease struct {
	Host    *Host
	address *Address // nil if not known
}

// Start grants a lease of a host returned by Next, with the data about the site that the crawler
// needs.
func (f *Frontier) Start(h *Host) (*Lease, vocab.Lease) {
	s := h.site
	s.leases++
	l := &Lease{Host: h}
	f.enter(l, h.address)
	return l, vocab.Lease{
		Host: h.Name, Site: s.name, Delay: s.delay(), FixedDelay: s.limits.Delay != 0,
	}
}

// Requeue offers a host returned by Next, and its site.
func (f *Frontier) Requeue(h *Host) {
	f.Offer(h)
	f.offerSite(h.site)
}

// Pass offers the site of a host returned by Next, but not the host: the caller offers it when one
// of its documents in flight is completed.
func (f *Frontier) Pass(h *Host) { f.offerSite(h.site) }

// BoundsAddresses reports whether leases are bounded by address.
func (f *Frontier) BoundsAddresses() bool { return f.o.PerAddress > 0 }

// Admit records the addresses of a lease's host, and reports whether the lease may be used. If the
// maximum number of hosts of that address are leased, the lease must be released unused; the host
// then waits until another one is released.
func (f *Frontier) Admit(now time.Time, l *Lease, addrs []netip.Addr) bool {
	if len(addrs) == 0 || !f.BoundsAddresses() {
		return true
	}
	name := addressOf(addrs)
	a := f.addresses[name]
	if a == nil {
		a = &Address{name: name, all: f.o.Addresses}
		f.addresses[name] = a
	}
	if l.Host.address = a; l.address == a {
		return true
	}
	f.leave(now, l)
	return f.enter(l, a)
}

// enter counts a lease at an address, if that has room and is known. Another frontier may take the
// room after [Address.crowded]: then Admit tries again, before the first request.
func (f *Frontier) enter(l *Lease, a *Address) bool {
	if a == nil || !f.o.Addresses.enter(a.name, f.o.PerAddress) {
		return false
	}
	l.address = a
	return true
}

// Release ends a lease and learns from its report.
func (f *Frontier) Release(now time.Time, l *Lease, report *vocab.HostReport) {
	l.Host.site.leases--
	l.Host.site.learn(now, report)
	l.Host.learn(report)
	f.leave(now, l)
	f.Requeue(l.Host)
}

// leave uncounts a lease at its address and offers hosts that wait for the address: as many as it
// has room for that wait for nothing else, and those before them. If no lease is left that could
// offer others later, it offers all.
func (f *Frontier) leave(now time.Time, l *Lease) {
	a := l.address
	if a == nil {
		return
	}
	l.address = nil
	f.o.Addresses.leave(a.name)
	f.freed++
	f.offerParked(now, a)
}

func (f *Frontier) offerParked(now time.Time, a *Address) {
	leases := f.o.Addresses.count(a.name)
	for room := f.o.PerAddress - leases; (room > 0 || leases == 0) && len(a.parked) > 0; {
		h := a.parked[0]
		a.parked = a.parked[1:]
		h.parked = false
		f.Offer(h)
		if h.pos.index > 0 && !h.site.freeAt.After(now) && !h.retryAt.After(now) {
			room--
		}
	}
	if len(a.parked) == 0 {
		delete(f.crowded, a)
	}
}

// offerFreed offers hosts that wait for an address if leases of other frontiers have ended.
func (f *Frontier) offerFreed(now time.Time) {
	left := f.o.Addresses.left.Load()
	if left == f.freed {
		return
	}
	f.freed = left
	for a := range f.crowded {
		f.offerParked(now, a)
	}
}

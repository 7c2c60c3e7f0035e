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

// Start grants a lease of a host that Next returned, and returns it together with what the crawler
// has to know about the site.
func (f *Frontier) Start(h *Host) (*Lease, vocab.Lease) {
	s := h.site
	s.leases++
	l := &Lease{Host: h}
	l.enter(h.address)
	return l, vocab.Lease{
		Host: h.Name, Site: s.name, Delay: s.delay(), FixedDelay: s.limits.Delay != 0,
	}
}

// Requeue offers a host that Next returned, with its site.
func (f *Frontier) Requeue(h *Host) {
	f.Offer(h)
	f.offerSite(h.site)
}

// Pass offers the site of a host that Next returned, but not the host: its caller offers it when
// one of its documents in flight is completed.
func (f *Frontier) Pass(h *Host) { f.offerSite(h.site) }

// BoundsAddresses reports whether leases are bounded by address.
func (f *Frontier) BoundsAddresses() bool { return f.o.PerAddress > 0 }

// Admit records the addresses of a lease's host, and reports whether the lease may be used. If as
// many hosts of that address are leased as may be, it is to be released unused; the host waits then
// until one of the others is released.
func (f *Frontier) Admit(now time.Time, l *Lease, addrs []netip.Addr) bool {
	if len(addrs) == 0 || !f.BoundsAddresses() {
		return true
	}
	name := addressOf(addrs)
	a := f.addresses[name]
	if a == nil {
		a = &Address{name: name}
		f.addresses[name] = a
	}
	if l.Host.address = a; l.address == a {
		return true
	}
	f.leave(now, l)
	if a.crowded(f.o.PerAddress) {
		return false
	}
	l.enter(a)
	return true
}

func (l *Lease) enter(a *Address) {
	if l.address = a; a != nil {
		a.leases++
	}
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
// has room for and that wait for nothing else, and those before them. If no lease is left that
// could offer others later, it offers all.
func (f *Frontier) leave(now time.Time, l *Lease) {
	a := l.address
	if a == nil {
		return
	}
	l.address = nil
	a.leases--
	for room := f.o.PerAddress - a.leases; (room > 0 || a.leases == 0) && len(a.parked) > 0; {
		h := a.parked[0]
		a.parked = a.parked[1:]
		h.parked = false
		f.Offer(h)
		if h.spot.index > 0 && !h.site.freeAt.After(now) && !h.retryAt.After(now) {
			room--
		}
	}
}

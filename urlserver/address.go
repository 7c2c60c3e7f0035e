package urlserver

import (
	"net/netip"
	"slices"
	"time"
)

// Many domains may be one machine: a small server has thousands of them at one address. Each is asked
// politely, and all together are what it has to bear. So of the hosts at one address no more are read at a
// time than Options.PerAddress. With a delay to keep that bounds its requests to so many for each
// delay. The addresses of a large network serve thousands of sites, too, and would bear more;
// such networks have many addresses, and a crawl that is meant for one of them raises the bound.
//
// What address a host has is known when it was resolved, so it is told for each lease before
// anything is asked ([Server.Reach]), and the first lease of a host may be refused then. From there on Take
// sees to it.

// An address is one machine as others see it. A nil one is not known yet, and bounds nothing.
type address struct {
	name   netip.Addr
	leases int
	parked []*host // whose turn came while too many were read, in that order
}

// addressOf is the address that stands for all of a host's: the least, in whatever order they came. Of
// IPv6 it is the network of 64 bits, which one machine usually has to itself.
func addressOf(addrs []netip.Addr) netip.Addr {
	a := slices.MinFunc(addrs, netip.Addr.Compare).Unmap()
	if a.Is6() {
		p, _ := a.WithZone("").Prefix(64) // of 128 bits it is no error
		a = p.Addr()
	}
	return a
}

// BoundsAddresses says whether Reach is to be asked.
func (s *Server) BoundsAddresses() bool { return s.o.PerAddress > 0 }

// Reach tells what addresses the host of a lease has. It gives false where as many hosts as may be are read there:
// the lease is to be given back untouched, and its host waits until there is room.
func (s *Server) Reach(id uint64, addrs []netip.Addr) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	l := s.leases[id]
	if l == nil || len(addrs) == 0 || !s.BoundsAddresses() {
		return true
	}
	a := s.frontier.address(addressOf(addrs))
	if l.host.address = a; l.address == a {
		return true
	}
	s.frontier.leave(l, s.now)
	if s.frontier.crowded(a) {
		return false
	}
	l.enter(a)
	return true
}

// enter counts a lease at an address.
func (l *lease) enter(a *address) {
	if l.address = a; a != nil {
		a.leases++
	}
}

func (f *frontier) address(name netip.Addr) *address {
	a := f.byAddress[name]
	if a == nil {
		a = &address{name: name}
		f.byAddress[name] = a
	}
	return a
}

// crowded says whether no more hosts may be read at an address.
func (f *frontier) crowded(a *address) bool {
	return a != nil && f.o.PerAddress > 0 && a.leases >= f.o.PerAddress
}

// park has a host wait for its address.
func (f *frontier) park(h *host) {
	h.parked = true
	h.address.parked = append(h.address.parked, h)
}

// leave takes a lease off its address, and puts hosts forward that wait for that: as many as there is room for and have
// to wait for nothing else, and those before them. Where no lease is left, which would put others forward, all.
func (f *frontier) leave(l *lease, now time.Time) {
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
		f.offer(h)
		if h.spot.index > 0 && !h.site.at.After(now) && !h.retryAt.After(now) {
			room--
		}
	}
}

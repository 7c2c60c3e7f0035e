package frontier

import (
	"net/netip"
	"slices"
	"sync"
	"sync/atomic"
)

// An Address identifies a machine. One machine may serve many domains: a small server may have
// thousands at one address. Although each is crawled politely, the machine bears the total load. So
// at most Options.PerAddress hosts of one address are leased at a time, which bounds the requests
// to the machine per delay. Large networks have many addresses, and a crawl of one of them can
// raise the bound.
//
// The addresses of a host are known once its name is resolved, so the crawler reports them for each
// lease before its first request ([Frontier.Admit]), and the first lease of a host may then be
// refused. Later leases of the host are granted only when its address has room.
type Address struct {
	name   netip.Addr
	all    *Addresses
	parked []*Host // hosts whose turn came while the bound was reached, in that order
}

// Addresses count the leases at each address, over all frontiers that share them.
type Addresses struct {
	mu     sync.Mutex
	leases map[netip.Addr]int // guarded by mu
	left   atomic.Uint64      // leases that have ended
}

// NewAddresses returns Addresses without leases.
func NewAddresses() *Addresses { return &Addresses{leases: map[netip.Addr]int{}} }

// enter counts a lease, unless most leases are counted already; most 0 means no bound.
func (a *Addresses) enter(name netip.Addr, most int) bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	if most > 0 && a.leases[name] >= most {
		return false
	}
	a.leases[name]++
	return true
}

func (a *Addresses) leave(name netip.Addr) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.leases[name]--; a.leases[name] == 0 {
		delete(a.leases, name)
	}
	a.left.Add(1)
}

func (a *Addresses) count(name netip.Addr) int {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.leases[name]
}

// addressOf returns the address that represents a host: the least, which does not depend on their
// order. For IPv6 it is the /64 network, which usually belongs to one machine.
func addressOf(addrs []netip.Addr) netip.Addr {
	a := slices.MinFunc(addrs, netip.Addr.Compare).Unmap()
	if a.Is6() {
		p, _ := a.WithZone("").Prefix(64) // never fails for 128 bits
		a = p.Addr()
	}
	return a
}

// crowded reports whether the maximum of most hosts at a is reached. A nil address is unknown and
// never crowded.
func (a *Address) crowded(most int) bool {
	return a != nil && most > 0 && a.all.count(a.name) >= most
}

// park makes h wait until a lease at its address ends.
func (a *Address) park(h *Host) {
	h.parked = true
	a.parked = append(a.parked, h)
}

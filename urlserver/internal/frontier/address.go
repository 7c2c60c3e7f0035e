package frontier

import (
	"net/netip"
	"slices"
)

// An Address is one machine as the network shows it. Many domains may be served by one machine: a
// small server may have thousands of them at one address. Each is asked politely, and the machine
// has to bear the sum. So at most Options.PerAddress hosts of one address are leased at a time;
// with a delay that bounds the requests of all of them to as many per delay. Large networks have
// many addresses, and a crawl of one of them can raise the bound.
//
// The addresses of a host are known once its name is resolved, so the crawler reports them for each
// lease before its first request ([Frontier.Admit]). The first lease of a host may be refused then;
// afterwards the frontier knows the address.
type Address struct {
	name   netip.Addr
	leases int
	parked []*Host // hosts whose turn came while the bound was reached, in that order
}

// addressOf returns the address that is taken for all of a host's: the least, which does not depend
// on their order. For IPv6 it is the /64 network, which one machine usually has to itself.
func addressOf(addrs []netip.Addr) netip.Addr {
	a := slices.MinFunc(addrs, netip.Addr.Compare).Unmap()
	if a.Is6() {
		p, _ := a.WithZone("").Prefix(64) // never fails for 128 bits
		a = p.Addr()
	}
	return a
}

// crowded reports whether no more than most hosts may be leased at a, and are. A nil address is not
// known yet and is never crowded.
func (a *Address) crowded(most int) bool { return a != nil && most > 0 && a.leases >= most }

// park makes h wait until a lease at its address ends.
func (a *Address) park(h *Host) {
	h.parked = true
	a.parked = append(a.parked, h)
}

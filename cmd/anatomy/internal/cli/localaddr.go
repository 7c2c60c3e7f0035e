package cli

import (
	"errors"
	"fmt"
	"net"
	"net/netip"
)

// LocalAddr parses an address of this machine to connect from; "" is the zero value, for the system's
// choice. It fails for an address that the machine does not have: a data folder may have come from
// another one. IPv6 addresses are refused, as the crawler prefers IPv4 for hosts that have both.
func LocalAddr(text string) (netip.Addr, error) {
	if text == "" {
		return netip.Addr{}, nil
	}
	addr, err := netip.ParseAddr(text)
	if err != nil {
		return addr, fmt.Errorf("%q is not an address", text)
	}
	if !addr.Is4() {
		return addr, fmt.Errorf("%s is not an IPv4 address", addr)
	}
	listener, err := net.Listen("tcp", netip.AddrPortFrom(addr, 0).String())
	if err != nil {
		return addr, fmt.Errorf(`this machine cannot connect from %s; name another address, or "" for the system's choice: %w`, addr, errors.Unwrap(err))
	}
	return addr, listener.Close()
}

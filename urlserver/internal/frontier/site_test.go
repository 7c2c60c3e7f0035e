package frontier

import (
	"net/netip"
	"testing"
)

// TestSiteOf: a host in SiteLimits is a site with all hosts below it.
func TestSiteOf(t *testing.T) {
	o := Options{SiteLimits: map[string]SiteLimits{"own.a.test": {}, "b.test": {}, "shared.test": {}}}
	for host, want := range map[string]string{
		"a.test": "a.test", "www.a.test": "a.test", "own.a.test": "own.a.test", "deep.own.a.test": "own.a.test", "xown.a.test": "a.test",
		"b.test": "b.test", "www.b.test": "b.test", "one.shared.test": "shared.test", "127.0.0.1": "127.0.0.1",
	} {
		if got := o.siteOf(host); got != want {
			t.Errorf("the site of %s is %s, want %s", host, got, want)
		}
	}
}

// TestAddressNetworks: IPv6 addresses count by network, and both forms of an IPv4 address are one.
func TestAddressNetworks(t *testing.T) {
	for a, want := range map[string]string{"192.0.2.1": "192.0.2.1", "::ffff:192.0.2.1": "192.0.2.1", "2001:db8:1:2:3::4": "2001:db8:1:2::", "fe80::1%eth0": "fe80::"} {
		if got := addressOf([]netip.Addr{netip.MustParseAddr(a)}); got.String() != want {
			t.Errorf("%s counts as %s, want %s", a, got, want)
		}
	}
}

package urlserver

import (
	"fmt"
	"net/netip"
	"strings"
	"testing"
	"time"

	"github.com/cockroachdb/pebble/v2/vfs"
	"pgregory.net/rapid"

	"anatomy/vocab"
	"anatomy/weburl"
)

var (
	shared = netip.MustParseAddr("192.0.2.1")
	other  = netip.MustParseAddr("192.0.2.2")
)

// TestPerAddress: at most PerAddress hosts of one address are leased at a time, from the first lease
// on; the status of the others says what they wait for.
func TestPerAddress(t *testing.T) {
	b := newBench(t, Options{PerAddress: 2, LeaseSize: 1, Policy: BreadthFirst})
	b.seed("http://a.test/1", "http://b.test/2", "http://c.test/3", "http://d.test/4")
	l1, l2, l3, l4 := b.take("http://a.test/1"), b.take("http://b.test/2"), b.take("http://c.test/3"), b.take("http://d.test/4")
	for l, want := range map[*vocab.Lease]bool{&l1: true, &l2: true, &l4: true} {
		at := []netip.Addr{other, shared} // the least one counts, in any order
		if l == &l4 {
			at = []netip.Addr{other}
		}
		if got := b.s.Admit(l.ID, at); got != want {
			t.Errorf("Reach of lease %d: %v", l.ID, got)
		}
	}
	if !b.s.Admit(l1.ID, []netip.Addr{shared}) {
		t.Error("a lease is not counted twice")
	}
	if b.s.Admit(l3.ID, []netip.Addr{shared}) {
		t.Error("the third host at an address is not to be read")
	}
	b.release(l3, vocab.HostReport{})
	b.done(Result{Doc: 3, Outcome: vocab.Skipped})
	b.pass(time.Hour)
	b.none(maxWait)
	var why string
	for _, h := range b.s.Outlook(b.now, 10).Hosts {
		if h.Host == "c.test" {
			why = h.Why
		}
	}
	if want := "2 hosts at its address 192.0.2.1 are read"; why != want || b.s.Stats().Waiting["other hosts at its address are read"] != 1 {
		t.Errorf("c.test waits because %q, want %q; %v", why, want, b.s.Stats().Waiting)
	}
	b.release(l4, vocab.HostReport{}) // at another address
	b.none(maxWait)
	b.release(l2, vocab.HostReport{})
	l3 = b.take("http://c.test/3") // known by now, and counted
	b.link("http://b.test/5")
	b.pass(time.Hour)
	b.none(maxWait)
	if !b.s.Admit(l3.ID, []netip.Addr{other}) { // it has moved
		t.Error("there is room at the other address")
	}
	b.take("http://b.test/5")
}

// TestNoBoundPerAddress: without a delay there is no bound unless PerAddress is set.
func TestNoBoundPerAddress(t *testing.T) {
	for _, c := range []struct {
		o    Options
		want bool
	}{{Options{}, true}, {Options{Delay: -1}, false}, {Options{Delay: -1, PerAddress: 1}, true}, {Options{PerAddress: -1}, false}} {
		if b := newBench(t, c.o); b.s.BoundsAddresses() != c.want {
			t.Errorf("%+v: %v", c.o, !c.want)
		}
	}
}

// TestAddressesEnd draws hosts at few addresses, and releases leases in any order: no address has
// more leases than its bound, and every URL is fetched in the end.
func TestAddressesEnd(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		most := rapid.IntRange(1, 3).Draw(t, "most")
		s, err := Open("data", Options{PerAddress: most, LeaseSize: 2, Scope: weburl.AnyScope, FS: vfs.NewMem(), Policy: drawPolicy(t)})
		if err != nil {
			t.Fatal(err)
		}
		defer s.Close()
		hosts := rapid.SliceOfN(rapid.IntRange(0, 2), 1, 8).Draw(t, "addresses")
		urls := 0
		for i := range hosts {
			var found []Found
			for k := range rapid.IntRange(1, 5).Draw(t, "URLs") {
				u, err := weburl.Parse(fmt.Sprintf("http://www.h%d.test/%d", i, k))
				if err != nil {
					t.Fatal(err)
				}
				found = append(found, Found{URL: u, Seed: true})
			}
			urls += len(found)
			if _, err := s.Add(found); err != nil {
				t.Fatal(err)
			}
		}
		now := epoch
		at := map[netip.Addr]int{}
		type out struct {
			lease    vocab.Lease
			at       netip.Addr
			admitted bool
		}
		var leases []out
		for step := 0; ; step++ {
			if step > 10_000 {
				t.Fatal("it does not end")
			}
			l, wait, ok := s.Grant(now)
			if ok {
				var i int
				fmt.Sscanf(strings.TrimPrefix(l.Host, "www.h"), "%d", &i)
				o := out{lease: l, at: netip.AddrFrom4([4]byte{192, 0, 2, byte(hosts[i])})}
				if o.admitted = s.Admit(l.ID, []netip.Addr{o.at}); o.admitted {
					at[o.at]++
				}
				if at[o.at] > most {
					t.Fatalf("%d leases at %s", at[o.at], o.at)
				}
				leases = append(leases, o)
				continue
			}
			if len(leases) == 0 {
				if wait == 0 {
					break
				}
				now = now.Add(wait)
				continue
			}
			i := rapid.IntRange(0, len(leases)-1).Draw(t, "back")
			o := leases[i]
			leases = append(leases[:i], leases[i+1:]...)
			var results []Result
			for _, target := range o.lease.URLs {
				r := Result{Doc: target.Doc, Outcome: vocab.Skipped}
				if o.admitted {
					r.Outcome, r.Status = vocab.Fetched, 200
				}
				results = append(results, r)
			}
			if o.admitted {
				at[o.at]--
			}
			if err := s.Release(now, vocab.HostReport{Lease: o.lease.ID}); err != nil {
				t.Fatal(err)
			}
			if err := s.Complete(now, results); err != nil {
				t.Fatal(err)
			}
		}
		if st := s.Stats(); int(st.Outcomes[vocab.Fetched]) != urls {
			t.Fatalf("%d of %d URLs were fetched", st.Outcomes[vocab.Fetched], urls)
		}
	})
}

package bus

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"math/rand/v2"
	"net"
	"os"
	"path/filepath"
	"reflect"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats.go"
)

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// TestJoinLine parses what String returns, and refuses every prefix and every other digit.
func TestJoinLine(t *testing.T) {
	want := JoinLine{[]string{"[2001:db8::1]:4222", "owner.example:4222"}, Crawler, RandomID(), RandomID() + RandomID()}
	s := want.String()
	if got, err := ParseJoinLine(" " + s + "\n"); err != nil || !reflect.DeepEqual(got, want) {
		t.Fatalf("%+v, %v; want %+v", got, err, want)
	}
	for n := range len(s) {
		if _, err := ParseJoinLine(s[:n]); err == nil {
			t.Errorf("%q is accepted", s[:n])
		}
		other := []byte(s)
		other[n]++
		if _, err := ParseJoinLine(string(other)); err == nil {
			t.Errorf("%q is accepted", other)
		}
	}
}

// TestParts splits messages and joins their parts. A message that was cut off is dropped when the next
// one begins.
func TestParts(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	var j joiner
	var s splitter
	for _, n := range []int{0, 1, maxPart - 1, maxPart, maxPart + 1, 3*maxPart + 5} {
		want := make([]byte, n)
		for i := range want {
			want[i] = byte(r.Uint32())
		}
		for whole := range 2 {
			var got []byte
			parts := 0
			err := s.split(want, func(part []byte) error {
				if parts++; whole == 0 && parts > 1 {
					return errors.New("cut off")
				}
				m, err := j.add(bytes.Clone(part))
				got = m
				return err
			})
			if whole == 1 && (err != nil || !bytes.Equal(got, want)) {
				t.Errorf("%d bytes came back as %d, %v", n, len(got), err)
			}
		}
	}
	if err := s.split(make([]byte, MaxMessage+1), func([]byte) error { return nil }); !errors.Is(err, errTooLarge) {
		t.Errorf("a message over the bound: %v", err)
	}
	if _, err := new(joiner).add([]byte{lastPart, 1, 0, 0, 0, 1}); !errors.Is(err, errPart) {
		t.Errorf("a last part alone: %v", err)
	}
}

// TestLostParts loses each part of two messages in turn, with a message of one part between. What was
// not lost is joined, and nothing else.
func TestLostParts(t *testing.T) {
	var s splitter
	var parts [][]byte
	whole := map[string]int{} // index of the last part
	for _, fill := range []string{"a", "b"} {
		message := bytes.Repeat([]byte(fill), 2*maxPart+1)
		for i, m := range [][]byte{message, []byte("beat" + fill)} {
			must(t, s.split(m, func(part []byte) error {
				if i == 0 {
					parts = append(parts, bytes.Clone(part))
				} else { // it overtakes the last part
					parts = slices.Insert(parts, len(parts)-1, bytes.Clone(part))
				}
				return nil
			}))
		}
	}
	all := string(bytes.Repeat([]byte("a"), 2*maxPart+1))
	other := string(bytes.Repeat([]byte("b"), 2*maxPart+1))
	for first := range parts {
		for last := first; last <= len(parts); last++ {
			clear(whole)
			var j joiner
			for i, part := range parts {
				if first <= i && i < last {
					continue
				}
				if m, _ := j.add(bytes.Clone(part)); m != nil {
					whole[string(m)]++
				}
			}
			lost := func(from, to int) bool { return first < last && first < to && from < last }
			want := map[string]int{}
			for text, at := range map[string][2]int{all: {0, 4}, "beata": {2, 3}, other: {4, 8}, "beatb": {6, 7}} {
				gone := lost(at[0], at[1])
				if len(text) > 10 { // the beat is between its parts
					gone = lost(at[0], at[0]+2) || lost(at[1]-1, at[1])
				}
				if !gone {
					want[text] = 1
				}
			}
			if !maps.Equal(whole, want) {
				t.Errorf("without parts %d to %d: %d messages, want %d", first, last, len(whole), len(want))
			}
		}
	}
}

// TestUnfinished begins messages under many names. What is kept of them is bounded, and the latest
// comes whole.
func TestUnfinished(t *testing.T) {
	s := &Server{joiners: map[string]*joiner{}}
	var parts splitter
	message, stop := make([]byte, MaxMessage), errors.New("stop")
	for i := range 5 {
		n := 0
		err := parts.split(message, func(part []byte) error {
			if n++; n == MaxMessage/maxPart {
				return stop
			}
			m, err := s.join(fmt.Sprint(i), part)
			if m != nil {
				t.Error("a message without its end")
			}
			return err
		})
		kept := 0
		for _, j := range s.joiners {
			kept += len(j.message)
		}
		if !errors.Is(err, stop) || kept > maxUnfinished || kept != s.unfinished {
			t.Errorf("%d bytes are kept, %d counted, %v", kept, s.unfinished, err)
		}
	}
	var got []byte
	must(t, parts.split(message, func(part []byte) (err error) {
		got, err = s.join("last", part)
		return err
	}))
	if len(got) != len(message) {
		t.Errorf("%d bytes, want %d", len(got), len(message))
	}
	for id := range s.joiners {
		s.Forget(id)
	}
	if s.unfinished != 0 {
		t.Errorf("%d bytes are counted of nothing", s.unfinished)
	}
}

// TestDamagedKeys cuts and changes the file of keys. The error says what to do.
func TestDamagedKeys(t *testing.T) {
	path := filepath.Join(t.TempDir(), "keys")
	made, err := LoadKeys(path)
	must(t, err)
	again, err := LoadKeys(path)
	must(t, err)
	if !made.New || again.New {
		t.Error("which keys are new is wrong")
	}
	b, err := os.ReadFile(path)
	must(t, err)
	for _, damaged := range [][]byte{nil, b[:len(b)/2], []byte("{}"), bytes.Replace(b, []byte("MI"), []byte("NI"), 1)} {
		must(t, os.WriteFile(path, damaged, 0o600))
		if _, err := LoadKeys(path); err == nil || !strings.Contains(err.Error(), "remove it") {
			t.Errorf("%.30q: %v", damaged, err)
		}
	}
}

// TestBus sends messages both ways over loopback, and has strangers try to.
func TestBus(t *testing.T) {
	keys, err := LoadKeys(filepath.Join(t.TempDir(), "keys"))
	must(t, err)
	s, err := Listen("127.0.0.1:0", keys, slog.New(slog.DiscardHandler))
	must(t, err)
	defer s.Close()
	type received struct {
		id string
		m  []byte
	}
	got := make(chan received, 10)
	must(t, s.Receive(func(id string, m []byte) { got <- received{id, m} }))
	line, log := s.JoinLine(Crawler), slog.New(slog.DiscardHandler)
	down := make(chan []byte, 10)
	_, err = s.SetOwners(nil) // so that the server answers
	must(t, err)
	c, err := Dial(t.Context(), line, log, func(m []byte) { down <- m })
	must(t, err)
	defer c.Close()
	large := bytes.Repeat([]byte("page"), maxPart)
	must(t, c.Send(large))
	if r := <-got; r.id != c.ID || !bytes.Equal(r.m, large) {
		t.Errorf("the owner got %d bytes from %s, want %d from %s", len(r.m), r.id, len(large), c.ID)
	}
	must(t, s.Send(c.ID, large))
	if m := <-down; !bytes.Equal(m, large) {
		t.Errorf("the crawler got %d bytes, want %d", len(m), len(large))
	}

	t.Run("another's subject", func(t *testing.T) {
		stranger, err := Dial(t.Context(), line, log, func([]byte) {})
		must(t, err)
		defer stranger.Close()
		must(t, stranger.conn.Publish("up."+c.ID, []byte{firstPart | lastPart, 0, 0, 0, 0, 'x'}))
		must(t, stranger.conn.Flush())
		must(t, stranger.Send([]byte("mine")))
		if r := <-got; r.id != stranger.ID || string(r.m) != "mine" {
			t.Errorf("the owner got %q from %s", r.m, r.id)
		}
		for _, subject := range []string{ownersSubject, ownersSubject + "." + c.ID} {
			must(t, stranger.conn.Publish(subject, []byte(`["stranger:1"]`)))
		}
		must(t, stranger.conn.Flush())
		for _, subject := range []string{"down." + c.ID, "down.*", ">", "up.*", "asks.*", "asks." + c.ID, "owners." + c.ID, "owners.*"} {
			sub, err := stranger.conn.SubscribeSync(subject)
			must(t, err)
			must(t, stranger.conn.Flush())
			must(t, c.ask(c.conn))
			must(t, s.Send(c.ID, []byte("secret")))
			<-down
			if m, err := sub.NextMsg(50 * time.Millisecond); err == nil {
				t.Errorf("a stranger read %q by %s", m.Data, subject)
			}
		}
	})
	if known := c.dialer.addresses(); len(known) != 1 {
		t.Errorf("a stranger has taught the crawler addresses: %q", known)
	}

	t.Run("wrong token", func(t *testing.T) {
		wrong := line
		wrong.Token = RandomID()
		if _, err := Dial(t.Context(), wrong, log, nil); !errors.Is(err, ErrRefused) {
			t.Errorf("%v, want %v", err, ErrRefused)
		}
	})
	t.Run("other server", func(t *testing.T) {
		wrong := line
		wrong.Authority = RandomID() + RandomID()
		if _, err := Dial(t.Context(), wrong, log, nil); !errors.Is(err, ErrOtherServer) {
			t.Errorf("%v, want %v", err, ErrOtherServer)
		}
	})
	t.Run("no TLS", func(t *testing.T) {
		n, err := nats.Connect("nats://"+line.Addresses[0], nats.UserInfo("crawler."+RandomID(), line.Token), nats.Timeout(time.Second))
		if err == nil {
			n.Close()
			t.Error("a connection without TLS was accepted")
		}
	})
	t.Run("port in use", func(t *testing.T) {
		_, err := Listen(line.Addresses[0], keys, log)
		if err == nil || !strings.Contains(err.Error(), "in use") {
			t.Errorf("%v, want that the address is in use", err)
		}
	})
}

// TestReconnect restarts the owner with the keys of before. The crawler comes back by itself.
func TestReconnect(t *testing.T) {
	path, log := filepath.Join(t.TempDir(), "keys"), slog.New(slog.DiscardHandler)
	keys, err := LoadKeys(path)
	must(t, err)
	s, err := Listen("127.0.0.1:0", keys, log)
	must(t, err)
	line := s.JoinLine(Crawler)
	c, err := Dial(t.Context(), line, log, func([]byte) {})
	must(t, err)
	defer c.Close()
	must(t, s.Close())
	keys, err = LoadKeys(path)
	must(t, err)
	s, err = Listen(line.Addresses[0], keys, log)
	must(t, err)
	defer s.Close()
	got := make(chan []byte, 1)
	must(t, s.Receive(func(_ string, m []byte) { got <- m }))
	<-c.Reconnected()
	must(t, c.Send([]byte("again")))
	if m := <-got; string(m) != "again" {
		t.Errorf("the owner got %q", m)
	}
}

// TestOtherOwner replaces the owner by one at another address. A crawler that has the address, or
// asked for it when it joined, comes there by itself if that one has the same keys, whatever else
// accepts connections.
func TestOtherOwner(t *testing.T) {
	path, log := filepath.Join(t.TempDir(), "keys"), slog.New(slog.DiscardHandler)
	keys, err := LoadKeys(path)
	must(t, err)
	first, err := Listen("127.0.0.1:0", keys, log)
	must(t, err)
	c, err := Dial(t.Context(), first.JoinLine(Crawler), log, func([]byte) {})
	must(t, err)
	defer c.Close()
	deaf, err := net.Listen("tcp", "127.0.0.1:0") // as a suspended machine
	must(t, err)
	defer deaf.Close()
	foreign, err := LoadKeys(path + ".foreign")
	must(t, err)
	stranger, err := Listen("127.0.0.1:0", foreign, log)
	must(t, err)
	defer stranger.Close()
	second, err := Listen("127.0.0.1:0", keys, log)
	must(t, err)
	defer second.Close()
	got := make(chan []byte, 1)
	must(t, second.Receive(func(_ string, m []byte) { got <- m }))
	addresses := []string{second.address, deaf.Addr().String(), stranger.address}
	for _, want := range []bool{true, false} {
		if changed, err := first.SetOwners(append(addresses, "none", first.address)); changed != want || err != nil {
			t.Errorf("the addresses changed: %t, want %t, %v", changed, want, err)
		}
	}
	line := first.JoinLine(Crawler)
	if slices.Sort(addresses); !slices.Equal(line.Addresses, append([]string{first.address}, addresses...)) {
		t.Errorf("the line names %q", line.Addresses)
	}
	line.Addresses = line.Addresses[:1]
	late, err := Dial(t.Context(), line, log, func([]byte) {})
	must(t, err)
	defer late.Close()
	for _, c := range []*Client{c, late} {
		for len(c.dialer.addresses()) != 4 {
			runtime.Gosched()
		}
	}
	must(t, first.Close())
	for _, c := range []*Client{c, late} {
		<-c.Reconnected()
		must(t, c.Send([]byte("again")))
		if m := <-got; string(m) != "again" {
			t.Errorf("the owner got %q", m)
		}
	}
}

// TestAddresses sends a crawler invalid addresses. It keeps those that it knows. Valid ones take the
// place of those sent before; those of the join line and of the last connection stay.
func TestAddresses(t *testing.T) {
	c := &Client{dialer: &dialer{joined: []string{"a:1"}, received: []string{"b:1"}, current: "c:1"}}
	long := strings.Repeat("a", maxAddress) + ":1"
	many, err := json.Marshal(make([]string, maxAddresses+1))
	must(t, err)
	for _, message := range []string{"", "{}", `["a"]`, `["a:1","b:"]`, `[":1"]`, `["a,b:1"]`, `["a\u001b[2J:1"]`, `["a\n:1"]`, `["` + long + `"]`, string(many)} {
		c.learn([]byte(message), slog.New(slog.DiscardHandler))
	}
	if known := c.dialer.addresses(); !slices.Equal(known, []string{"a:1", "b:1", "c:1"}) {
		t.Errorf("after invalid addresses: %q", known)
	}
	c.learn([]byte(`["d:1","a:1"]`), slog.New(slog.DiscardHandler))
	if known := c.dialer.addresses(); !slices.Equal(known, []string{"a:1", "d:1", "c:1"}) {
		t.Errorf("after other addresses: %q", known)
	}
	for address, want := range map[string]string{"h:1": "h:1", "[::1]:2": "[::1]:2", "h:0": "", "h": "", "h:": ""} {
		if got := Reachable(address); got != want {
			t.Errorf("%s is reached at %q, want %q", address, got, want)
		}
	}
}

// TestDialWaits dials an owner that does not listen, until the context ends.
func TestDialWaits(t *testing.T) {
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	l := JoinLine{[]string{"127.0.0.1:1"}, Crawler, RandomID(), RandomID() + RandomID()}
	if _, err := Dial(ctx, l, slog.New(slog.DiscardHandler), nil); err == nil || !strings.Contains(err.Error(), "refused") {
		t.Errorf("%v, want that the connection was refused", err)
	}
}

// FuzzJoiner adds arbitrary parts. A message has at most the bytes of its parts.
func FuzzJoiner(f *testing.F) {
	f.Add([]byte("\x01\x01\x00\x00\x00ab"), []byte("\x02\x02\x00\x00\x00c"), []byte("\x03\x00\x00\x00\x00d"))
	f.Fuzz(func(t *testing.T, a, b, c []byte) {
		var j joiner
		total := 0
		for _, part := range [][]byte{a, b, c} {
			total += len(part)
			if m, err := j.add(part); len(m) > total || err != nil && m != nil {
				t.Errorf("%d bytes from %d, %v", len(m), total, err)
			}
		}
	})
}

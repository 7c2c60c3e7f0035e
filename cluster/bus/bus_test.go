package bus

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"math/rand/v2"
	"path/filepath"
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
	want := JoinLine{"[2001:db8::1]:4222", Crawler, RandomID(), RandomID() + RandomID()}
	s := want.String()
	if got, err := ParseJoinLine(" " + s + "\n"); err != nil || got != want {
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
	for _, n := range []int{0, 1, maxPart - 1, maxPart, maxPart + 1, 3*maxPart + 5} {
		want := make([]byte, n)
		for i := range want {
			want[i] = byte(r.Uint32())
		}
		for whole := range 2 {
			var got []byte
			parts := 0
			err := split(want, func(part []byte) error {
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
	if err := split(make([]byte, MaxMessage+1), func([]byte) error { return nil }); !errors.Is(err, errTooLarge) {
		t.Errorf("a message over the bound: %v", err)
	}
	if _, err := new(joiner).add([]byte{lastPart, 1}); !errors.Is(err, errPart) {
		t.Errorf("a last part alone: %v", err)
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
		must(t, stranger.conn.Publish("up."+c.ID, []byte{firstPart | lastPart, 'x'}))
		must(t, stranger.conn.Flush())
		must(t, stranger.Send([]byte("mine")))
		if r := <-got; r.id != stranger.ID || string(r.m) != "mine" {
			t.Errorf("the owner got %q from %s", r.m, r.id)
		}
		for _, subject := range []string{"down." + c.ID, "down.*", ">", "up.*"} {
			sub, err := stranger.conn.SubscribeSync(subject)
			must(t, err)
			must(t, stranger.conn.Flush())
			must(t, s.Send(c.ID, []byte("secret")))
			<-down
			if m, err := sub.NextMsg(50 * time.Millisecond); err == nil {
				t.Errorf("a stranger read %q by %s", m.Data, subject)
			}
		}
	})
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
		if _, err := Dial(t.Context(), wrong, log, nil); !errors.Is(err, errOtherServer) {
			t.Errorf("%v, want %v", err, errOtherServer)
		}
	})
	t.Run("no TLS", func(t *testing.T) {
		n, err := nats.Connect("nats://"+line.Address, nats.UserInfo("crawler."+RandomID(), line.Token), nats.Timeout(time.Second))
		if err == nil {
			n.Close()
			t.Error("a connection without TLS was accepted")
		}
	})
	t.Run("port in use", func(t *testing.T) {
		_, err := Listen(line.Address, keys, log)
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
	s, err = Listen(line.Address, keys, log)
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

// TestDialWaits dials an owner that does not listen, until the context ends.
func TestDialWaits(t *testing.T) {
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	l := JoinLine{"127.0.0.1:1", Crawler, RandomID(), RandomID() + RandomID()}
	if _, err := Dial(ctx, l, slog.New(slog.DiscardHandler), nil); err == nil || !strings.Contains(err.Error(), "refused") {
		t.Errorf("%v, want that the connection was refused", err)
	}
}

// FuzzJoiner adds arbitrary parts. A message has at most the bytes of its parts.
func FuzzJoiner(f *testing.F) {
	f.Add([]byte("\x01ab"), []byte("\x02c"), []byte("\x03d"))
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

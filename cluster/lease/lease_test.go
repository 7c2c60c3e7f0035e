package lease

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"anatomy/cluster/bucket/buckettest"
)

// TestOneOwner has machines claim, die, hand over and be suspended at random, on a bucket that takes
// its time. No epoch ever has two owners, and epochs of later owners are greater.
func TestOneOwner(t *testing.T) {
	for seed := range uint64(40) {
		synctest.Test(t, func(t *testing.T) { oneOwner(t, seed) })
	}
}

func oneOwner(t *testing.T, seed uint64) {
	var mu sync.Mutex
	r := rand.New(rand.NewPCG(seed, 1))
	pick := func(n int) int { mu.Lock(); defer mu.Unlock(); return r.IntN(n) }
	slow := func(ctx context.Context, op, name string) error {
		time.Sleep(time.Duration(pick(400)) * time.Millisecond)
		if pick(20) == 0 {
			time.Sleep(time.Duration(pick(30)) * time.Second) // suspended
		}
		return nil
	}
	b := &buckettest.Memory{Before: slow}
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Minute)
	defer cancel()
	owners := map[uint64]string{}
	last, terms := uint64(0), 0
	var machines sync.WaitGroup
	for i := range 4 {
		machines.Go(func() {
			for ctx.Err() == nil {
				l, err := Acquire(ctx, Options{Bucket: b, Machine: fmt.Sprint(i), Wait: true})
				if err != nil {
					return
				}
				mu.Lock()
				if owners[l.Epoch] != "" {
					t.Errorf("seed %d: epoch %d has two owners", seed, l.Epoch)
				}
				owners[l.Epoch] = l.Owner
				if terms++; l.Epoch < last {
					t.Logf("seed %d: epoch %d was known late", seed, l.Epoch)
				}
				last = max(last, l.Epoch)
				mu.Unlock()
				term, end := context.WithTimeout(ctx, time.Duration(pick(60))*time.Second)
				l.Run(term, func() {})
				end()
				if pick(2) == 0 {
					l.Release(context.WithoutCancel(ctx))
				}
			}
		})
	}
	machines.Wait()
	if terms < 10 {
		t.Errorf("seed %d: %d terms in ten minutes", seed, terms)
	}
}

// TestTakeOver kills an owner. The machine that waits takes over within 15 s, and the old one notices
// when it wakes.
func TestTakeOver(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := &buckettest.Memory{}
		first, err := Acquire(t.Context(), Options{Bucket: b, Machine: "first"})
		if err != nil {
			t.Fatal(err)
		}
		running, kill := context.WithCancel(t.Context())
		ended := make(chan error)
		go func() { ended <- first.Run(running, func() {}) }()
		if _, err := Acquire(t.Context(), Options{Bucket: b, Machine: "hasty"}); !errors.Is(err, ErrHeld) {
			t.Errorf("while the owner lives: %v, want %v", err, ErrHeld)
		}
		taken := make(chan *Lease)
		go func() {
			l, err := Acquire(t.Context(), Options{Bucket: b, Machine: "second", Wait: true})
			if err != nil {
				t.Error(err)
			}
			taken <- l
		}()
		time.Sleep(time.Minute)
		select {
		case <-taken:
			t.Fatal("the lease of an owner that lives was taken")
		default:
		}
		kill()
		<-ended
		died := time.Now()
		second := <-taken
		if took := time.Since(died); took > 15*time.Second || second.Epoch <= first.Epoch {
			t.Errorf("taken over after %v, epoch %d after %d", took, second.Epoch, first.Epoch)
		}
		if err := first.Check(t.Context()); !errors.Is(err, ErrLost) {
			t.Errorf("the old owner checks: %v, want %v", err, ErrLost)
		}
		if err := first.Run(t.Context(), func() {}); !errors.Is(err, ErrLost) {
			t.Errorf("the old owner renews: %v, want %v", err, ErrLost)
		}
		if err := second.Check(t.Context()); err != nil {
			t.Error(err)
		}
	})
}

// TestHandOver hands over without a wait: after Release, after Drain, and to the same machine.
func TestHandOver(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := &buckettest.Memory{}
		l, err := Acquire(t.Context(), Options{Bucket: b, Machine: "first", Least: 7})
		if err != nil || l.Epoch != 7 {
			t.Fatalf("epoch %d, %v; want 7", l.Epoch, err)
		}
		h, err := Find(t.Context(), b)
		if err != nil || h.Owner != l.Owner || h.Machine != "first" {
			t.Fatalf("%+v, %v", h, err)
		}
		if err := Drain(t.Context(), b, h); err != nil {
			t.Fatal(err)
		}
		running, stop := context.WithCancel(t.Context())
		asked := 0
		drained := func() {
			if asked++; asked == 10 { // meanwhile it is the owner
				stop()
			}
		}
		if err := l.Run(running, drained); err != nil || time.Since(l.Renewed()) > renewEvery {
			t.Errorf("while it drains: %v, renewed %v ago", err, time.Since(l.Renewed()))
		}
		if err := l.Release(t.Context()); err != nil {
			t.Fatal(err)
		}
		began := time.Now()
		if l, err = Acquire(t.Context(), Options{Bucket: b}); err != nil || time.Since(began) > 0 {
			t.Errorf("after Release: %v after %v", err, time.Since(began))
		}
		if err := l.renew(t.Context()); err != nil {
			t.Error(err)
		}
		if names := b.Names(prefix); len(names) != 1 {
			t.Errorf("claims %q are left", names)
		}
		if _, err = Acquire(t.Context(), Options{Bucket: b, Previous: l.Owner}); err != nil || time.Since(began) > 0 {
			t.Errorf("for the same machine: %v after %v", err, time.Since(began))
		}
	})
}

// TestCutOff takes the bucket away. The owner goes on for two minutes, and ends then. It does not log
// each failed renewal.
func TestCutOff(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := &buckettest.Memory{}
		var log bytes.Buffer
		l, err := Acquire(t.Context(), Options{Bucket: b, Log: slog.New(slog.NewTextHandler(&log, nil))})
		if err != nil {
			t.Fatal(err)
		}
		away := func(context.Context, string, string) error { return buckettest.ErrAway }
		ended := make(chan error)
		go func() { ended <- l.Run(t.Context(), func() {}) }()
		b.Set(away)
		time.Sleep(time.Minute)
		b.Set(nil)
		time.Sleep(time.Minute)
		synctest.Wait()
		if n := strings.Count(log.String(), "cannot renew"); n < 1 || n > 3 || strings.Count(log.String(), "renewed again") != 1 {
			t.Errorf("the log of a minute without the bucket is\n%s", &log)
		}
		select {
		case err := <-ended:
			t.Fatalf("ended after a minute without the bucket: %v", err)
		default:
		}
		b.Set(away)
		began := time.Now()
		if err := <-ended; !errors.Is(err, ErrCutOff) || time.Since(began) > patience+10*time.Second {
			t.Errorf("%v after %v, want %v", err, time.Since(began), ErrCutOff)
		}
	})
}

// TestCannotClaim waits without the permission to put. That is logged, and not each time; with the
// permission, the machine becomes the owner.
func TestCannotClaim(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := &buckettest.Memory{}
		b.Set(func(_ context.Context, op, _ string) error {
			if op == "put" {
				return buckettest.ErrAway
			}
			return nil
		})
		var log bytes.Buffer
		acquired := make(chan error, 1)
		go func() {
			o := Options{Bucket: b, Wait: true, Log: slog.New(slog.NewTextHandler(&log, nil))}
			_, err := Acquire(t.Context(), o)
			acquired <- err
		}()
		time.Sleep(time.Minute)
		b.Set(nil)
		if err := <-acquired; err != nil {
			t.Error(err)
		}
		if n := strings.Count(log.String(), "cannot claim"); n < 1 || n > 3 {
			t.Errorf("the log of a minute without the permission is\n%s", &log)
		}
	})
}

// TestPrintable: joined errors of another machine are one line.
func TestPrintable(t *testing.T) {
	if got, want := Printable("write a: full\nwrite b: full\x1b[2J"), "write a: full; write b: full[2J"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
}

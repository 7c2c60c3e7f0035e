// Package lease sees to it that one machine at a time owns the collection in a bucket, by the bucket
// alone.
//
//	owners/EPOCH-OWNER         the claim of a machine, which puts it again every two seconds
//	owners/EPOCH-OWNER.drain   asks that owner to hand over
//
// The claim with the greatest epoch counts. A machine that waits sees whether its content changes,
// by its own clock: clocks of machines are never compared. After 8 s without a change it claims the
// next epoch, and lists the claims again. If it finds another claim of the same epoch or a greater
// one, it withdraws and begins anew after a random time. Else it is the owner.
//
// So two machines cannot both become the owner of an epoch: each puts its claim before it lists, and
// of two that do so the one that lists last sees both claims, if a list shows whatever was put
// before. S3 guarantees that since 2020; no put depends on a condition, which several S3-compatible
// servers ignore.
//
// An owner that was suspended, or that the bucket could not reach, may believe for a while that it
// still is the owner. What it publishes harms nobody, because names of generations begin with the
// epoch, see cluster/replica. It stops when it sees the greater epoch, or when it could not
// renew its claim for two minutes, lest two machines crawl the same sites.
package lease

import (
	"bytes"
	"context"
	"crypto/rand"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	mrand "math/rand/v2"
	"strconv"
	"strings"
	"sync"
	"time"
	"unicode"

	"anatomy/cluster/bucket"
)

const (
	prefix   = "owners/"
	drain    = ".drain"
	maxClaim = 4 << 10 // bytes

	renewEvery = 2 * time.Second
	silence    = 8 * time.Second // without a change: the owner is dead
	patience   = 2 * time.Minute // without a renewal: the owner gives up
)

// A Claim is what a machine says of itself while it is the owner.
type Claim struct {
	Machine  string    `json:"machine"`
	Version  string    `json:"version"`
	Node     string    `json:"node,omitempty"` // the process, where one owns some of several shards
	Since    time.Time `json:"since"`          // by its clock
	Beats    uint64    `json:"beats"`          // grows with each renewal
	Released bool      `json:"released"`       // it has handed over
}

// A Holder is a claim with its place in the order of owners.
type Holder struct {
	Epoch uint64
	Owner string // 16 hexadecimal digits
	Claim
	Renewed time.Time // by the bucket's clock
	Drains  bool      // it was asked to hand over
}

func (h *Holder) name() string { return name(h.Epoch, h.Owner) }

func name(epoch uint64, owner string) string { return fmt.Sprintf("%s%016x-%s", prefix, epoch, owner) }

// parse returns epoch and owner in the name of a claim, or of an order to drain.
func parse(s string) (epoch uint64, owner string, drains, ok bool) {
	s, drains = strings.CutSuffix(s, drain)
	first, owner, _ := strings.Cut(strings.TrimPrefix(s, prefix), "-")
	epoch, err := strconv.ParseUint(first, 16, 64)
	return epoch, owner, drains, err == nil && len(owner) == 16 && name(epoch, owner) == s
}

var (
	// ErrHeld says that another machine is the owner.
	ErrHeld = errors.New("another machine owns the collection")
	// ErrLost says that this machine is no longer the owner.
	ErrLost = errors.New("another machine has taken the collection over")
	// ErrCutOff says that the bucket could not be reached for too long.
	ErrCutOff = errors.New("the bucket could not be reached for 2 minutes, so another machine may own the collection by now")
	// ErrDrained says that the operator asked the owner to hand over.
	ErrDrained = errors.New("the operator asked this machine to hand over")
)

// Options configure Acquire.
type Options struct {
	Bucket   bucket.Bucket
	Machine  string       // name of this machine
	Version  string       // of the program
	Node     string       // see Claim
	Least    uint64       // the least epoch to claim
	Previous string       // an earlier Owner that has ended for certain; "" for none
	Wait     bool         // until the owner dies or hands over; else Acquire fails with ErrHeld
	Waiting  func(Holder) // called while Acquire waits; may be nil
	Log      *slog.Logger // default: discarded

	// May reports whether the machine claims a collection that has been without an owner for a time,
	// as far as it has seen. Default: it does.
	May func(free time.Duration) bool
}

// A Lease is held by the owner.
type Lease struct {
	Epoch uint64
	Owner string // random

	o     Options
	claim Claim // of the goroutine that renews

	mu      sync.Mutex
	renewed time.Time // when the last renewal began that succeeded
}

// Acquire returns a lease. Unless o.Wait, the error wraps [ErrHeld] if another machine is the owner;
// whether it lives is known after 10 s at most.
func Acquire(ctx context.Context, o Options) (*Lease, error) {
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	if o.May == nil {
		o.May = func(time.Duration) bool { return true }
	}
	var last Holder
	changed := time.Now() // when the last owner was seen to be alive
	var free time.Time    // since when nobody is the owner
	for {
		owner, err := Find(ctx, o.Bucket)
		if err != nil && o.Wait && ctx.Err() == nil { // the owner may live; it is not seen
			o.Log.Debug("the owner cannot be seen", "error", err)
			changed = time.Now()
			if err := Sleep(ctx, renewEvery); err != nil {
				return nil, err
			}
			continue
		}
		if err != nil {
			return nil, err
		}
		same := owner.name() == last.name()
		switch alive := !same || owner.Beats != last.Beats; {
		case owner.Owner == "" || owner.Owner == o.Previous || owner.Released,
			!alive && time.Since(changed) >= silence:
			if free.IsZero() || !same {
				free = time.Now()
			}
			if !o.May(time.Since(free)) {
				break
			}
			l, err := try(ctx, o, max(owner.Epoch+1, o.Least))
			if l != nil || err != nil && !o.Wait {
				return l, err
			}
		case alive && same && !o.Wait:
			return nil, fmt.Errorf("%w: %s", ErrHeld, owner.Machine)
		case alive:
			changed, free = time.Now(), time.Time{}
		}
		last = owner
		if o.Waiting != nil {
			o.Waiting(owner)
		}
		if err := Sleep(ctx, renewEvery/2+mrand.N(renewEvery/2)); err != nil {
			return nil, err
		}
	}
}

// try claims an epoch. It returns nil if another machine claims it at the same time.
func try(ctx context.Context, o Options, epoch uint64) (*Lease, error) {
	id := make([]byte, 8)
	rand.Read(id)
	l := &Lease{Epoch: epoch, Owner: hex.EncodeToString(id), o: o}
	l.claim = Claim{Machine: o.Machine, Version: o.Version, Node: o.Node, Since: time.Now().UTC().Truncate(time.Second)}
	if err := l.put(ctx); err != nil {
		return nil, err
	}
	others, err := l.others(ctx)
	if err == nil && len(others) == 0 {
		return l, nil
	}
	return nil, errors.Join(err, o.Bucket.Delete(ctx, name(l.Epoch, l.Owner)))
}

// put renews the claim.
func (l *Lease) put(ctx context.Context) error {
	l.claim.Beats++
	began := time.Now()
	b, err := json.Marshal(l.claim)
	if err == nil {
		err = l.o.Bucket.Put(ctx, name(l.Epoch, l.Owner), bytes.NewReader(b), int64(len(b)))
	}
	if err == nil {
		l.mu.Lock()
		l.renewed = began
		l.mu.Unlock()
	}
	return err
}

// others returns the names of the claims of this epoch and greater ones that are not l's.
func (l *Lease) others(ctx context.Context) (names []string, err error) {
	own := name(l.Epoch, l.Owner)
	for o, err := range l.o.Bucket.List(ctx, prefix, "") {
		if err != nil {
			return nil, err
		}
		if epoch, _, drains, ok := parse(o.Name); ok && !drains && epoch >= l.Epoch && o.Name != own {
			names = append(names, o.Name)
		}
	}
	return names, nil
}

// Run renews the lease until ctx ends. Its error wraps ErrLost or ErrCutOff: the caller must stop
// writing to the collection then. When the operator asks the owner to hand over, it calls drained
// and goes on, so that the caller can publish the last state first.
func (l *Lease) Run(ctx context.Context, drained func()) error {
	for Sleep(ctx, renewEvery) == nil {
		err := l.renewInTime(ctx)
		switch {
		case errors.Is(err, ErrLost), errors.Is(err, ErrCutOff):
			return err
		case ctx.Err() != nil:
		case errors.Is(err, ErrDrained):
			drained()
		case err != nil && time.Since(l.Renewed()) >= patience:
			return fmt.Errorf("%w: %w", ErrCutOff, err)
		case err != nil:
			l.o.Log.Warn("the claim to own the collection is not renewed; trying again", "error", err)
		}
	}
	return nil
}

// renewInTime renews the lease once. It does not wait longer than the owner may for a call that does
// not obey its context, as on a file system that hangs.
func (l *Lease) renewInTime(ctx context.Context) error {
	bounded, cancel := context.WithTimeout(ctx, silence)
	defer cancel()
	ended := make(chan error, 1)
	go func() { ended <- l.renew(bounded) }()
	select {
	case err := <-ended:
		return err
	case <-time.After(patience - time.Since(l.Renewed())):
		return ErrCutOff
	}
}

// renew puts the claim again, looks at the others and at the orders, and deletes those that do not
// count: earlier ones, and claims of this epoch, which their machines withdraw because of this one.
func (l *Lease) renew(ctx context.Context) error {
	if err := l.put(ctx); err != nil {
		return err
	}
	drained, own := false, name(l.Epoch, l.Owner)
	var old []string
	for o, err := range l.o.Bucket.List(ctx, prefix, "") {
		if err != nil {
			return err
		}
		epoch, _, _, ok := parse(o.Name)
		switch {
		case ok && epoch > l.Epoch:
			return ErrLost
		case o.Name == own+drain:
			drained = true
		case ok && o.Name != own:
			old = append(old, o.Name)
		}
	}
	for _, name := range old {
		if err := l.o.Bucket.Delete(ctx, name); err != nil {
			return err
		}
	}
	if drained {
		return ErrDrained
	}
	return nil
}

// Epoch returns the greatest epoch that was claimed; 0 if there never was an owner.
//
// It decides which generations count, read before it: a new owner claims its epoch before it looks for
// the generation that it goes on from. So a generation of an earlier epoch that the new owner does not
// find was put after the claim, and whoever finds it finds the claim, too.
func Epoch(ctx context.Context, b bucket.Bucket) (epoch uint64, err error) {
	for o, err := range b.List(ctx, prefix, "") {
		if err != nil {
			return 0, err
		}
		if claimed, _, drains, ok := parse(o.Name); ok && !drains {
			epoch = max(epoch, claimed)
		}
	}
	return epoch, nil
}

// Check returns an error that wraps ErrLost if another machine is the owner now.
func (l *Lease) Check(ctx context.Context) error {
	others, err := l.others(ctx)
	if err != nil {
		return err
	}
	for _, other := range others {
		if epoch, _, _, _ := parse(other); epoch > l.Epoch {
			return ErrLost
		}
	}
	return nil
}

// Renewed returns when the bucket last got a renewal.
func (l *Lease) Renewed() time.Time {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.renewed
}

// Release hands over: the next machine need not wait. Run must have returned.
func (l *Lease) Release(ctx context.Context) error {
	l.claim.Released = true
	if err := l.put(ctx); err != nil {
		return err
	}
	return l.o.Bucket.Delete(ctx, name(l.Epoch, l.Owner)+drain)
}

// Find returns the owner, or the zero Holder if there never was one.
func Find(ctx context.Context, b bucket.Bucket) (h Holder, err error) {
	for tries := 0; ; tries++ {
		drains := map[string]bool{}
		h = Holder{}
		for o, err := range b.List(ctx, prefix, "") {
			if err != nil {
				return h, err
			}
			epoch, owner, isDrain, ok := parse(o.Name)
			switch {
			case ok && isDrain:
				drains[owner] = true
			case ok:
				h.Epoch, h.Owner, h.Renewed = epoch, owner, o.Changed
			}
		}
		if h.Owner == "" {
			return h, nil
		}
		h.Drains = drains[h.Owner]
		err = h.read(ctx, b)
		if !errors.Is(err, bucket.ErrNotExist) || tries == 3 {
			return h, err // else it was withdrawn meanwhile
		}
	}
}

// read reads the claim of h.
func (h *Holder) read(ctx context.Context, b bucket.Bucket) error {
	r, err := b.Get(ctx, h.name(), 0, -1)
	if err != nil {
		return err
	}
	defer r.Close()
	content, err := io.ReadAll(io.LimitReader(r, maxClaim))
	if err != nil {
		return err
	}
	if err := json.Unmarshal(content, &h.Claim); err == nil {
		h.Machine, h.Version = Printable(h.Machine), Printable(h.Version)
	} else {
		return fmt.Errorf("%s in the bucket is damaged: %w; delete it if its owner has ended", h.name(), err)
	}
	return nil
}

// Printable returns text that another machine wrote without control characters.
func Printable(s string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsControl(r) {
			return -1
		}
		return r
	}, s)
}

// Drain asks an owner to hand over.
func Drain(ctx context.Context, b bucket.Bucket, h Holder) error {
	return b.Put(ctx, h.name()+drain, strings.NewReader("drain"), int64(len("drain")))
}

// Sleep returns after d, or when ctx ends with its error.
func Sleep(ctx context.Context, d time.Duration) error {
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-time.After(d):
		return nil
	}
}

// Package lease elects one machine at a time as the owner of the collection in a bucket, using only
// the bucket.
//
//	owners/EPOCH-OWNER         claim of a machine, which rewrites it every two seconds
//	owners/EPOCH-OWNER.drain   asks that owner to hand over
//
// The claim with the greatest epoch is valid. A waiting machine observes whether its content
// changes, by its own clock: clocks of machines are never compared. After 8 s without a change it
// claims the next epoch, and lists the claims again. If it finds another claim of the same epoch or
// a greater one, it withdraws its claim and starts again after a random delay. Otherwise it is the
// owner.
//
// Two machines cannot both become the owner of an epoch: each puts its claim before it lists, so
// the machine that lists last sees both claims. This requires that a list shows every earlier put,
// which S3 guarantees since 2020. It needs no conditional puts, which several S3-compatible servers
// ignore.
//
// An owner that was suspended, or cut off from the bucket, may believe for some time that it is
// still the owner. The epoch is a fencing token: names of generations begin with it, so followers
// ignore what a replaced owner publishes, see cluster/replica. An owner stops when it sees a
// greater epoch, or when it could not renew its claim for two minutes, so that two machines do not
// crawl the same sites.
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
	warnEvery  = 30 * time.Second
)

// A Claim is the object that the owner keeps in the bucket.
type Claim struct {
	Machine  string    `json:"machine"`
	Version  string    `json:"version"`
	Node     string    `json:"node,omitempty"` // the process, in a divided collection
	Since    time.Time `json:"since"`          // by its clock
	Beats    uint64    `json:"beats"`          // number of renewals
	Released bool      `json:"released"`       // the owner has handed over
}

// A Holder is the claim of an owner, with its epoch and state in the bucket.
type Holder struct {
	Epoch uint64
	Owner string // 16 hexadecimal digits
	Claim
	Renewed time.Time // by the bucket's clock
	Drains  bool      // the operator asked it to hand over
}

func (h *Holder) name() string { return name(h.Epoch, h.Owner) }

func name(epoch uint64, owner string) string { return fmt.Sprintf("%s%016x-%s", prefix, epoch, owner) }

// parse parses the name of a claim or of a request to hand over.
func parse(s string) (epoch uint64, owner string, drains, ok bool) {
	s, drains = strings.CutSuffix(s, drain)
	first, owner, _ := strings.Cut(strings.TrimPrefix(s, prefix), "-")
	epoch, err := strconv.ParseUint(first, 16, 64)
	return epoch, owner, drains, err == nil && len(owner) == 16 && name(epoch, owner) == s
}

var (
	// ErrHeld is the error of Acquire when another machine is the owner.
	ErrHeld = errors.New("another machine owns the collection")
	// ErrLost is the error of a lease that another machine has taken over.
	ErrLost = errors.New("another machine has taken the collection over")
	// ErrCutOff is the error of a lease that could not be renewed for [patience].
	ErrCutOff = errors.New("the bucket could not be reached for 2 minutes, so another machine may own the collection by now")
	// ErrDrained is the error of an owner that the operator asked to hand over.
	ErrDrained = errors.New("the operator asked this machine to hand over")
)

// Options configure Acquire.
type Options struct {
	Bucket   bucket.Bucket
	Machine  string       // name of this machine
	Version  string       // of the program
	Node     string       // see Claim
	Least    uint64       // minimum epoch to claim
	Previous string       // an earlier Owner that is known to have ended, or ""
	Wait     bool         // wait until the owner dies or hands over; otherwise Acquire fails with ErrHeld
	Waiting  func(Holder) // called while Acquire waits; may be nil
	Log      *slog.Logger // default: discarded

	// May reports whether the machine may claim a collection that has had no owner for the duration
	// free. Default: always.
	May func(free time.Duration) bool
}

// A Lease is held by the owner.
type Lease struct {
	Epoch uint64
	Owner string // random

	o     Options
	claim Claim // used by the renewing goroutine only

	mu      sync.Mutex
	renewed time.Time // start of the last successful renewal
}

// Acquire returns a lease. Unless o.Wait is set, the error wraps [ErrHeld] if another machine is
// the owner; finding out whether that machine is alive takes at most 10 s.
func Acquire(ctx context.Context, o Options) (*Lease, error) {
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	if o.May == nil {
		o.May = func(time.Duration) bool { return true }
	}
	var last Holder
	changed := time.Now() // when the claim last changed
	var free time.Time    // when the collection lost its owner
	var warned time.Time
	for {
		owner, err := Find(ctx, o.Bucket)
		if err != nil && o.Wait && ctx.Err() == nil { // the owner may be alive, but the bucket cannot be read
			o.Log.Debug("cannot read the owner's claim", "error", err)
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
			if err != nil && ctx.Err() == nil && time.Since(warned) >= warnEvery {
				o.Log.Warn("cannot claim the collection; trying again", "error", err)
				warned = time.Now()
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

// RandomID returns a random number of 64 bits, in hexadecimal digits.
func RandomID() string {
	id := make([]byte, 8)
	rand.Read(id)
	return hex.EncodeToString(id)
}

// try claims an epoch. It returns nil if another machine claims it at the same time.
func try(ctx context.Context, o Options, epoch uint64) (*Lease, error) {
	l := &Lease{Epoch: epoch, Owner: RandomID(), o: o}
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

// put writes the claim again.
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

// others returns the names of other claims whose epoch is the same or greater.
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

// Run renews the lease until ctx ends. An error wraps ErrLost or ErrCutOff: the caller must then
// stop writing to the collection. When the operator asks the owner to hand over, Run calls drained
// and keeps renewing, so that the caller can publish the last state first. Failures are logged every
// warnEvery.
func (l *Lease) Run(ctx context.Context, drained func()) error {
	var warned time.Time // zero unless the last renewal failed
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
		case err != nil && time.Since(warned) >= warnEvery:
			l.o.Log.Warn("cannot renew the claim to own the collection; trying again", "error", err)
			warned = time.Now()
		case err == nil && !warned.IsZero():
			l.o.Log.Info("the claim to own the collection is renewed again")
			warned = time.Time{}
		}
	}
	return nil
}

// renewInTime renews the lease once. It returns by the deadline of the lease even if a call ignores
// its context, as on a file system that hangs.
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

// renew writes the claim again, reads the other claims and requests, and deletes those that are
// obsolete: earlier epochs, and competing claims of this epoch, which their machines withdraw.
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

// Epoch returns the greatest claimed epoch, or 0 if there was never an owner.
//
// Call it after reading a generation to decide whether the generation is valid. A new owner claims
// its epoch before it looks for the generation to continue from. So a generation of an earlier
// epoch that the new owner missed was put after the claim, and any reader of it sees the claim,
// too.
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

// Check fails with an error that wraps ErrLost if another machine is the owner now.
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

// Renewed returns the time of the last successful renewal.
func (l *Lease) Renewed() time.Time {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.renewed
}

// Release hands over, so that the next machine need not wait. Run must have returned.
func (l *Lease) Release(ctx context.Context) error {
	l.claim.Released = true
	if err := l.put(ctx); err != nil {
		return err
	}
	return l.o.Bucket.Delete(ctx, name(l.Epoch, l.Owner)+drain)
}

// Find returns the owner, or the zero Holder if there was never one.
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
			return h, err // otherwise it was withdrawn meanwhile
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
		h.Machine, h.Version, h.Node = Printable(h.Machine), Printable(h.Version), Printable(h.Node)
	} else {
		return fmt.Errorf("%s in the bucket is damaged: %w; delete it if its owner has ended", h.name(), err)
	}
	return nil
}

// Printable returns text from another machine in one line, without control characters.
func Printable(s string) string {
	s = strings.ReplaceAll(s, "\n", "; ") // between errors that were joined
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

// Sleep waits for d. It returns the error of ctx if ctx ends first.
func Sleep(ctx context.Context, d time.Duration) error {
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-time.After(d):
		return nil
	}
}

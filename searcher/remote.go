package searcher

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"anatomy/disk/segment"
	"anatomy/searcher/internal/retrieval"
	"anatomy/searcher/internal/shard"
	"anatomy/searcher/internal/snapshot"
	"anatomy/vocab"
)

// A machine may have light copies of some shards, see [segment.ErrLight]. Its queries send calls
// about these to other machines by Options.Remote, and AnswerShard answers such calls. All that a
// query decides over several shards is decided on its own machine, from its light copies, so that
// the answer equals that of a machine with all shards whole.

// Errors of AnswerShard.
var (
	ErrShard    = errors.New("this machine does not have the whole shard")
	ErrState    = errors.New("this machine does not have the requested state of the shard")
	ErrCall     = shard.ErrCall
	errWeights  = fmt.Errorf("%w: it has other weights", ErrState)
	errReplaced = fmt.Errorf("%w: its files are replaced", ErrState)
)

// Remote returns Options.Remote.
func (s *Searcher) Remote() shard.Caller { return s.o.Remote }

// AnswerShard answers a call about a shard from another machine. The error wraps one of ErrShard,
// ErrState and ErrCall unless files cannot be read.
func (s *Searcher) AnswerShard(ctx context.Context, number int, call []byte) (reply []byte, err error) {
	c, err := shard.DecodeCall(call)
	if err != nil {
		return nil, err
	}
	if number < 0 || number >= len(s.stores) {
		return nil, ErrShard
	}
	err = segment.Guard(func() error {
		v := s.acquire()
		defer s.release(v)
		snap, release, err := s.served.acquire(s, v, number, c)
		if err != nil {
			return err
		}
		defer release()
		w := v.weights.ForSearch(c.Variant.NoOwn, c.Variant.NoAnchors, false)
		if c.Variant.Prose && w.Prose != nil {
			w = w.Prose
		}
		a := s.acquireArena()
		q := shard.New(snap, w, retrieval.NewClock(ctx, c.Within), a.ofShard(0), shard.Remote{})
		if reply, err = shard.Answer(&q, c, &a.scoring); err == nil {
			s.releaseArena(a)
		}
		return err
	})
	return reply, err
}

// Bounds of the snapshots that are kept for other machines, which may be a few generations behind.
const (
	maxServed = 8                // of each shard, on average
	keepFor   = 10 * time.Second // after the last use
)

// Served are the snapshots for calls of other machines.
type served struct {
	mu  sync.Mutex
	all []*servedShard
}

// A servedShard is a snapshot with the static points that calls of other machines need.
type servedShard struct {
	servedAs
	key  snapshot.Key
	base *snapshot.Snapshot // held
	snap *snapshot.Snapshot
	uses int
	last time.Time
}

// A servedAs is the part of a call, beside the key, that determines how its snapshot is made.
type servedAs struct {
	shard   int
	weights string // their sum
	ranked  int
	byDate  bool
}

func servedFor(number int, of *shard.Variant) servedAs {
	return servedAs{number, of.Weights, of.Of.Ranked, of.ByDate}
}

// acquire returns the snapshot for a call, and a function that releases it.
func (all *served) acquire(
	s *Searcher, v *view, number int, c *shard.Call,
) (snap *snapshot.Snapshot, release func(), err error) {
	if c.Variant.Weights != v.remote.Variant.Weights {
		return nil, nil, errWeights
	}
	as := servedFor(number, &c.Variant)
	all.drop(s, keepFor, maxServed*len(s.stores))
	k := all.find(as, c.Key)
	if k == nil {
		if k, err = serve(s, v, as, c.Key); err != nil {
			return nil, nil, err
		}
		all.mu.Lock()
		defer all.mu.Unlock()
		all.all = append(all.all, k)
	}
	return k.snap, func() { all.release(k) }, nil
}

// find returns a snapshot, which the caller uses, or nil.
func (all *served) find(as servedAs, key snapshot.Key) *servedShard {
	all.mu.Lock()
	defer all.mu.Unlock()
	k := all.at(as, key)
	if k != nil {
		k.uses++
	}
	return k
}

// at returns a snapshot, or nil. The caller holds mu.
func (all *served) at(as servedAs, key snapshot.Key) *servedShard {
	for _, k := range all.all {
		if k.servedAs == as && k.key.Equal(key) {
			return k
		}
	}
	return nil
}

func (all *served) release(k *servedShard) {
	all.mu.Lock()
	defer all.mu.Unlock()
	k.uses--
	k.last = time.Now()
}

// drop releases snapshots that were not used for a while, and the oldest beyond a number.
func (all *served) drop(s *Searcher, unused time.Duration, most int) {
	all.mu.Lock()
	defer all.mu.Unlock()
	left := len(all.all)
	all.all = slices.DeleteFunc(all.all, func(k *servedShard) bool {
		drop := k.uses == 0 && (left > most || time.Since(k.last) > unused)
		if drop {
			left--
			s.stores[k.shard].Release(k.base)
		}
		return drop
	})
}

// serve opens a snapshot, which the caller uses.
func serve(s *Searcher, v *view, as servedAs, key snapshot.Key) (*servedShard, error) {
	s.refreshing.Lock()
	defer s.refreshing.Unlock()
	base, err := s.stores[as.shard].At(key)
	if err != nil {
		return nil, errors.Join(errReplaced, err)
	}
	if base.Light() || base.Absent {
		s.stores[as.shard].Release(base)
		return nil, ErrShard
	}
	k := &servedShard{servedAs: as, key: key, base: base, uses: 1}
	switch own := v.shards[as.shard]; {
	case as.byDate:
		k.snap = base.WithStatic(dates)
	case own.Key().Equal(key) && v.Ranked == as.ranked:
		k.snap = own
	default:
		k.snap = base.WithStatic(func(p *snapshot.Part) retrieval.StaticPoints { return base.StaticPoints(p, v.weights, as.ranked) })
	}
	return k, nil
}

// keep keeps the snapshots of a view that is replaced, if other machines call this one: their copies
// may be of its generation, whose files may be deleted.
func (all *served) keep(s *Searcher, v *view) {
	all.mu.Lock()
	defer all.mu.Unlock()
	if len(all.all) == 0 {
		return
	}
	for i, snap := range v.shards {
		as := servedFor(i, &v.remote.Variant)
		if snap.Light() || snap.Absent || all.at(as, snap.Key()) != nil {
			continue
		}
		s.stores[i].Hold(v.bases[i])
		all.all = append(all.all, &servedShard{servedAs: as, key: snap.Key(), base: v.bases[i], snap: snap, last: time.Now()})
	}
}

// dates returns the dates of documents as static points.
func dates(p *snapshot.Part) retrieval.StaticPoints {
	days := make([]uint32, p.Segment.Docs())
	for ord := range days {
		days[ord] = uint32(p.Segment.Date(vocab.Ordinal(ord)))
	}
	return retrieval.NewStaticPoints(days)
}

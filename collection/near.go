package collection

import (
	"context"
	"strings"
	"sync"
	"time"

	"anatomy/disk/datadir"
	"anatomy/ranking"
	"anatomy/vocab"
)

// nearAge is the maximum age of the links for ranks near a page, if newer links exist.
const nearAge = time.Minute

// nearLinks are the links read by [SharedLinks.Near].
type nearLinks struct {
	mu      sync.Mutex
	near    *ranking.Near // nil before the first links are read
	stamp   string        // identifies the link runs that it was read from
	checked time.Time     // when these were last compared with those of the folder
	reading *nearReading  // nil if links are not being read
}

// A nearReading reads the links once, for all queries that wait for them.
type nearReading struct {
	cancel context.CancelFunc
	done   chan struct{} // closed when near and err are set
	near   *ranking.Near
	err    error
}

// Near calls visit with the pages near a document, see [ranking.Near]. The first call starts to read
// all links, and blocks until they are read or ctx ends. When the links have changed, at most once a
// minute, they are read again, and calls use the earlier ones until then.
func (s *SharedLinks) Near(
	ctx context.Context, doc vocab.DocID, visit func(doc vocab.DocID, rank float64),
) error {
	near, err := s.acquireNear(ctx)
	if err != nil {
		return err
	}
	near.Ranks(doc, visit)
	return nil
}

func (s *SharedLinks) acquireNear(ctx context.Context) (*ranking.Near, error) {
	near, reading, err := s.currentNear(ctx)
	if err != nil || near != nil {
		return near, err
	}
	select {
	case <-reading.done:
		return reading.near, reading.err
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// currentNear returns the links that were read last, or who reads the first ones.
func (s *SharedLinks) currentNear(ctx context.Context) (*ranking.Near, *nearReading, error) {
	n := &s.near
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.reading == nil && (n.near == nil || time.Since(n.checked) >= nearAge) {
		stamp, err := linksStamp(s.dir)
		if err != nil {
			return nil, nil, reportDamage(s.Damage, err)
		}
		n.checked = time.Now()
		if n.near == nil || stamp != n.stamp {
			s.readNear(context.WithoutCancel(ctx), stamp)
		}
	}
	return n.near, n.reading, nil
}

// readNear starts to read the links. The caller holds the lock.
func (s *SharedLinks) readNear(ctx context.Context, stamp string) {
	ctx, cancel := context.WithCancel(ctx)
	r := &nearReading{cancel: cancel, done: make(chan struct{})}
	s.near.reading = r
	go func() {
		defer close(r.done)
		defer cancel()
		near, err := ranking.OpenNear(ctx, s.dir)
		r.near, r.err = near, reportDamage(s.Damage, err)
		n := &s.near
		n.mu.Lock()
		defer n.mu.Unlock()
		n.reading = nil
		if r.err == nil {
			n.near, n.stamp = r.near, stamp
		}
	}()
}

// close ends a reading.
func (n *nearLinks) close() {
	n.mu.Lock()
	r := n.reading
	n.mu.Unlock()
	if r != nil {
		r.cancel()
		<-r.done
	}
}

// linksStamp returns a string that identifies the link runs of a folder.
func linksStamp(dir string) (stamp string, err error) {
	dirs, err := allShards(dir)
	if err != nil {
		return "", err
	}
	for _, dir := range dirs {
		m, err := datadir.ReadManifest(dir)
		if err != nil {
			return "", err
		}
		stamp += strings.Join(append(m.Links, m.Folder), " ") + "\n"
	}
	return stamp, nil
}

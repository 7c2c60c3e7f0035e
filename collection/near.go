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
	mu    sync.Mutex
	near  *ranking.Near // nil before the first call
	stamp string        // identifies the link runs that it was read from
	read  time.Time
}

// Near calls visit with the pages near a document, see [ranking.Near]. The first call reads all
// links, and so does the first call after the links have changed, at most once a minute.
func (s *SharedLinks) Near(
	ctx context.Context, doc vocab.DocID, visit func(doc vocab.DocID, rank float64),
) error {
	near, err := s.near.acquire(ctx, s.dir)
	if err != nil {
		return reportDamage(s.Damage, err)
	}
	near.Ranks(doc, visit)
	return nil
}

func (n *nearLinks) acquire(ctx context.Context, dir string) (*ranking.Near, error) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.near != nil && time.Since(n.read) < nearAge {
		return n.near, nil
	}
	stamp, err := linksStamp(dir)
	if err != nil {
		return nil, err
	}
	if n.near == nil || stamp != n.stamp {
		near, err := ranking.OpenNear(ctx, dir)
		if err != nil {
			return nil, err
		}
		n.near, n.stamp = near, stamp
	}
	n.read = time.Now()
	return n.near, nil
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

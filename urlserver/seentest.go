package urlserver

import (
	"anatomy/disk/docindex"
	"anatomy/urlserver/seen"
	"anatomy/vocab"
)

// A seenTest tests whether a URL has a docID. It looks into the URLs of the current batch, then
// into the cache (BNW03), then into the document index.
//
// pending has every URL that the uncommitted batch wrote, and every queued one that it considered
// raising; the cache may evict any of them at any time. It is empty between batches.
type seenTest struct {
	db      *docindex.DB
	pending map[vocab.Fingerprint]docindex.URLRecord
	cache   *seen.Cache[docindex.URLRecord]
	stats   SeenStats
}

// SeenStats count the lookups of the seen test.
type SeenStats struct {
	Cache uint64 // seen, and in memory
	Disk  uint64 // seen, found in the document index
	New   uint64 // not seen
}

func newSeenTest(db *docindex.DB, entries int) *seenTest {
	return &seenTest{db: db, pending: map[vocab.Fingerprint]docindex.URLRecord{},
		cache: seen.New[docindex.URLRecord](entries)}
}

func (s *seenTest) find(fp vocab.Fingerprint) (u docindex.URLRecord, ok bool, err error) {
	if u, ok = s.pending[fp]; !ok {
		u, ok = s.cache.Get(fp)
	}
	if ok {
		s.stats.Cache++
		return u, true, nil
	}
	if u, ok, err = s.db.URL(fp); err != nil {
		return u, false, err
	}
	if !ok {
		s.stats.New++
		return u, false, nil
	}
	s.stats.Disk++
	s.cache.Put(fp, u)
	return u, true, nil
}

// remember records a URL that the batch changes.
func (s *seenTest) remember(fp vocab.Fingerprint, u docindex.URLRecord) {
	s.pending[fp] = u
	s.cache.Put(fp, u)
}

// committed records that the batch was committed.
func (s *seenTest) committed() { clear(s.pending) }

package collection

import (
	"cmp"
	"context"
	"errors"
	"math"
	"slices"
	"strings"
	"sync"

	"anatomy/control"
	"anatomy/disk/damage"
	"anatomy/disk/datadir"
	"anatomy/disk/linkdb"
	"anatomy/disk/rankvector"
	"anatomy/vocab"
	"anatomy/weburl"
)

// SharedLinks are the links of a data folder. They are safe for concurrent use. They are opened by
// the first call, and reopened when the folder has newer ones.
type SharedLinks struct {
	// Damage receives the damage found. Default: none.
	Damage *damage.Log

	dir string

	mu    sync.Mutex
	inUse *heldLinks // nil before the first call

	near nearLinks
}

// heldLinks are closed after their last use once they have been replaced by newer ones.
type heldLinks struct {
	*Links
	stamp string // identifies the files that they are read from
	users int
}

// NewSharedLinks returns the links of the data folder dir.
func NewSharedLinks(dir string) *SharedLinks { return &SharedLinks{dir: dir} }

// Close closes the files. No call may be running or follow.
func (s *SharedLinks) Close() error {
	s.near.close()
	if s.inUse == nil {
		return nil
	}
	return s.inUse.Close()
}

// use calls ask with the current links.
func (s *SharedLinks) use(ask func(*Links) error) error {
	l, err := s.acquire()
	if err != nil {
		return reportDamage(s.Damage, err)
	}
	err = ask(l.finders())
	return reportDamage(s.Damage, errors.Join(err, s.release(l)))
}

func (s *SharedLinks) acquire() (*heldLinks, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	stamp, err := stampOf(s.dir)
	if err != nil {
		return nil, err
	}
	if s.inUse == nil || s.inUse.stamp != stamp {
		l, err := OpenLinks(s.dir)
		if err != nil {
			return nil, err
		}
		if s.inUse != nil {
			l.reuseURLs(s.inUse.Links)
			if s.inUse.users == 0 {
				s.inUse.Close() // read-only files
			}
		}
		s.inUse = &heldLinks{Links: l, stamp: stamp}
	}
	s.inUse.users++
	return s.inUse, nil
}

// reuseURLs shares the URL indexes of earlier, of link runs that both have.
func (l *Links) reuseURLs(earlier *Links) {
	for i, s := range l.shards[:min(len(l.shards), len(earlier.shards))] {
		s.set.ReuseURLIndexes(earlier.shards[i].set)
	}
}

// stampOf returns a string that identifies the link files of a folder.
func stampOf(dir string) (stamp string, err error) {
	dirs, err := allShards(dir)
	for _, dir := range dirs {
		m, failed := datadir.ReadManifest(dir)
		stamp += strings.Join(append(m.Links, m.Ranks[rankvector.Default], m.Ranks[rankvector.Plain], m.Folder), " ") + "\n"
		err = errors.Join(err, failed)
	}
	return stamp, err
}

func (s *SharedLinks) release(l *heldLinks) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if l.users--; l.users == 0 && l != s.inUse {
		return l.Close()
	}
	return nil
}

// Sources returns documents that link to one of to, both ascending: at most n, and only those found
// before ctx ended. all reports whether the list is complete.
func (s *SharedLinks) Sources(ctx context.Context, to []vocab.DocID, n int) (from []vocab.DocID, all bool, err error) {
	err = s.use(func(l *Links) (err error) {
		from, all, err = l.sourcesOf(ctx, to, n)
		return err
	})
	return from, all, err
}

func (l *Links) sourcesOf(ctx context.Context, to []vocab.DocID, n int) (from []vocab.DocID, all bool, err error) {
	known := map[vocab.DocID]bool{}
	all = true
	for link, err := range l.backlinks(to) {
		if err != nil {
			return nil, false, err
		}
		if known[link.From] {
			continue
		}
		if len(from) == n || len(from)%1024 == 0 && ctx.Err() != nil {
			all = false
			break
		}
		known[link.From] = true
		from = append(from, link.From)
	}
	slices.Sort(from)
	return from, all, nil
}

// Canonical returns the document that a URL leads to as a redirect or as a duplicate of another
// page, or 0.
func (s *SharedLinks) Canonical(u weburl.URL) (doc vocab.DocID, err error) {
	err = s.use(func(l *Links) error {
		alias, err := l.Doc(u)
		if errors.Is(err, control.ErrUnknownURL) {
			return nil
		}
		if err == nil {
			doc, _ = l.canonical(alias)
		}
		return err
	})
	return doc, err
}

// Bounds of Related. Reading a block of the link database takes about 0.2 ms.
const (
	maxParents  = 200 // pages that link to the page, whose links are all read
	maxSiblings = 300 // documents with the highest scores, whose in-links are counted
)

// Related returns at most n documents that pages link to together with doc: co-citation, as in Dean
// and Henzinger, "Finding related pages in the World Wide Web" (1999). A page that links to both
// counts less the more links it has, and a document scores less the more pages link to it. Among
// equals, documents with the nearest docIDs come first: they became known about the same time.
func (s *SharedLinks) Related(ctx context.Context, doc vocab.DocID, n int) (docs []vocab.DocID, err error) {
	err = s.use(func(l *Links) error {
		siblings, err := l.siblings(ctx, doc)
		for _, s := range siblings[:min(n, len(siblings))] {
			docs = append(docs, s.doc)
		}
		return err
	})
	return docs, err
}

// A sibling is a document that a page links to together with another one.
type sibling struct {
	doc   vocab.DocID
	score float64
}

// siblings returns the siblings of a document, by descending score.
func (l *Links) siblings(ctx context.Context, doc vocab.DocID) (all []sibling, err error) {
	scores, err := l.together(ctx, doc)
	if err != nil {
		return nil, err
	}
	apart := func(s sibling) int64 { return max(int64(s.doc)-int64(doc), int64(doc)-int64(s.doc)) }
	byScore := func(a, b sibling) int {
		return cmp.Or(cmp.Compare(b.score, a.score), cmp.Compare(apart(a), apart(b)), cmp.Compare(a.doc, b.doc))
	}
	for other, p := range scores {
		all = append(all, sibling{other, p})
	}
	slices.SortFunc(all, byScore)
	all = all[:min(len(all), maxSiblings)]
	links, err := l.countIn(ctx, all)
	for i := range all {
		all[i].score /= math.Sqrt(float64(max(links[all[i].doc], 1)))
	}
	slices.SortFunc(all, byScore)
	return all, err
}

// countIn counts the links to documents. A page counts once per anchor text.
func (l *Links) countIn(ctx context.Context, to []sibling) (map[vocab.DocID]int, error) {
	docs := make([]vocab.DocID, len(to))
	for i, s := range to {
		docs[i] = s.doc
	}
	slices.Sort(docs)
	count, n := map[vocab.DocID]int{}, 0
	for link, err := range l.backlinks(docs) {
		if err != nil {
			return nil, err
		}
		count[link.To]++
		if n++; n%1024 == 0 && ctx.Err() != nil {
			break // the others count as having one link
		}
	}
	return count, nil
}

// together returns the scores of the siblings of doc before their in-links are counted.
func (l *Links) together(ctx context.Context, doc vocab.DocID) (map[vocab.DocID]float64, error) {
	parents, _, err := l.sourcesOf(ctx, []vocab.DocID{doc}, math.MaxInt)
	if err != nil {
		return nil, err
	}
	scores := map[vocab.DocID]float64{}
	step := max(1, (len(parents)+maxParents-1)/maxParents)
	for i := 0; i < len(parents) && ctx.Err() == nil; i += step {
		source, err := l.linksOf(parents[i])
		if err != nil {
			return nil, err
		}
		followed := slices.DeleteFunc(source.Targets, func(t linkdb.Target) bool { return !l.follows(t) })
		for _, t := range followed {
			if t.Doc != doc {
				scores[t.Doc] += 1 / float64(len(followed))
			}
		}
	}
	return scores, nil
}

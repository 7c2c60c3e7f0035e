package engine

import (
	"cmp"
	"context"
	"errors"
	"math"
	"os"
	"slices"
	"strings"
	"sync"

	"anatomy/disk/datadir"
	"anatomy/disk/linkdb"
	"anatomy/vocab"
)

// SharedLinks are the links of a data folder for questions of any number of goroutines. They are opened
// when they are first asked for, and again when the folder has others.
type SharedLinks struct {
	dir string

	mu    sync.Mutex
	inUse *heldLinks // nil before the first question
}

// heldLinks are closed when others are in use and the last question to them is answered.
type heldLinks struct {
	*Links
	stamp string // of the files that they are read from
	users int
}

// NewSharedLinks shares the links of the data folder dir.
func NewSharedLinks(dir string) *SharedLinks { return &SharedLinks{dir: dir} }

// Close closes the files. No question may be under way or come.
func (s *SharedLinks) Close() error {
	if s.inUse == nil {
		return nil
	}
	return s.inUse.Close()
}

// use asks the links in force.
func (s *SharedLinks) use(ask func(*Links) error) error {
	l, err := s.acquire()
	if err != nil {
		return err
	}
	return errors.Join(ask(&Links{set: l.set, find: l.set.Finder(), rank: l.rank}), s.release(l))
}

func (s *SharedLinks) acquire() (*heldLinks, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	m, err := datadir.Read(s.dir)
	if err != nil {
		return nil, err
	}
	stamp := strings.Join(m.Links, " ")
	if info, err := os.Stat(datadir.Rank(s.dir)); err == nil {
		stamp += info.ModTime().String()
	}
	if s.inUse == nil || s.inUse.stamp != stamp {
		l, err := OpenLinks(s.dir)
		if err != nil {
			return nil, err
		}
		if s.inUse != nil && s.inUse.users == 0 {
			s.inUse.Close() // files that are only read
		}
		s.inUse = &heldLinks{Links: l, stamp: stamp}
	}
	s.inUse.users++
	return s.inUse, nil
}

func (s *SharedLinks) release(l *heldLinks) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if l.users--; l.users == 0 && l != s.inUse {
		return l.Close()
	}
	return nil
}

// Sources gives documents that link to one of some, both ascending: n of them at most, and those that were
// found until ctx ended. All says that these are all.
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
	for link, err := range l.find.Backlinks(to) {
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

// The bounds of Related, each block of the link database read taking some 0.2 ms.
const (
	maxParents  = 200 // pages that link to the page, of which all links are looked at
	maxSiblings = 300 // documents that these link to most, of which all links to them are counted
)

// Related gives at most n documents that are linked to together with doc: the siblings of Dean and Henzinger,
// "Finding related pages in the World Wide Web" (1999). A page that links to both counts the less the more
// links it has, and a document the less the more pages link to it. Ties go to the documents that were known
// about the same time as doc.
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

// A sibling is a document that is linked to together with another one.
type sibling struct {
	doc    vocab.DocID
	points float64
}

// siblings of a document, those first that have most to do with it.
func (l *Links) siblings(ctx context.Context, doc vocab.DocID) (all []sibling, err error) {
	points, err := l.together(ctx, doc)
	if err != nil {
		return nil, err
	}
	apart := func(s sibling) int64 { return max(int64(s.doc)-int64(doc), int64(doc)-int64(s.doc)) }
	byPoints := func(a, b sibling) int {
		return cmp.Or(cmp.Compare(b.points, a.points), cmp.Compare(apart(a), apart(b)), cmp.Compare(a.doc, b.doc))
	}
	for other, p := range points {
		all = append(all, sibling{other, p})
	}
	slices.SortFunc(all, byPoints)
	all = all[:min(len(all), maxSiblings)]
	links, err := l.countIn(ctx, all)
	for i := range all {
		all[i].points /= math.Sqrt(float64(max(links[all[i].doc], 1)))
	}
	slices.SortFunc(all, byPoints)
	return all, err
}

// countIn counts the links to documents, a page's once for each of its texts.
func (l *Links) countIn(ctx context.Context, to []sibling) (map[vocab.DocID]int, error) {
	docs := make([]vocab.DocID, len(to))
	for i, s := range to {
		docs[i] = s.doc
	}
	slices.Sort(docs)
	count, n := map[vocab.DocID]int{}, 0
	for link, err := range l.find.Backlinks(docs) {
		if err != nil {
			return nil, err
		}
		count[link.To]++
		if n++; n%1024 == 0 && ctx.Err() != nil {
			break // those that are left count as linked to once
		}
	}
	return count, nil
}

// together gives each document that is linked to together with doc a share of every page that does so.
func (l *Links) together(ctx context.Context, doc vocab.DocID) (map[vocab.DocID]float64, error) {
	parents, _, err := l.sourcesOf(ctx, []vocab.DocID{doc}, math.MaxInt)
	if err != nil {
		return nil, err
	}
	points := map[vocab.DocID]float64{}
	step := max(1, (len(parents)+maxParents-1)/maxParents)
	for i := 0; i < len(parents) && ctx.Err() == nil; i += step {
		source, err := l.find.Links(parents[i])
		if err != nil {
			return nil, err
		}
		followed := slices.DeleteFunc(source.Targets, func(t linkdb.Target) bool { return !l.follows(t) })
		for _, t := range followed {
			if t.Doc != doc {
				points[t.Doc] += 1 / float64(len(followed))
			}
		}
	}
	return points, nil
}

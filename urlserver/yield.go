package urlserver

import (
	"fmt"
	"math/bits"

	"github.com/cespare/xxhash/v2"

	"anatomy/disk/docindex"
	"anatomy/urlserver/seen"
	"anatomy/vocab"
	"anatomy/weburl"
)

// What pages show decides how many more of their kind are fetched. Of every folder and query pattern
// ([shapes]) it is counted how many pages showed a text that was new there, and how many one that had
// been there before. A shape is spent, and the rest of it refused, when
//
//	repeated > Options.Repeats + worth × new
//
// A folder of real pages never is, however large. A mirror of another folder is not: its texts are new
// in it, and outside both their folder has as many new pages as repeated ones. A page that answers to
// every name is spent after Options.Repeats of them, and so is a maze of rooms that look alike.
//
// Two texts are the same here where they have the same words, numbers left out, in any order
// and number. So a calendar's empty months are alike, and pages of real text never.

// worth is how many repeated pages a new one makes up for. A site in five versions repeats itself in
// four; parameters that show nothing new are mostly noise.
func worth(kind docindex.Trap) uint64 {
	if kind == docindex.SpentFolder {
		return 4
	}
	return 1
}

// yields remember what shapes have brought. What was counted since the last Done is in fresh, and goes
// to the disk with it; from there it comes back when it is asked for and no longer cached. To spare
// writes, new pages alone are written each time their number doubles: a crash may forget half of them.
type yields struct {
	cache seen.Cache[docindex.Yield] // by host and shape
	fresh map[shapeOf]docindex.Yield // to be written
	shown []uint32                   // hashes of host, shape and text, each at its place: the latest stays
}

type shapeOf struct{ host, shape string }

const (
	yieldEntries = 1 << 16
	shownBits    = 20 // 4 MB: the texts of the last 200,000 pages or so
)

func newYields() yields {
	return yields{cache: seen.New[docindex.Yield](seen.Clock, yieldEntries), fresh: map[shapeOf]docindex.Yield{}}
}

func (k shapeOf) hash() vocab.Fingerprint {
	var d xxhash.Digest
	d.Reset()
	d.WriteString(k.host)
	d.Write([]byte{0})
	d.WriteString(k.shape)
	return vocab.Fingerprint(d.Sum64())
}

// known says whether a shape showed a text before, as far as is remembered, and remembers that it has.
func (y *yields) known(shape vocab.Fingerprint, sum uint64) bool {
	if y.shown == nil {
		y.shown = make([]uint32, 1<<shownBits)
	}
	h := (uint64(shape) ^ bits.RotateLeft64(sum, 32)) * 0x9e3779b97f4a7c15
	place, tag := h>>(64-shownBits), uint32(h)|1
	was := y.shown[place] == tag
	y.shown[place] = tag
	return was
}

// note counts a page of a shape.
func (s *Server) note(k shapeOf, sum uint64) (docindex.Yield, error) {
	fp := k.hash()
	y, ok := s.yields.fresh[k]
	if !ok {
		if y, ok = s.yields.cache.Get(fp); !ok {
			var err error
			if y, err = s.db.Yield(k.host, k.shape); err != nil {
				return y, err
			}
		}
	}
	before := y
	if s.yields.known(fp, sum) {
		y.Repeated++
	} else {
		y.New++
	}
	s.yields.cache.Put(fp, y)
	if _, waits := s.yields.fresh[k]; waits || y.Repeated != before.Repeated || bits.Len64(y.New) != bits.Len64(before.New) {
		s.yields.fresh[k] = y
	}
	return y, nil
}

// write puts what was counted since the last time into a batch.
func (y *yields) write(b *docindex.Batch) {
	for k, v := range y.fresh {
		b.PutYield(k.host, k.shape, v)
	}
	clear(y.fresh)
}

// Shown tells what text a page in flight shows: a sum that texts of the same words have in common. It is told
// when the page is there, before its links are added and long before it is done, so that a trap that
// answers fast has no time to fill the queue.
func (s *Server) Shown(doc vocab.DocID, sum uint64) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	f := s.inFlight[doc]
	if s.err != nil || f == nil || f.shown || s.o.Repeats < 0 || !untold(&f.record) {
		return s.err
	}
	f.shown = true
	u, err := weburl.Parse(f.record.URL)
	if err != nil {
		return s.fail(err)
	}
	for _, shape := range shapes(&u) {
		y, err := s.note(shapeOf{f.host.name, shape}, sum)
		if err == nil && s.isSpent(shape, y) && f.host.spent[shape] == 0 {
			err = s.spend(f.host, shape)
		}
		if err != nil {
			return s.fail(err)
		}
	}
	return nil
}

// untold says whether a document has shown nothing before: a page that is fetched again repeats itself.
func untold(r *docindex.Record) bool { return r.History.Visits == 0 }

func (s *Server) isSpent(shape string, y docindex.Yield) bool {
	return s.o.Repeats >= 0 && y.Repeated > uint64(s.o.Repeats)+worth(kindOf(shape))*y.New
}

// spend closes a shape of a host.
func (s *Server) spend(h *host, shape string) error {
	if h.spent == nil {
		h.spent = map[string]docindex.Trap{}
	}
	h.spent[shape] = kindOf(shape)
	h.Spent = true
	b := s.db.NewBatch()
	b.PutHost(h.name, h.HostRecord)
	s.yields.write(b)
	return b.Commit()
}

// host finds the host of a URL, or makes it, with its folders that are spent by the options of today.
func (s *Server) host(name, hostname string) (*host, error) {
	h, err := s.frontier.host(name, hostname, s.db.Host)
	if err != nil || !h.Spent || h.spent != nil {
		return h, err
	}
	h.spent = map[string]docindex.Trap{}
	return h, s.db.EachYield(name, func(shape string, y docindex.Yield) error {
		if s.isSpent(shape, y) {
			h.spent[shape] = kindOf(shape)
		}
		return nil
	})
}

// trap says whether a URL of a host is in a shape that is spent.
func (h *host) trap(u *weburl.URL) docindex.Trap {
	if len(h.spent) == 0 {
		return 0
	}
	for _, shape := range shapes(u) {
		if t := h.spent[shape]; t != 0 {
			return t
		}
	}
	return 0
}

// Yield is what was fetched of a folder or query pattern of a host.
func (s *Server) Yield(host, shape string) (docindex.Yield, error) {
	s.mu.Lock()
	y, ok := s.yields.fresh[shapeOf{host, shape}]
	s.mu.Unlock()
	if ok {
		return y, nil
	}
	return s.db.Yield(host, shape)
}

// WhyTrapped says for people why a document is not fetched, with the figures of its folder.
func WhyTrapped(db interface {
	Yield(host, shape string) (docindex.Yield, error)
}, r *docindex.Record) (string, error) {
	if r.Trap != docindex.SpentFolder && r.Trap != docindex.SpentQuery {
		return r.Trap.String(), nil
	}
	u, err := weburl.Parse(r.URL)
	if err != nil {
		return "", err
	}
	var worst docindex.Yield
	why := r.Trap.String()
	for _, shape := range shapes(&u) {
		y, err := db.Yield(u.Host(), shape)
		if err != nil {
			return "", err
		}
		if kind := kindOf(shape); kind == r.Trap && y.Repeated > worth(kind)*y.New && y.Repeated > worst.Repeated {
			worst = y
			why = fmt.Sprintf("%s repeats itself: %d of its %d pages showed nothing new", u.Host()+shape, y.Repeated, y.New+y.Repeated)
		}
	}
	return why, nil
}

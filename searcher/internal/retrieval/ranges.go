package retrieval

import (
	"fmt"
	"sort"
	"strings"

	"anatomy/vocab"
	"anatomy/weburl"
)

// A Range is the ordinals in [From, To).
type Range struct{ From, To vocab.Ordinal }

// A RangeIterator walks ranges of ordinals.
type RangeIterator struct {
	ranges []Range // ascending, none empty
	docs   int
}

// Ranges returns the ranges, ascending.
func (it *RangeIterator) Ranges() []Range { return it.ranges }

// Cost returns the exact number of documents.
func (it *RangeIterator) Cost() int { return it.docs }

// Advance implements [Iterator]. It may also move backward.
func (it *RangeIterator) Advance(target vocab.Ordinal) vocab.Ordinal {
	i := sort.Search(len(it.ranges), func(i int) bool { return it.ranges[i].To > target })
	if i == len(it.ranges) {
		return End
	}
	return max(target, it.ranges[i].From)
}

// Site returns an iterator over the documents of site:spec. Documents are sorted by URL key, so a
// host with its subdomains is one range. A folder is up to three ranges per host that has it: /dir
// itself, /dir/… and /dir?… .
func (w *Walk) Site(spec string) *RangeIterator {
	it := &RangeIterator{}
	u, err := weburl.Parse("http://" + spec)
	low, high, ok := weburl.SiteKeys(spec)
	if err != nil || !ok {
		return it
	}
	_, path, _ := strings.Cut(u.Key(), "/")
	path = strings.TrimRight("/"+path, "/")
	switch {
	case path == "":
		it.add(w, low, high)
	case u.Port() != "":
		it.addFolder(w, strings.TrimRight(u.Key(), "/"))
	default:
		it.addFolders(w, low, high, path)
	}
	return it
}

// add adds the documents with keys in [low, high).
func (it *RangeIterator) add(w *Walk, low, high string) {
	from, to, err := w.part.Segment.Range(low, high)
	w.fail(err)
	if err == nil && from < to {
		it.ranges = append(it.ranges, Range{from, to})
		it.docs += int(to - from)
	}
}

// addFolder adds the folder with a key.
func (it *RangeIterator) addFolder(w *Walk, key string) {
	it.add(w, key, key+"\x00")
	it.add(w, key+"/", key+"0")
	it.add(w, key+"?", key+"@")
}

// addFolders adds the folder at a path of every host with keys in [low, high).
func (it *RangeIterator) addFolders(w *Walk, low, high, path string) {
	seg := w.part.Segment
	from, to, err := seg.Range(low, high)
	for err == nil && from < to && !w.clock.Check() {
		host := seg.Host(from)
		it.addFolder(w, host+path)
		var next vocab.Ordinal
		if _, next, err = seg.Range(host+"/", host+"0"); err == nil && next <= from {
			err = fmt.Errorf("segment %s: document %d is out of order", w.part.Name, from)
		}
		from = next
	}
	w.fail(err)
}

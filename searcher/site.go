package searcher

import (
	"fmt"
	"sort"
	"strings"

	"anatomy/vocab"
	"anatomy/weburl"
)

// A rangeCursor walks ranges of ordinals.
type rangeCursor struct {
	ranges []ordinals // ascending, none empty
	n      int        // documents in all
}

// Ordinals are those in [from, to).
type ordinals struct{ from, to vocab.Ordinal }

func (c *rangeCursor) cost() int { return c.n }

func (c *rangeCursor) advance(to vocab.Ordinal) vocab.Ordinal {
	i := sort.Search(len(c.ranges), func(i int) bool { return c.ranges[i].to > to })
	if i == len(c.ranges) {
		return end
	}
	return max(to, c.ranges[i].from)
}

// site makes the cursor of site:spec. Documents lie in the order of their URLs' keys, so that a
// host with its subdomains is one range; a folder is up to three for each host that has it:
// /dir itself, /dir/… and /dir?… .
func (w *walk) site(spec string) cursor {
	c := &rangeCursor{}
	u, err := weburl.Parse("http://" + spec)
	lo, hi, ok := weburl.SiteKeys(spec)
	if err != nil || !ok {
		return c
	}
	_, path, _ := strings.Cut(u.Key(), "/")
	path = strings.TrimRight("/"+path, "/")
	switch {
	case path == "":
		w.add(c, lo, hi)
	case u.Port() != "":
		w.addFolder(c, strings.TrimRight(u.Key(), "/"))
	default:
		w.addFolders(c, lo, hi, path)
	}
	return c
}

// add adds the documents with keys in [lo, hi).
func (w *walk) add(c *rangeCursor, lo, hi string) {
	from, to, err := w.part.seg.Range(lo, hi)
	w.fail(err)
	if err == nil && from < to {
		c.ranges = append(c.ranges, ordinals{from, to})
		c.n += int(to - from)
	}
}

func (w *walk) addFolder(c *rangeCursor, key string) {
	w.add(c, key, key+"\x00")
	w.add(c, key+"/", key+"0")
	w.add(c, key+"?", key+"@")
}

// addFolders adds a folder of every host with keys in [lo, hi), going from host to host.
func (w *walk) addFolders(c *rangeCursor, lo, hi, path string) {
	from, to, err := w.part.seg.Range(lo, hi)
	for err == nil && from < to && !w.clock.look() {
		host := w.part.seg.Host(from)
		w.addFolder(c, host+path)
		var after vocab.Ordinal
		if _, after, err = w.part.seg.Range(host+"/", host+"0"); err == nil && after <= from {
			err = fmt.Errorf("segment %s: document %d is out of order", w.part.name, from)
		}
		from = after
	}
	w.fail(err)
}

package segment

import (
	"math"
	"slices"

	"anatomy/analysis"
	"anatomy/vocab"
	"anatomy/weburl"
)

// A columnWriter collects the columns of a segment.
type columnWriter struct {
	docIDs     []vocab.DocID
	lengths    []uint32
	depths     []uint8
	titles     []uint32
	hosts      []hostRun
	sketches   []vocab.Sketch
	genres     []vocab.Genre
	media      []vocab.Medium
	languages  []Language
	dates      []vocab.Day
	controls   []docControls
	crawled    []bool
	tombstones []vocab.DocID

	tokenizer analysis.Tokenizer // of titles
}

// add adds a document, whose URL has a key.
func (c *columnWriter) add(info *vocab.DocInfo, u *weburl.URL, key string) {
	ord := vocab.Ordinal(len(c.docIDs))
	c.docIDs = append(c.docIDs, info.Doc)
	c.lengths = append(c.lengths, info.Words)
	c.depths = append(c.depths, uint8(min(u.Depth(), math.MaxUint8)))
	c.crawled = append(c.crawled, info.Crawled)
	c.sketches = append(c.sketches, info.Sketch)
	c.genres = append(c.genres, info.Genre)
	c.media = append(c.media, info.Medium)
	c.languages = append(c.languages, LanguageOf(info.Lang))
	c.dates = append(c.dates, info.Date)
	if info.Controls != (vocab.Controls{}) {
		c.controls = append(c.controls, docControls{ord, info.Controls})
	}
	c.titles = append(c.titles, titleOf(&c.tokenizer, info.Title).packed())
	if host := hostOf(key); len(c.hosts) == 0 || c.hosts[len(c.hosts)-1].name != host {
		c.hosts = append(c.hosts, hostRun{ord, host})
	}
}

// write calls set with each column except "b", in ascending order of names.
func (c *columnWriter) write(set func(name byte, value []byte) error) error {
	slices.Sort(c.tombstones)
	c.tombstones = slices.Compact(c.tombstones)
	for _, column := range []struct {
		name  byte
		value []byte
	}{
		{'c', appendBits(nil, c.crawled)},
		{'d', appendColumn(nil, c.docIDs)},
		{'g', appendColumn(nil, c.genres)},
		{'h', appendHosts(nil, c.hosts)},
		{'l', appendColumn(nil, c.languages)},
		{'m', appendColumn(nil, c.media)},
		{'n', appendColumn(nil, c.titles)},
		{'p', appendControls(nil, c.controls)},
		{'r', appendTombstones(nil, c.tombstones)},
		{'s', appendSketches(nil, c.sketches)},
		{'t', appendColumn(nil, c.dates)},
		{'u', appendColumn(nil, c.depths)},
		{'w', appendColumn(nil, c.lengths)},
	} {
		if column.name == 'p' && len(c.controls) == 0 {
			continue
		}
		if err := set(column.name, column.value); err != nil {
			return err
		}
	}
	return nil
}

// averageWords returns the average length of the documents with text.
func averageWords(lengths []uint32) float64 {
	total, n := uint64(0), uint64(0)
	for _, words := range lengths {
		if words > 0 {
			total += uint64(words)
			n++
		}
	}
	return float64(total) / float64(max(n, 1))
}

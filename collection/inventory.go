package collection

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"path/filepath"

	"anatomy/control"
	"anatomy/disk/datadir"
	"anatomy/disk/docindex"
	"anatomy/disk/linkdb"
	"anatomy/disk/segment"
	"anatomy/ranking"
	"anatomy/vocab"
)

// An Inventory describes the content of a data folder, and the space that it takes.
type Inventory struct {
	Pages     int                    `json:"pages"`     // fetched documents in the index
	Uncrawled int                    `json:"uncrawled"` // documents in the index that are only known from links
	Segments  int                    `json:"segments"`
	OldTerms  int                    `json:"oldTerms,omitempty"` // segments for which [segment.Segment.OldTerms] is true
	Words     uint64                 `json:"words"`              // distinct words in the largest segment
	Postings  uint64                 `json:"postings"`
	Hits      uint64                 `json:"hits"`
	Links     uint64                 `json:"links"`
	Rank      string                 `json:"rank"`  // parameters of the current vector, or ""
	Ranks     []ranking.VectorStatus `json:"ranks"` // all vectors, by name
	Rows      []Row                  `json:"rows"`
	Scripted  *Scripted              `json:"scripted"`
	Outcomes  map[string]uint64      `json:"outcomes,omitempty"` // of fetches, from AddOutcomes

	scripted map[string]int // pages that Scripted counts, by host
}

// A Row is the size of one structure.
type Row struct {
	Name  string  `json:"name"`
	Bytes int64   `json:"bytes"`
	Paper float64 `json:"paper"` // BP98 Table 1, in bytes per page; 0 if it has no such row
}

// paperPages is the number of pages of Table 1 of BP98, and gigabyte its unit.
const (
	paperPages = 24e6
	gigabyte   = 1e9
)

// ReadInventory measures the data folder dir, or all shards of a folder. It takes no lock.
func ReadInventory(dir string) (*Inventory, error) {
	dirs, err := allShards(dir)
	if err != nil {
		return nil, err
	}
	i, err := readInventory(dirs[0])
	for _, dir := range dirs[1:] {
		if err != nil {
			return nil, err
		}
		var other *Inventory
		if other, err = readInventory(dir); err == nil {
			i.add(other)
		}
	}
	if err != nil {
		return nil, err
	}
	i.Scripted = newScripted(i.scripted)
	return i, nil
}

// add adds the inventory of another shard. A link between two shards counts in both.
func (i *Inventory) add(other *Inventory) {
	i.Pages, i.Uncrawled = i.Pages+other.Pages, i.Uncrawled+other.Uncrawled
	i.Segments, i.Words = i.Segments+other.Segments, max(i.Words, other.Words)
	i.OldTerms += other.OldTerms
	i.Postings, i.Hits, i.Links = i.Postings+other.Postings, i.Hits+other.Hits, i.Links+other.Links
	for k := range i.Rows {
		i.Rows[k].Bytes += other.Rows[k].Bytes
	}
	i.Ranks = ranking.AddShard(i.Ranks, other.Ranks)
	for host, n := range other.scripted {
		i.scripted[host] += n
	}
}

// readInventory measures one data folder.
func readInventory(dir string) (*Inventory, error) {
	m, err := datadir.ReadManifest(dir)
	if err != nil {
		return nil, err
	}
	i := &Inventory{Segments: len(m.Segments), scripted: map[string]int{}}
	lists, err := i.segments(dir, m)
	if err != nil {
		return nil, err
	}
	links, err := linkdb.CountFolder(dir, m)
	if err != nil {
		return nil, err
	}
	i.Links = links.Links
	if i.Ranks, err = ranking.ListFor(dir, links); err != nil {
		return nil, err
	}
	for _, v := range i.Ranks {
		if v.Name != ranking.Default {
			continue
		}
		i.Rank = fmt.Sprintf("damping %g, %d iterations, residual %.2g, computed %s", v.Damping, v.Iterations, v.Residual, v.Computed.Format("2006-01-02 15:04:05"))
		if v.Personalized != "" {
			i.Rank += ", personalised to " + v.Personalized
		}
	}
	below := func(sub string) func(dir string) (int64, error) {
		return func(dir string) (int64, error) { return datadir.FolderSize(filepath.Join(dir, sub)) }
	}
	for _, part := range []struct {
		name  string
		size  func(dir string) (int64, error)
		paper float64 // in gigabytes, from Table 1
	}{
		{"repository", datadir.RepositorySize, 53.5},
		{textsOfPages, below("index"), 0},
		{"document index, seen set, frontier", below("docindex"), 9.7},
		{"links and anchors", below("links"), 3.9 + 6.6},
		{"rank vector", below("rank"), 0},
	} {
		bytes, err := part.size(dir)
		if err != nil {
			return nil, err
		}
		if part.name == textsOfPages {
			i.Rows = append(i.Rows, lists...)
			for _, r := range lists {
				bytes -= r.Bytes
			}
		}
		i.Rows = append(i.Rows, Row{part.name, max(bytes, 0), part.paper * gigabyte / paperPages})
	}
	total := Row{Name: "total", Paper: 108.7 * gigabyte / paperPages}
	for _, r := range i.Rows {
		total.Bytes += r.Bytes
	}
	i.Rows = append(i.Rows, total)
	return i, nil
}

// textsOfPages names the part of the index outside the posting lists.
const textsOfPages = "texts of pages, for results"

// segments counts the content of the segments and returns the sizes of their lists.
func (i *Inventory) segments(dir string, m datadir.Manifest) (rows []Row, err error) {
	var all segment.Sizes
	for _, name := range m.Segments {
		s, err := segment.Open(datadir.Segment(dir, name), nil)
		if err != nil {
			return nil, err
		}
		sizes, err := s.Sizes()
		if err != nil {
			return nil, errors.Join(err, s.Close())
		}
		all.Hits, all.Postings, all.Dictionary = all.Hits+sizes.Hits, all.Postings+sizes.Postings, all.Dictionary+sizes.Dictionary
		for ord := range vocab.Ordinal(s.Docs()) {
			if s.Crawled(ord) {
				i.Pages++
			} else {
				i.Uncrawled++
			}
		}
		if s.OldTerms() {
			i.OldTerms++
		}
		if err := addScripted(i.scripted, s); err != nil {
			return nil, errors.Join(err, s.Close())
		}
		postings, hits := s.Totals(segment.Full)
		i.Postings, i.Hits, i.Words = i.Postings+postings, i.Hits+hits, max(i.Words, s.Terms())
		if err := s.Close(); err != nil {
			return nil, err
		}
	}
	return []Row{
		{"inverted index: documents and impacts", all.Postings, 0},
		{"inverted index: hits", all.Hits, (4.1 + 37.2) * gigabyte / paperPages},
		{"lexicon, with the lists of rare words", all.Dictionary, 0.293 * gigabyte / paperPages},
	}, nil
}

// AddOutcomes adds the outcomes of fetches, from the running crawl or from the document index. It
// adds none while another process writes to the folder. It locks the folder for a moment, so a
// server should not call it.
func (i *Inventory) AddOutcomes(ctx context.Context, dir string) error {
	if st, err := control.New(dir).Status(ctx); err == nil {
		i.Outcomes = map[string]uint64{}
		for name, n := range st.Outcomes {
			i.Outcomes[name] = uint64(n)
		}
		return nil
	}
	dirs, err := allShards(dir)
	if err != nil {
		return err
	}
	for _, dir := range dirs {
		if err := docindex.Use(dir, i.addOutcomes); err != nil && !datadir.IsBusy(err) {
			return err
		}
	}
	return nil
}

func (i *Inventory) addOutcomes(db *docindex.DB) error {
	if i.Outcomes == nil {
		i.Outcomes = map[string]uint64{}
	}
	counts, err := db.Counts()
	if err != nil {
		return err
	}
	for o, n := range counts.Outcomes {
		if n > 0 {
			i.Outcomes[vocab.Outcome(o).String()] += n
		}
	}
	if counts.Outcomes[vocab.NotFound] == 0 {
		return nil
	}
	err = db.EachContaining("401 ", 1, func(r docindex.Record) error {
		if f := r.Fetch; f != nil && f.NeedsLogin() {
			i.Outcomes[f.Outcome.String()]--
			i.Outcomes[f.Outcome.Name(f.Status)]++
		}
		return nil
	})
	maps.DeleteFunc(i.Outcomes, func(_ string, n uint64) bool { return n == 0 })
	return err
}

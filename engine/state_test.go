package engine

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"anatomy/disk/datadir"
	"anatomy/disk/docindex"
	"anatomy/disk/repository"
	"anatomy/disk/segment"
	"anatomy/vocab"
)

// records are those of the document index of a folder that nobody writes to, by docID.
func records(t testing.TB, dir string) map[vocab.DocID]docindex.Record {
	t.Helper()
	all := map[vocab.DocID]docindex.Record{}
	must(t, withDocuments(dir, func(db *docindex.DB) error {
		return db.Each(1, func(r docindex.Record) error {
			all[r.Doc] = r
			return nil
		})
	}))
	return all
}

// canonical follows aliases the plain way; 0 is no document.
func canonical(all map[vocab.DocID]docindex.Record, doc vocab.DocID) vocab.DocID {
	for range 16 {
		r := all[doc]
		switch {
		case r.Fetch == nil:
			return doc
		case r.Fetch.Alias != 0:
			doc = r.Fetch.Alias
		case gone(r.Fetch.Outcome):
			return 0
		default:
			return doc
		}
	}
	return 0
}

// bodies are the pages of the repository by the docID of those that are in force.
func bodies(t testing.TB, dir string, all map[vocab.DocID]docindex.Record) map[vocab.DocID]vocab.Page {
	t.Helper()
	r, err := repository.OpenReader(datadir.Repository(dir))
	must(t, err)
	defer r.Close()
	pages := map[vocab.DocID]vocab.Page{}
	must(t, r.Scan(0, func(place vocab.Place, record *repository.Record) error {
		d := all[record.Page.Doc]
		if record.Kind == repository.PageRecord && d.Fetch != nil && d.Fetch.Place == place {
			page := record.Page
			page.Body = slices.Clone(page.Body)
			pages[d.Doc] = page
		}
		return nil
	}))
	return pages
}

// fates says of every URL known what became of it: the content that it leads to, or the outcome.
// DocIDs and which of two twins came first do not show.
func fates(t testing.TB, dir string) map[string]string {
	t.Helper()
	all := records(t, dir)
	pages := bodies(t, dir, all)
	fate := map[string]string{}
	for doc, r := range all {
		switch {
		case r.Fetch == nil:
			fate[r.URL] = r.State.String()
		case r.Fetch.Outcome == vocab.Fetched && r.Kind == vocab.SitemapTarget:
			fate[r.URL] = "sitemap"
		case r.Fetch.Outcome == vocab.Fetched || r.Fetch.Outcome == vocab.Redirected:
			of := canonical(all, doc)
			page, ok := pages[of]
			fate[r.URL] = r.Fetch.Outcome.String()
			if ok {
				fate[r.URL] += " " + vocab.ContentOf(page.Body).String()
			} else if last := all[of]; of != 0 && last.Fetch != nil {
				fate[r.URL] += ", " + last.Fetch.Outcome.String()
			}
		default:
			fate[r.URL] = r.Fetch.Outcome.String()
		}
	}
	return fate
}

// searchable describes every document that can be found: its content, or its URL where it was never
// fetched, with all its hits but those of the URL, for of two twins either may have come first.
func searchable(t testing.TB, dir string) []string {
	t.Helper()
	all := records(t, dir)
	pages := bodies(t, dir, all)
	m, err := datadir.Read(dir)
	must(t, err)
	dead := map[vocab.DocID]bool{}
	var found []string
	for _, name := range slices.Backward(m.Segments) {
		s, err := segment.Open(datadir.Segment(dir, name), nil)
		must(t, err)
		hits := make([]strings.Builder, s.Docs())
		scan, err := s.Scan(segment.Full)
		must(t, err)
		for scan.NextWord() {
			for scan.Next() {
				list, err := scan.Hits()
				must(t, err)
				for _, hit := range list {
					if hit.Field() != vocab.URLField {
						fmt.Fprintf(&hits[scan.Ord()], " %s:%v", scan.Word(), hit)
					}
				}
			}
		}
		must(t, scan.Err())
		scan.Close()
		for ord := range vocab.Ordinal(s.Docs()) {
			info, err := s.Info(ord)
			must(t, err)
			if !dead[info.Doc] {
				id := info.URL
				if info.Crawled {
					id = vocab.ContentOf(pages[info.Doc].Body).String()
				}
				found = append(found, fmt.Sprintf("%s %q%s", id, info.Title, hits[ord].String()))
			}
			dead[info.Doc] = true
		}
		for _, doc := range s.Removed() {
			dead[doc] = true
		}
		must(t, s.Close())
	}
	slices.Sort(found)
	return found
}

// ranks are those of a folder by content, or by URL where there is none, to six digits.
func ranks(t testing.TB, dir string) map[string]string {
	t.Helper()
	v, err := readRanks(dir)
	must(t, err)
	all := records(t, dir)
	pages := bodies(t, dir, all)
	byName := map[string]string{}
	for doc, rank := range v.Ranks {
		if rank == 0 {
			continue
		}
		name := all[vocab.DocID(doc)].URL
		if page, ok := pages[vocab.DocID(doc)]; ok {
			name = vocab.ContentOf(page.Body).String()
		}
		byName[name] = fmt.Sprintf("%.6f", rank)
	}
	return byName
}

// checked fails for everything that Check reports.
func checked(t testing.TB, dir string) {
	t.Helper()
	n := 0
	must(t, Check(context.Background(), dir, CheckReport{Checked: func(string, string) { n++ }, Problem: func(err error) { t.Errorf("check: %v", err) }}))
	if n == 0 {
		t.Error("nothing was checked")
	}
}

// sameMaps compares and tells the first differences.
func sameMaps[V cmp.Ordered](t testing.TB, what string, got, want map[string]V) {
	t.Helper()
	if len(want) == 0 {
		t.Fatalf("%s: nothing to compare", what)
	}
	shown := 0
	keys := map[string]bool{}
	for key := range got {
		keys[key] = true
	}
	for key := range want {
		keys[key] = true
	}
	for _, key := range slices.Sorted(maps.Keys(keys)) {
		g, inGot := got[key]
		w, inWant := want[key]
		if g != w || inGot != inWant {
			if shown++; shown <= 5 {
				t.Errorf("%s: %s is %v (%v), want %v (%v)", what, key, g, inGot, w, inWant)
			}
		}
	}
	if shown > 5 {
		t.Errorf("%s: %d differences in all, of %d", what, shown, len(want))
	}
}

func sameLists(t testing.TB, what string, got, want []string) {
	t.Helper()
	count := func(all []string) map[string]int {
		counts := map[string]int{}
		for _, s := range all {
			counts[s]++
		}
		return counts
	}
	sameMaps(t, what, count(got), count(want))
}

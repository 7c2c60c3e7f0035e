package testweb

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
	"anatomy/disk/rankvector"
	"anatomy/disk/repository"
	"anatomy/disk/segment"
	"anatomy/index"
	"anatomy/upkeep"
	"anatomy/vocab"
)

// Records returns the records of the document index by docID. No process may write to the folder.
func Records(t testing.TB, dir string) map[vocab.DocID]docindex.Record {
	t.Helper()
	all := map[vocab.DocID]docindex.Record{}
	Must(t, docindex.Use(dir, func(db *docindex.DB) error {
		return db.Each(1, func(r docindex.Record) error {
			all[r.Doc] = r
			return nil
		})
	}))
	return all
}

// Canonical follows aliases one by one. It returns 0 if they lead to no document.
func Canonical(all map[vocab.DocID]docindex.Record, doc vocab.DocID) vocab.DocID {
	for range 16 {
		r := all[doc]
		switch {
		case r.Fetch == nil:
			return doc
		case r.Fetch.Alias != 0:
			doc = r.Fetch.Alias
		case index.IsNotFound(r.Fetch.Outcome):
			return 0
		default:
			return doc
		}
	}
	return 0
}

// Bodies returns the pages that the document index names, by docID.
func Bodies(t testing.TB, dir string, all map[vocab.DocID]docindex.Record) map[vocab.DocID]vocab.Page {
	t.Helper()
	r, err := repository.OpenReader(datadir.Repository(dir))
	Must(t, err)
	defer r.Close()
	pages := map[vocab.DocID]vocab.Page{}
	Must(t, r.Scan(0, func(place vocab.Address, record *repository.Record) error {
		d := all[record.Page.Doc]
		if record.Kind == repository.PageRecord && d.Fetch != nil && d.Fetch.Address == place {
			page := record.Page
			page.Body = slices.Clone(page.Body)
			pages[d.Doc] = page
		}
		return nil
	}))
	return pages
}

// Fates returns, for every known URL, the content that it leads to, or the outcome. It does not
// depend on docIDs, nor on which of two duplicates was fetched first.
func Fates(t testing.TB, dir string) map[string]string {
	t.Helper()
	all := Records(t, dir)
	pages := Bodies(t, dir, all)
	fate := map[string]string{}
	for doc, r := range all {
		switch {
		case r.Fetch == nil:
			fate[r.URL] = r.State.String()
		case r.Fetch.Outcome == vocab.Fetched && r.Kind == vocab.SitemapTarget:
			fate[r.URL] = "sitemap"
		case r.Fetch.Outcome == vocab.Fetched || r.Fetch.Outcome == vocab.Redirected:
			of := Canonical(all, doc)
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

// Searchable describes every document of the index: its content, or its URL if it was never
// fetched, and all its hits but those of the URL, which depend on which of two duplicates was
// fetched first.
func Searchable(t testing.TB, dir string) []string {
	t.Helper()
	all := Records(t, dir)
	pages := Bodies(t, dir, all)
	m, err := datadir.ReadManifest(dir)
	Must(t, err)
	dead := map[vocab.DocID]bool{}
	var found []string
	for _, name := range slices.Backward(m.Segments) {
		s, err := segment.Open(datadir.Segment(dir, name), nil)
		Must(t, err)
		hits := make([]strings.Builder, s.Docs())
		scan, err := s.Scan(segment.Full)
		Must(t, err)
		for scan.NextTerm() {
			for scan.Next() {
				list, err := scan.Hits()
				Must(t, err)
				for _, hit := range list {
					if hit.Field() != vocab.URLField {
						fmt.Fprintf(&hits[scan.Ord()], " %s:%v", scan.Term(), hit)
					}
				}
			}
		}
		Must(t, scan.Err())
		scan.Close()
		for ord := range vocab.Ordinal(s.Docs()) {
			info, err := s.Info(ord)
			Must(t, err)
			if !dead[info.Doc] {
				id := info.URL
				if info.Crawled {
					id = vocab.ContentOf(pages[info.Doc].Body).String()
				}
				found = append(found, fmt.Sprintf("%s %q%s", id, info.Title, hits[ord].String()))
			}
			dead[info.Doc] = true
		}
		for _, doc := range s.Tombstones() {
			dead[doc] = true
		}
		Must(t, s.Close())
	}
	slices.Sort(found)
	return found
}

// Ranks returns the ranks by content, or by URL if there is none, to six digits.
func Ranks(t testing.TB, dir string) map[string]string {
	t.Helper()
	v, err := rankvector.ReadFolder(dir, rankvector.Default)
	Must(t, err)
	all := Records(t, dir)
	pages := Bodies(t, dir, all)
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

// Checked fails for every problem that upkeep.Check reports.
func Checked(t testing.TB, dir string) {
	t.Helper()
	n := 0
	Must(t, upkeep.Check(context.Background(), dir, upkeep.CheckReport{Checked: func(string, string) { n++ }, Problem: func(err error) { t.Errorf("check: %v", err) }}))
	if n == 0 {
		t.Error("nothing was checked")
	}
}

// SameMaps fails with the first differences of two maps.
func SameMaps[V cmp.Ordered](t testing.TB, what string, got, want map[string]V) {
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

// SameLists fails with the differences of two lists.
func SameLists(t testing.TB, what string, got, want []string) {
	t.Helper()
	count := func(all []string) map[string]int {
		counts := map[string]int{}
		for _, s := range all {
			counts[s]++
		}
		return counts
	}
	SameMaps(t, what, count(got), count(want))
}

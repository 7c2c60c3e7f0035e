package searcher_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"testing"

	"anatomy/internal/test/oracle"
	"anatomy/searcher"
	"anatomy/vocab"
)

// folderOf returns a searcher of n pages in two segments.
func folderOf(t *testing.T, n int) (*folder, *searcher.Searcher) {
	r := rand.New(rand.NewPCG(5, 7))
	f := newFolder(t)
	for _, from := range []int{1, n / 3} {
		var s oracle.Segment
		for doc := from; doc < n && (from > 1 || doc < n/3); doc++ {
			s.Documents = append(s.Documents, generate(r, vocab.DocID(doc), fmt.Sprintf("http://%s/%d", hosts[doc%len(hosts)], doc)))
		}
		f.add(s, bare)
	}
	f.publish()
	return f, f.open(searcher.Options{Candidates: 300})
}

// TestAll checks that All returns what paging returns, in the same order, and stops at an error of
// each.
func TestAll(t *testing.T) {
	f, s := folderOf(t, 730)
	for _, q := range []string{"a", "a OR b", `"a b"`, "site:x.org c", "nowhere", ""} {
		var paged, all []searcher.Result
		for offset := 0; ; offset += searcher.MaxLimit {
			r, err := s.Search(t.Context(), searcher.Request{Query: q, Offset: offset, Limit: searcher.MaxLimit, Verbatim: true, Ungrouped: true})
			if err != nil {
				t.Fatal(err)
			}
			paged = append(paged, r.Results...)
			if !r.Next {
				break
			}
		}
		resp, err := s.All(t.Context(), searcher.Request{Query: q}, 0, func(r *searcher.Result) error { all = append(all, *r); return nil })
		if err != nil || resp.Total != len(all) || !resp.Exact || resp.Partial || (resp.State == "") {
			t.Fatalf("%q: %v, %+v, %d results", q, err, resp, len(all))
		}
		if len(all) != len(paged) || q == "a" && len(all) < 400 {
			t.Fatalf("%q: %d results, paging gave %d", q, len(all), len(paged))
		}
		for i := range all {
			if all[i].Doc != paged[i].Doc || all[i].Score != paged[i].Score || len(all[i].Snippet) != len(paged[i].Snippet) {
				t.Fatalf("%q: number %d is %+v, paging gave %+v", q, i, all[i], paged[i])
			}
		}
	}
	n := 0
	resp, err := s.All(t.Context(), searcher.Request{Query: "a"}, 250, func(*searcher.Result) error { n++; return nil })
	if err != nil || n != 250 || resp.Total < 250 {
		t.Errorf("%d of 250 results, %+v %v", n, resp, err)
	}
	enough := errors.New("enough")
	if _, err := s.All(t.Context(), searcher.Request{Query: "a"}, 0, func(*searcher.Result) error { return enough }); err != enough {
		t.Errorf("ended by %v", err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	if _, err := s.All(ctx, searcher.Request{Query: "a"}, 0, func(*searcher.Result) error { cancel(); return nil }); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %v", err)
	}
	before := resp.State
	f.publish()
	if _, err := s.Refresh(); err != nil {
		t.Fatal(err)
	}
	if resp, err := s.Search(t.Context(), searcher.Request{Query: "a"}); err != nil || resp.State == before {
		t.Errorf("state %q after a change, %q before: %v", resp.State, before, err)
	}
}

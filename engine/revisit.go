package engine

import (
	"hash/crc32"
	"net/http"
	"sync/atomic"
	"time"

	"anatomy/disk/docindex"
	"anatomy/vocab"
)

// A revisit writes only what has changed: a 304 or the same body writes only a history of some
// bytes into the document index; a new version is a record in the repository and a document in the
// next segment, which supersedes the old one; a page that is not found, forbidden or a duplicate
// now is a tombstone in the next segment and link run. Merges drop superseded documents.

// known returns the record of a document that was visited before, or nil.
func (s *stages) known(doc vocab.DocID) *docindex.Record {
	r, ok, err := s.urls.Get(doc)
	if err != nil || !ok || r.Fetch == nil || r.History.Visits == 0 {
		return nil // a failed URL server keeps err, which dispatch returns
	}
	return &r
}

// HeaderSum returns a checksum of the header fields that indexing reads.
func HeaderSum(p *vocab.Page) uint16 {
	fields := p.ContentType + "\n" + p.Language + "\n" + p.Robots
	return uint16(crc32.ChecksumIEEE([]byte(fields)))
}

// isUnchanged reports whether a document had this body with these header fields before.
func isUnchanged(before *docindex.Record, content vocab.ContentID, headers uint16) bool {
	return before != nil && before.Fetch.Outcome == vocab.Fetched &&
		before.Fetch.Content == content && before.History.Headers == headers
}

// isSameRedirect reports whether a document redirected to the same target before.
func isSameRedirect(before *docindex.Record, to vocab.DocID) bool {
	return before != nil && before.Fetch.Outcome == vocab.Redirected && before.Fetch.Alias == to
}

// sitemapContent returns a hash of the entries of a sitemap.
func sitemapContent(f *vocab.Fetch) vocab.ContentID {
	var b []byte
	for _, l := range f.SitemapEntries {
		b = append(append(b, l.URL...), '\n')
		b = append(l.Modified.AppendFormat(b, time.RFC3339), l.Alternates...)
	}
	for _, s := range f.Sitemaps {
		b = append(append(b, '\n'), s...)
	}
	return vocab.ContentOf(b)
}

// revisits records the results of revisits, see RevisitStats. Only the committer calls revisited.
type revisits struct {
	*stages
	visited, unchanged, notModified, changed, left, absent, unconfirmed atomic.Int64

	successors map[vocab.DocID]vocab.DocID // duplicates that have become pages, by the page whose body they had
}

func (n *revisits) stats() RevisitStats {
	return RevisitStats{
		Visited: n.visited.Load(), Unchanged: n.unchanged.Load(), NotModified: n.notModified.Load(),
		Changed: n.changed.Load(), Left: n.left.Load(),
		Absent: n.absent.Load(), Unconfirmed: n.unconfirmed.Load(),
	}
}

// revisited counts a revisit. If the document has ceased to be a page it sets o.after to its
// record. If the document index waits for another visit to confirm the outcome, nothing changes.
func (n *revisits) revisited(o *outcome) error {
	switch o.result.Outcome {
	case vocab.Skipped, vocab.Failed, vocab.Refused, vocab.NoName: // the site was not reached
		return nil
	case vocab.Blocked:
		blocked := &docindex.FetchOutcome{Outcome: vocab.Blocked}
		o.after = &docindex.Record{Doc: o.before.Doc, Fetch: blocked}
		if o.before.IsPage() {
			n.store.Forget(o.before.Fetch.Content, o.before.Doc)
		}
		return nil
	}
	n.visited.Add(1)
	if o.result.Outcome == vocab.Unmodified {
		n.unchanged.Add(1)
		if o.result.Status == http.StatusNotModified {
			n.notModified.Add(1)
		}
		return nil
	}
	after, ok, err := n.urls.Get(o.before.Doc)
	if err != nil || !ok || after.Fetch == nil {
		return err
	}
	was, is := o.before.Fetch, after.Fetch
	switch {
	case o.document != nil:
		n.changed.Add(1)
		if o.before.IsDuplicate() {
			n.successors[was.Alias] = after.Doc
		}
	case was.Outcome != is.Outcome || was.Alias != is.Alias:
		o.after = &after
		isSame := after.IsDuplicate() && n.successors[after.Doc] == is.Alias // "/" has become the page of "/index.html"
		if o.before.IsPage() && !isSame {
			n.left.Add(1)
		} else {
			n.changed.Add(1)
		}
	case after.History.Misses > 0:
		n.unconfirmed.Add(1)
	case is.Outcome != vocab.Fetched && is.Outcome != vocab.Redirected:
		n.absent.Add(1)
	case was.Content == is.Content:
		n.unchanged.Add(1)
	default:
		n.changed.Add(1)
	}
	if o.before.IsPage() && (!after.IsPage() || was.Content != is.Content) {
		n.store.Forget(was.Content, after.Doc)
	}
	return nil
}

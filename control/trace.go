package control

import (
	"fmt"
	"time"

	"anatomy/disk/docindex"
	"anatomy/urlserver"
	"anatomy/vocab"
	"anatomy/weburl"
)

// A Step is the record of one document on the way from a URL to its canonical document.
type Step struct {
	docindex.Record
	Refused string // why the document is not fetched: a trap, or the budget of its site
	Waits   string // why its host waits, if the document is queued

	DownSince time.Time // its host has been down since then; zero if it is up
}

// Documents reads records: a document index, or the URL server that has it open.
type Documents interface {
	Find(vocab.Fingerprint) (doc vocab.DocID, noFollowed, ok bool, err error)
	Get(vocab.DocID) (docindex.Record, bool, error)
	Yield(host, shape string) (docindex.Yield, error)
	Host(name string) (docindex.HostRecord, error)
	Site(name string) (docindex.SiteUsage, error)
}

// maxSteps bounds the number of aliases that Follow follows.
const maxSteps = 16

// Follow returns the record of a URL and those of the documents that it is an alias of. The last is
// the canonical document or, in a loop of redirects, the last before the loop closes. The error
// wraps ErrUnknownURL for a URL without a docID.
func Follow(db Documents, u weburl.URL) ([]Step, error) {
	doc, _, ok, err := db.Find(u.Fingerprint())
	if err != nil {
		return nil, err
	}
	if !ok {
		return nil, fmt.Errorf("%s: %w", u.String(), ErrUnknownURL)
	}
	var steps []Step
	seen := map[vocab.DocID]bool{}
	for doc != 0 && !seen[doc] && len(steps) < maxSteps {
		seen[doc] = true
		r, ok, err := db.Get(doc)
		if err != nil {
			return nil, err
		}
		if !ok {
			return nil, fmt.Errorf("document %d has no record: run anatomy check", doc)
		}
		s := Step{Record: r}
		if err := s.explain(db); err != nil {
			return nil, err
		}
		steps = append(steps, s)
		doc = 0
		if r.Fetch != nil {
			doc = r.Fetch.Alias
		}
	}
	return steps, nil
}

// explain fills in the state of the document's host and site.
func (s *Step) explain(db Documents) error {
	u, err := weburl.Parse(s.URL)
	if err != nil {
		return err
	}
	h, err := db.Host(u.Host())
	if err != nil {
		return err
	}
	s.DownSince = h.DownSince
	switch budget := s.Trap.Budget(); {
	case s.State == docindex.Queued && s.History.Visits == 0:
		site, err := db.Site(weburl.SiteOf(u.Hostname()))
		if site.Spent.EndsSite() {
			s.Waits = site.Spent.String()
		}
		return err
	case s.State != docindex.Trapped:
	case budget != docindex.NoBudget:
		s.Refused = budget.String()
	default:
		why, err := urlserver.WhyTrapped(db, &s.Record)
		s.Refused = "trap: " + why
		return err
	}
	return nil
}

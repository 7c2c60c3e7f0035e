// Package replay reads the answers that a crawl got, and crawls them once more, changed by an
// experiment and without network.
package replay

import (
	"context"
	"fmt"
	"html"
	"regexp"
	"strings"
	"time"

	"anatomy/disk/datadir"
	"anatomy/disk/docindex"
	"anatomy/disk/repository"
	"anatomy/engine"
	"anatomy/vocab"
	"anatomy/weburl"
)

// An Answer is what a URL answered.
type Answer struct {
	URL      string
	At       time.Time // whole seconds
	Outcome  vocab.Outcome
	Status   int
	Location string      // of a redirect
	Page     *vocab.Page // of a page, nil otherwise; its Doc and URL do not count
	Content  vocab.ContentID
}

var titleElement = regexp.MustCompile(`(?is)<title[^>]*>(.*?)</title>`)

// Title returns the title of an HTML page, "" if it has none.
func (a *Answer) Title() string {
	if a.Page == nil {
		return ""
	}
	m := titleElement.FindSubmatch(a.Page.Body)
	if m == nil {
		return ""
	}
	return strings.Join(strings.Fields(html.UnescapeString(string(m[1]))), " ")
}

// Read returns the answers of the crawl in a data folder, in the order in which it found the URLs:
// its pages, duplicates included, its redirects, and the URLs that do not exist.
func Read(dir string) (all []Answer, err error) {
	err = docindex.Read(dir, func(db *docindex.DB) error {
		repo, err := repository.OpenReader(datadir.Repository(dir))
		if err != nil {
			return err
		}
		defer repo.Close()
		pages := map[vocab.DocID]*vocab.Page{} // by canonical document
		return db.Each(1, func(d docindex.Record) error {
			if d.Kind != vocab.PageTarget || d.Fetch == nil {
				return nil
			}
			a := Answer{URL: d.URL, At: d.Fetch.Fetched, Outcome: d.Fetch.Outcome, Status: d.Fetch.Status}
			switch d.Fetch.Outcome {
			case vocab.Fetched:
				from := &d
				if d.IsDuplicate() {
					of, _, err := db.Get(d.Fetch.Alias)
					if err != nil {
						return err
					}
					from = &of
				}
				if pages[from.Doc] == nil {
					record, err := repo.Read(from.Fetch.Address)
					if err != nil {
						return err
					}
					pages[from.Doc] = &record.Page
				}
				a.Page, a.Content = pages[from.Doc], d.Fetch.Content
			case vocab.Redirected:
				record, err := repo.Read(d.Fetch.Address)
				if err != nil {
					return err
				}
				a.Location = record.Location
			case vocab.NotFound:
			default:
				return nil
			}
			all = append(all, a)
			return nil
		})
	})
	if err == nil && len(all) == 0 {
		err = fmt.Errorf("%s has no page", dir)
	}
	return all, err
}

// Crawl stores, indexes and ranks answers in a new data folder, in their order.
func Crawl(ctx context.Context, dir string, answers []Answer) error {
	source := func(ctx context.Context, crawl engine.Offline) error {
		for i := range answers {
			if err := answers[i].accept(ctx, crawl); err != nil {
				return fmt.Errorf("%s: %w", answers[i].URL, err)
			}
		}
		return nil
	}
	_, err := engine.RunOffline(ctx, engine.Options{Dir: dir}, source)
	return err
}

func (a *Answer) accept(ctx context.Context, crawl engine.Offline) error {
	u, err := weburl.Parse(a.URL)
	if err != nil {
		return err
	}
	doc, err := crawl.Add(&u)
	if err != nil {
		return err
	}
	if claimed, err := crawl.Claim(ctx, doc, &u, a.At); err != nil || !claimed {
		return err
	}
	f := vocab.Fetch{
		Target:  vocab.Target{Doc: doc, URL: a.URL},
		Outcome: a.Outcome, Status: a.Status, Location: a.Location,
	}
	if a.Page != nil {
		page := *a.Page
		page.Doc, page.URL, page.Fetched = doc, a.URL, a.At
		f.Page, f.SignedIn = &page, page.SignedIn
	}
	crawl.Accept(ctx, f, a.At)
	return ctx.Err()
}

package indexer

import (
	"bytes"
	"net/http"
	"strings"
	"time"

	"anatomy/vocab"
)

// A page may tell its date in several ways. The day on which it was changed counts before the day on
// which it was published, what the page says before the server's Last-Modified.
type dates struct {
	modified, published vocab.Day
}

// The names of meta elements that hold dates, in lower case, as they stand in name, property or itemprop.
var (
	modifiedNames = map[string]bool{
		"article:modified_time": true, "og:updated_time": true, "last-modified": true, "datemodified": true, "dcterms.modified": true,
		"dc.date.modified": true, "revised": true,
	}
	publishedNames = map[string]bool{
		"article:published_time": true, "date": true, "datepublished": true, "pubdate": true, "dc.date": true, "dc.date.issued": true,
		"dcterms.date": true, "dcterms.created": true, "dcterms.issued": true, "citation_publication_date": true,
	}
)

// maxDateName is the length of the longest of the names.
const maxDateName = 25

// metaDate takes the date of a meta or time element, if its name is one of a date. Of several the first
// counts.
func (p *parser) metaDate(name, value []byte) {
	if len(name) == 0 || len(name) > maxDateName {
		return
	}
	switch lower := string(bytes.ToLower(name)); {
	case modifiedNames[lower]:
		setDay(&p.dates.modified, value)
	case publishedNames[lower]:
		setDay(&p.dates.published, value)
	}
}

// timeElement reads <time itemprop=datePublished datetime=…> and <time pubdate datetime=…>.
func (p *parser) timeElement() {
	value, ok := p.tags.attr("datetime")
	if !ok {
		return
	}
	if name, ok := p.tags.attr("itemprop"); ok {
		p.metaDate(name, value)
	} else if _, ok := p.tags.attr("pubdate"); ok {
		setDay(&p.dates.published, value)
	}
}

func setDay(d *vocab.Day, value []byte) {
	if *d == 0 {
		*d = readDay(string(value))
	}
}

// readDay reads a date as pages write it: all that feeds have, ISO 8601 without or with a time of any
// form, and the slashes of citations. It is 0 for all else.
func readDay(s string) vocab.Day {
	s = strings.TrimSpace(s)
	if len(s) >= len(time.DateOnly) {
		day := strings.ReplaceAll(s[:len(time.DateOnly)], "/", "-")
		if t, err := time.Parse(time.DateOnly, day); err == nil {
			return vocab.DayOf(t)
		}
	}
	return vocab.DayOf(time.Unix(feedTime(s), 0))
}

// clockSlack is how near to the fetch a Last-Modified is that tells when the page was made for us, by a
// program, and nothing of its age.
const clockSlack = time.Hour

// day is the page's date, 0 where none is told. What lies ahead is no date.
func (p *parser) day(page *vocab.Page) vocab.Day {
	latest := vocab.DayOf(page.Fetched.Add(24 * time.Hour))
	for _, d := range []vocab.Day{p.dates.modified, p.dates.published} {
		if d != 0 && d <= latest {
			return d
		}
	}
	t, err := http.ParseTime(page.LastModified)
	if err != nil || page.Fetched.Sub(t) < clockSlack {
		return 0
	}
	return vocab.DayOf(t)
}

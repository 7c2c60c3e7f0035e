package indexer

import (
	"bytes"
	"net/http"
	"strings"
	"time"

	"anatomy/indexer/internal/htmltoken"
	"anatomy/vocab"
)

// dates are the days that a page states. The day of the last change counts before that of
// publication, and both before the server's Last-Modified.
type dates struct {
	modified, published vocab.Day
}

// Names of meta elements with dates, in lower case: values of name, property or itemprop.
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

// maxDateName is the length of the longest of these names.
const maxDateName = 25

// add records the date of a meta or time element, if name is the name of a date. The first date of
// a kind wins.
func (d *dates) add(name, value []byte) {
	if len(name) == 0 || len(name) > maxDateName {
		return
	}
	switch lower := bytes.ToLower(name); {
	case modifiedNames[string(lower)]:
		setDay(&d.modified, value)
	case publishedNames[string(lower)]:
		setDay(&d.published, value)
	}
}

// addElement handles <time itemprop=datePublished datetime=…> and <time pubdate datetime=…>.
func (d *dates) addElement(tags *htmltoken.Tokenizer) {
	value, ok := tags.Attr("datetime")
	if !ok {
		return
	}
	if name, ok := tags.Attr("itemprop"); ok {
		d.add(name, value)
	} else if _, ok := tags.Attr("pubdate"); ok {
		setDay(&d.published, value)
	}
}

func setDay(d *vocab.Day, value []byte) {
	if *d == 0 {
		*d = parseDay(string(value))
	}
}

// minAge is the least age of a Last-Modified that dates the page. A younger one is the time at
// which a program generated the response.
const minAge = time.Hour

// day returns the page's date, or 0 if the page states none. Dates in the future are ignored.
func (d *dates) day(page *vocab.Page) vocab.Day {
	latest := vocab.DayOf(page.Fetched.Add(24 * time.Hour))
	for _, day := range []vocab.Day{d.modified, d.published} {
		if day != 0 && day <= latest {
			return day
		}
	}
	t, err := http.ParseTime(page.LastModified)
	if err != nil || page.Fetched.Sub(t) < minAge {
		return 0
	}
	return vocab.DayOf(t)
}

// parseDay parses a date as pages write it: the formats of parseTime, ISO 8601 with a time of any
// form or none, and the slashes of citations. It returns 0 for anything else.
func parseDay(s string) vocab.Day {
	s = strings.TrimSpace(s)
	if len(s) >= len(time.DateOnly) {
		day := strings.ReplaceAll(s[:len(time.DateOnly)], "/", "-")
		if t, err := time.Parse(time.DateOnly, day); err == nil {
			return vocab.DayOf(t)
		}
	}
	return vocab.DayOf(time.Unix(parseTime(s), 0))
}

// timeLayouts are RFC 3339 as in Atom, RFC 822 with the century as in RSS, and common variants.
var timeLayouts = [...]string{
	time.RFC3339, "Mon, 2 Jan 2006 15:04:05 -0700", "Mon, 2 Jan 2006 15:04:05 MST", "2 Jan 2006 15:04:05 -0700",
	"2 Jan 2006 15:04:05 MST", "Mon, 2 Jan 2006 15:04 -0700", "Mon, 2 Jan 2006 15:04 MST",
	"Mon, 2 Jan 06 15:04:05 -0700", "Mon, 2 Jan 06 15:04:05 MST", "2006-01-02T15:04Z07:00",
	"2006-01-02T15:04:05", "2006-01-02 15:04:05", "2006-01-02",
}

// parseTime parses the date of a feed entry. It returns Unix seconds, or 0 if s is not a date.
func parseTime(s string) int64 {
	for _, layout := range timeLayouts {
		if t, err := time.Parse(layout, s); err == nil {
			return max(t.Unix(), 0)
		}
	}
	return 0
}

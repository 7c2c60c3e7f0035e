package indexer

import (
	"bytes"
	"strconv"
	"strings"
	"time"

	"anatomy/vocab"
)

// directives are the robots directives of a page for all robots or for this crawler, in meta elements
// and in X-Robots-Tag. Of several directives the strictest counts. The names and values are those of
// Google's specification (developers.google.com/search/docs/crawling-indexing/robots-meta-tag), and
// Bing's nocache, which is noarchive here.
type directives struct {
	noIndex, noFollow, noImages bool
	controls                    vocab.Controls

	dated bool // the directive before was unavailable_after with the weekday of its date
}

// product is the name by which pages address this crawler. Directives for all robots apply even if
// the page has directives for this crawler.
const product = "anatomy"

// forRobots reports whether the name of a meta element is that of directives for this crawler.
func forRobots(name []byte) bool {
	return bytes.EqualFold(name, []byte("robots")) || bytes.EqualFold(name, []byte(product))
}

// obeyAll reads the directives of a robots meta element, separated by commas.
func (d *directives) obeyAll(list string) {
	d.dated = false
	for directive := range strings.SplitSeq(list, ",") {
		d.obey(directive)
	}
}

// obey reads one directive.
func (d *directives) obey(directive string) {
	if d.dated {
		d.dated = false
		d.end(directive)
		return
	}
	name, value, _ := strings.Cut(directive, ":")
	value = strings.TrimSpace(value)
	switch strings.ToLower(strings.TrimSpace(name)) {
	case "noindex":
		d.noIndex = true
	case "nofollow":
		d.noFollow = true
	case "none":
		d.noIndex, d.noFollow = true, true
	case "noimageindex":
		d.noImages = true
	case "max-image-preview":
		d.noImages = d.noImages || strings.EqualFold(value, "none")
	case "noarchive", "nocache":
		d.controls.NoArchive = true
	case "nosnippet":
		d.controls.Bound(0)
	case "max-snippet":
		if n, err := strconv.ParseUint(value, 10, 32); err == nil { // -1 is no bound
			d.controls.Bound(uint32(n))
		}
	case "unavailable_after":
		if d.dated = isWeekday(value); !d.dated {
			d.end(value)
		}
	}
}

// end reads the date of unavailable_after. An invalid date has no effect.
func (d *directives) end(date string) {
	if t, ok := parseEnd(date); ok {
		d.controls.End(t)
	}
}

// obeyHeader reads X-Robots-Tag, one field per line. "name: noindex, nofollow" addresses the
// crawler of that name, up to the end of the field or the next name.
func (d *directives) obeyHeader(fields string) {
	for field := range strings.SplitSeq(fields, "\n") {
		forUs := true
		d.dated = false
		for directive := range strings.SplitSeq(field, ",") {
			name, rest, ok := strings.Cut(strings.TrimSpace(directive), ":")
			if ok && !d.dated && isCrawler(name) {
				forUs, directive = strings.EqualFold(name, product), rest
			}
			if forUs {
				d.obey(directive)
			}
		}
	}
}

// isCrawler reports whether the text before a colon is the name of a crawler rather than that of a
// directive with a value, or part of a date.
func isCrawler(name string) bool {
	switch strings.ToLower(name) {
	case "unavailable_after", "max-snippet", "max-image-preview", "max-video-preview":
		return false
	}
	return !strings.ContainsAny(name, " \t")
}

// isWeekday reports whether s is the name of a weekday, which a comma separates from its date.
func isWeekday(s string) bool {
	for day := time.Sunday; day <= time.Saturday; day++ {
		if name := day.String(); strings.EqualFold(s, name) || strings.EqualFold(s, name[:3]) {
			return true
		}
	}
	return false
}

// endLayouts are the dates of unavailable_after after their weekday, with the zone as an offset:
// RFC 822 and RFC 850 with two or four digits of the year, and ISO 8601. A date without a time is
// the last day on which the page is shown.
var (
	endLayouts = [...]string{
		"2 Jan 06 15:04:05 -0700", "2 Jan 2006 15:04:05 -0700", "2 Jan 06 15:04 -0700", "2 Jan 2006 15:04 -0700",
		"2-Jan-06 15:04:05 -0700", "2-Jan-2006 15:04:05 -0700", "2-Jan-06 15:04 -0700", "2-Jan-2006 15:04 -0700",
		"2006-1-2T15:04:05Z07:00", "2006-1-2T15:04:05-0700", "2006-1-2T15:04:05", "2006-1-2T15:04Z07:00", "2006-1-2T15:04",
		"2006-1-2 15:04:05Z07:00", "2006-1-2 15:04:05 -0700", "2006-1-2 15:04:05", "2006-1-2 15:04 -0700", "2006-1-2 15:04",
	}
	endDayLayouts = [...]string{"2006-1-2", "20060102", "2 Jan 06", "2 Jan 2006", "2-Jan-06", "2-Jan-2006"}
)

// zones are those of RFC 822, as offsets. Others count as UTC.
var zones = map[string]string{
	"EST": "-0500", "EDT": "-0400", "CST": "-0600", "CDT": "-0500",
	"MST": "-0700", "MDT": "-0600", "PST": "-0800", "PDT": "-0700",
}

// parseEnd parses a date of unavailable_after.
func parseEnd(s string) (t time.Time, ok bool) {
	s = withOffset(strings.Join(strings.Fields(s), " "))
	for _, layout := range endLayouts {
		if t, err := time.Parse(layout, s); err == nil {
			return t, true
		}
	}
	for _, layout := range endDayLayouts {
		if t, err := time.Parse(layout, s); err == nil {
			return t.AddDate(0, 0, 1), true
		}
	}
	return t, false
}

// withOffset returns a date with its zone name replaced by an offset. A date with a time and
// without a zone is in UTC.
func withOffset(s string) string {
	i := strings.LastIndexByte(s, ' ')
	last := s[i+1:]
	if offset, ok := zones[strings.ToUpper(last)]; ok {
		return s[:i+1] + offset
	}
	switch {
	case i < 0:
		return s
	case len(last) > 0 && strings.Trim(strings.ToUpper(last), "ABCDEFGHIJKLMNOPQRSTUVWXYZ") == "":
		return s[:i+1] + "+0000"
	case strings.Contains(last, ":") && !strings.ContainsAny(last, "+-Zz"):
		return s + " +0000"
	}
	return s
}

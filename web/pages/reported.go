package pages

import (
	"html/template"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"
	"unicode"
	"unicode/utf8"

	"anatomy/internal/plural"
	"anatomy/web/internal/messages"
	"anatomy/web/internal/text"
)

// reported are the texts for display that other rooms write in English, as formats of which the
// catalogues have translations. A verb %s is a number, a duration, a text of this list, or a name.
// Texts that are not in the list, such as errors of the network, stay in English.
var reported = []string{
	// Names of parts of a score: scoring.Part.Name.
	"text", "held", "plain", "emphasis", "h1", "h2", "h3", "code", "alt", "menu", "title", "meta", "url",
	"anchor", "anchor-out", "part", "exact", "phrase", "proximity", "language", "pagerank", "uncrawled",
	"home", "related", "preference", "genre",

	// Details of parts of a score: scoring.Part.Detail.
	"%s, count weight %s × idf %s × type weight %s",
	"%s, count weight %s × idf %s, %d times in the query, × type weight %s",
	"%d hits", "%d links",
	"the page has the word, idf %s × weight %s",
	"frequency %s in all fields, count weight %s × idf %s",
	"all words in order in %s, idf %s × weight %s",
	"%d × %s in %s, count weight %s × idf %s × class weight %s × field weight %s",
	"%d × %s in %s, count weight %s × idf %s × class weight %s × field weight %s × share %s of %d pairs",
	"next to each other", "within %d words", "not even close",
	"the text", "the title", "the description", "the URL", "names of its parts", "links to the page",
	"the query is the title, idf %s × weight %s",
	"the query is the title without the site's name, 0.9 × idf %s × weight %s",
	"the query is the title to the letter, idf %s × weight %s",
	"the query is the title without the site's name to the letter, 0.9 × idf %s × weight %s",
	"the query is all of the text of %s, count weight %s × idf %s × weight %s",
	"the query is written in the language of the page, idf %s × weight %s",
	"the page is a %s: %s × %s points of its words",
	"the page is a %s, which the query asks for: %s × %s points of its words",
	"source listing", "index", "changelog",
	"%s times the average of %d pages, of at most %s points",
	"%s times the average of %d pages, favouring %s, of at most %s points",
	"no ranks are computed yet", "known by links alone",
	"home page of a host of whose name the query is %s, idf %s × weight %s",
	"%d pages are nearer to the one that is named, of %d",
	"root of its host", "%d folders deep",
	"you raised %s", "you lowered %s", "you pinned %s", "you prefer pages in %s",

	// Why a search has no results: searcher.Response.Why.
	"No page matches all of the query.", "No page contains %s.", "No page contains any of %s.",
	"Pages match, but none within %s.", "There are only %s.", "There are only %s, with %s.",
	"%d results", "%d near-duplicates", "%d images",
	"The only page that matches is on a site that you blocked.",
	"All %d pages that match are on sites that you blocked.",
	"No page links to %s.", "No other page is linked to together with %s.", "Not in the index: %s.",
	"The matching pages have no image for this query.", "%s Spelling corrections are not ready yet.",

	// Parts of a query that were ignored: searcher.Response.Cut.
	"only the first %d bytes were read", "only the first %d words were used",
	"parentheses more than %d deep were left out", "%s could not be looked up: %s",
	"only %d of the pages of %s were read", "only links to %d pages of %s were read",

	// States of documents, and outcomes of their last visits.
	"out of scope", "nofollowed", "trapped", "queued", "waiting", "finished", "given up",
	"fetched", "redirected", "unmodified", "forbidden", "gone", "unsupported", "too large", "refused",
	"no such name", "failed", "skipped", "removed",
	"a seed or named by robots.txt", "%d links from a seed",

	// Why a host waits.
	"its turn", "politeness", "being read", "another host of %s is read",
	"other hosts at its address are read", "%d hosts at its address %s are read",
	"page limit of the host", "page limit of the crawl", "in trouble: %s",

	// Why a URL is refused.
	"budget of URLs used up by its site (crawl --max-urls-per-site)",
	"budget of bytes used up by its site (crawl --max-mb-per-site)",
	"budget of parsing time used up by its site (crawl --max-parsing-per-site)",
	"budget of sitemaps used up by its site",
	"five times the budget of URLs named by its site (crawl --max-urls-per-site)",
	"trap: %s", "trap", "too deep", "path repeats itself", "date years ahead", "folder repeats itself",
	"query repeats itself", "budget of URLs", "budget of sitemaps", "parameter without effect", "no pages",
	"unexpanded template",
	"%s are not requested: files of this type are not pages",
	"%s leads to no pages: %d of the %d requests for such URLs brought one",
	"the parameter %s of %s has no effect: %d pages with it repeat known text and lead to new URLs with it",
	"%s repeats itself: %d of its %d pages show nothing new and lead to new URLs",

	// Reasons of outcomes.
	"robots.txt forbids it", "redirects to itself", "too many redirects", "media type %s",
	"%s: no such name", "timed out", "rendered with its scripts (requests: %d)",
	"removed permanently by the operator of the crawl; anatomy remove --undo reverses it",
	"the page is the error page that the host also shows for a made-up URL",
	"the other URL is the canonical one: the page declares it or is in the language that it names, " +
		"or more pages link to it",
	"the other URL is the canonical one: the page declares it or is in the language that it names, " +
		"more pages link to it, or it is the plainer one",
	"length", "disconnect", "time", "unspecified", // why a page was cut

	// When a page is visited again.
	"it was never visited", "it was given up", "now: it waits in the queue",
	"it was not found the last time, which is to be confirmed",
	"nothing is known yet of how often it changes",
	"nothing is known yet of how often it changes, %s, which the bounds make %s",
	"no change was seen in %s", "no change was seen in %s, %s, which the bounds make %s",
	"%d of the last %d visits, over %s, found a change",
	"%d of the last %d visits, over %s, found a change, %s, which the bounds make %s",

	// Why a page is not in the index, or its records cannot be read.
	"it is queued; its host: %s", "it is queued: continue with anatomy crawl",
	"never fetched (%s), and no link with text leads to it",
	"it forbids indexing (noindex, or unavailable_after a date that has passed), or is not indexed yet: " +
		"continue with anatomy crawl",
	"its redirects lead in a circle or to no page",
	"run anatomy trace on the server to see why", "no crawl made this index",
}

// A format recognizes a text by its English.
type format struct {
	english string
	text    *regexp.Regexp
	verbs   []verb // in the order of the text
	literal int    // bytes of the text outside verbs
}

// A verb is an argument of a format.
type verb struct {
	argument int
	isNumber bool
}

// formats are those of reported, the longest text outside verbs first: it fits best.
var formats = sync.OnceValue(func() (all []format) {
	for _, english := range reported {
		for _, form := range messages.English.Forms(english) {
			all = append(all, newFormat(english, form))
		}
	}
	slices.SortStableFunc(all, func(a, b format) int { return b.literal - a.literal })
	return all
})

var verbInFormat = regexp.MustCompile(`%(?:\[(\d)\])?([ds])`)

// newFormat returns the format of one plural form of a message.
func newFormat(english, form string) format {
	f := format{english: english}
	pattern, rest := "^", 0
	for i, at := range verbInFormat.FindAllStringSubmatchIndex(form, -1) {
		v := verb{argument: i, isNumber: form[at[4]] == 'd'}
		if at[2] >= 0 {
			v.argument = int(form[at[2]] - '1')
		}
		pattern += regexp.QuoteMeta(form[rest:at[0]])
		if f.literal += at[0] - rest; v.isNumber {
			pattern += `(\d+)`
		} else {
			pattern += `(.+?)`
		}
		rest = at[1]
		f.verbs = append(f.verbs, v)
	}
	f.literal += len(form) - rest
	f.text = regexp.MustCompile(pattern + regexp.QuoteMeta(form[rest:]) + "$")
	return f
}

// maxReported bounds texts within texts, as the text of a site can have the form of many.
const maxReported = 6

// reportedText translates a text of another room. It reports whether the catalogues have it.
func reportedText(m *messages.Printer, english string) (translated string, ok bool) {
	return reportedWithin(m, english, maxReported)
}

// reportedWithin is reportedText for a text with at most depth texts within each other.
func reportedWithin(m *messages.Printer, english string, depth int) (translated string, ok bool) {
	if m == messages.English || english == "" {
		return m.Text(english), true
	}
	if depth == 0 {
		return english, false
	}
	if list := strings.Split(english, ", "); len(list) > 1 {
		for i, one := range list {
			if list[i], ok = reportedWithin(m, one, depth-1); !ok {
				break
			}
		}
		if ok {
			return strings.Join(list, ", "), true
		}
	}
	for _, f := range formats() {
		if found := f.text.FindStringSubmatch(english); found != nil {
			return m.Text(f.english, f.arguments(m, found[1:], depth-1)...), true
		}
	}
	return english, false
}

// arguments returns the arguments of a message for the parts of the English text at its verbs.
func (f *format) arguments(m *messages.Printer, found []string, depth int) []any {
	all := make([]any, len(f.verbs))
	for i, v := range f.verbs {
		if n, err := strconv.Atoi(found[i]); v.isNumber && err == nil {
			all[v.argument] = n
		} else {
			all[v.argument] = reportedArgument(m, found[i], depth)
		}
	}
	return all
}

var fraction = regexp.MustCompile(`^-?\d+\.\d+(e[+-]\d+)?$`)

func reportedArgument(m *messages.Printer, english string, depth int) string {
	if fraction.MatchString(english) {
		return m.Decimal(english)
	}
	if d, ok := plural.ParseDuration(english); ok {
		return durationText(m, d)
	}
	translated, _ := reportedWithin(m, english, depth)
	return translated
}

// durationText returns a time between visits: 3 h 20 min, 7 days.
func durationText(m *messages.Printer, d time.Duration) string {
	if d >= 48*time.Hour {
		return m.Text("%d days", int(d.Hours()/24))
	}
	return m.Decimal(text.Long(d))
}

// reportedHTML returns a text of another room as an element, which says if it is in English.
func reportedHTML(m *messages.Printer, english string) template.HTML {
	translated, ok := reportedText(m, english)
	return element(translated, ok)
}

// reportedSentence returns a text of another room as a sentence.
func reportedSentence(m *messages.Printer, english string) template.HTML {
	translated, ok := reportedText(m, english)
	first, size := utf8.DecodeRuneInString(translated)
	if !ok {
		m = messages.English
	}
	return element(m.Text("%s.", string(unicode.ToUpper(first))+translated[size:]), ok)
}

// element returns a text that is in the language of the page, or in English.
func element(text string, translated bool) template.HTML {
	escaped := template.HTML(template.HTMLEscapeString(text))
	if translated {
		return escaped
	}
	return `<span lang="en">` + escaped + "</span>"
}

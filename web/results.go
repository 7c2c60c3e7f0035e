package web

import (
	"cmp"
	"context"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/gin-gonic/gin"

	"anatomy/searcher"
	"anatomy/vocab"
)

// A resultsView is a page of results.
type resultsView struct {
	Total       string // "1,234 pages", "at least 1,200 pages"
	Took        string
	Documents   int
	Interpreted string // where it differs from the query
	Filters     []filterView
	Cut         []string // what was left out of the query, or not looked at
	Spelling    *spellingView
	Partial     bool
	First       int // number of the first result shown, from 1
	Results     []resultView
	Images      []imageView // in place of results
	Sites       []siteView  // hosts of the results shown, to narrow the search to
	Pages       []pageLink
	Prev, Next  string // addresses; "" where there is none
	Ends        string // why there are no more pages of results though there are more results; "" where there are not
	Folded      string // address of the same with every page by itself, after the last result where some are folded
	All         string // address of the search that these results, similar to one of them, are part of
	JSON        string // the same as JSON
	Atom        string // the same as a feed
	Ranks       string // which ranks counted, "" for none
	Why         string // on no results
	Hints       []hint // on no results
	Hidden      string // what was left out because the asker blocked its site; "" for nothing
	ShowHidden  string // address of the same with that
	Back        string // query string of the page itself
}

// A resultView is one result.
type resultView struct {
	Number  int
	URL     string // "" where it is not one that may be linked
	Title   string
	Crumbs  []string
	Snippet []searcher.Fragment
	Lang    string // a well-formed tag, or ""
	Score   string
	Bar     int // 0 to 100, of the best score shown
	Why     string
	Cached  string
	Links   string // "" where links are not shown
	Info    string // "" where pages are not traced
	Fetched time.Time
	Date    time.Time // of the page itself, zero where it is not known
	Kind    string    // "PDF", where it is not what most pages are
	Crawled bool
	Host    string     // "" where it is no site
	Explore string     // address of what is known of the site; "" where that is not shown
	Liked   string     // what the asker thinks of the site: "raised"
	Missing *missView  // nil where nothing is
	Choices []choice   // what else could be thought of it
	Similar *groupView // pages folded into it; nil for none
	More    *groupView // of its host, further down; nil for none
}

// A filterView leads to the same search without a part of the query.
type filterView struct{ Text, Href string }

// A missView names words of the query that a page does not hold, and leads to the search that demands them.
type missView struct {
	Words []string
	Must  []hint
}

type siteView struct {
	Host  string
	Count int
	Href  string
}

type pageLink struct {
	Number  int
	Href    string
	Current bool
}

// A hint is another query to try.
type hint struct {
	Label string
	Query string
	Href  string
}

// maxTitle bounds a title on the page of results, in characters: some four lines on a telephone.
const maxTitle = 110

// home is the page to ask from. With a q it leads to the results: clients of SearXNG may know the
// address of the site alone.
func (s *Server) home(c *gin.Context) error {
	if c.Request.URL.Query().Has("q") {
		s.redirect(c, http.StatusPermanentRedirect, "/search?"+c.Request.URL.RawQuery)
		return nil
	}
	return s.render(c, http.StatusOK, s.pages.home, s.view("", ""))
}

// search shows the results of q, or gives them to a program in one of programFormats.
func (s *Server) search(c *gin.Context) error {
	p := readParams(c)
	r := p.request()
	r.Explain = false // the page links to the explanation
	visitor, shown := s.visitor(c, p), p.flag("blocked")
	images := p.wantsImages(&r)
	switch format := p.one("format"); {
	case programFormats[format]:
		s.searchFor(c, p, r, format, images)
		return nil
	case format != "" && format != "html":
		p.fail("Parameter format must be html, json, csv, rss or atom.")
	}
	if p.err != nil {
		return p.err
	}
	if r.Query == "" {
		s.redirect(c, http.StatusSeeOther, "/")
		return nil
	}
	if visitor.Num > 0 && p.one("num") == "" && !images {
		r.Limit = visitor.Num
	}
	r.Preferences = taste(visitor.Preferences, shown)
	if images {
		return s.images(c, r, visitor, shown)
	}
	response, err := s.ask(c.Request.Context(), r)
	if err != nil {
		return err
	}
	if response.Cached != 0 && s.o.Pages != nil && len(response.Results) == 1 && response.Results[0].Crawled {
		s.redirect(c, http.StatusSeeOther, cachedHref(uint64(response.Cached), "", false))
		return nil
	}
	v := s.view(r.Query, r.Query)
	v.Visitor = visitor
	if r.Limit != searcher.DefaultLimit {
		v.Num = r.Limit
	}
	v.Rank, v.Kinds = r.Rank, s.kinds(r, false, visitor)
	v.Results = s.resultsView(r, response)
	v.Results.prefer(visitor, c.Request.URL.RawQuery, shown, s.o.Site != nil)
	return s.render(c, http.StatusOK, s.pages.results, v)
}

// ask puts a request to the searcher once there is an index.
func (s *Server) ask(ctx context.Context, r searcher.Request) (*searcher.Response, error) {
	if !s.ready() {
		return nil, ErrNotReady
	}
	if err := s.gate.enter(ctx); err != nil {
		return nil, err
	}
	defer s.gate.leave()
	a, err := s.o.Search.Search(ctx, r)
	if err == nil && s.o.SlowQueries > 0 && a.Took >= s.o.SlowQueries {
		s.slow.put(slowQuery{s.o.Now(), r.Query, duration(a.Took), a.Total})
	}
	return a, err
}

func (s *Server) resultsView(r searcher.Request, a *searcher.Response) *resultsView {
	spelling := spelling(r, a)
	r = answered(r, a)
	v := &resultsView{
		Spelling:  spelling,
		Total:     totalText(a),
		Took:      duration(a.Took),
		Documents: a.Documents,
		Partial:   a.Partial,
		First:     r.Offset + 1,
		JSON:      searchHref("/api/v1/search", r, r.Offset),
		Atom:      feedHref("", "atom", r, 0),
		Ranks:     ranksText(a.Rank),
		Why:       a.Why,
		Hidden:    hiddenText(a),
		Cut:       a.Cut,
	}
	for _, f := range a.Filters {
		v.Filters = append(v.Filters, filterView{f.Text, withoutHref(r, f.Without)})
	}
	if !sameQuery(a.Interpreted, r.Query) {
		v.Interpreted = a.Interpreted
	}
	var best searcher.Score
	for i := range a.Results {
		best = max(best, a.Results[i].Score)
	}
	for i := range a.Results {
		v.Results = append(v.Results, s.resultView(&a.Results[i], r, r.Offset+i+1, best))
	}
	if a.Folded > 0 && !a.Next {
		v.Folded = ungroupedHref(r)
	}
	if r.Similar != 0 {
		v.All = allHref(r)
	}
	v.Sites = sitesOf(r, a.Results)
	v.paginate(r, a)
	if len(a.Results) == 0 {
		v.Hints = append(s.unknownHints(a), hintsFor(r, a)...)
	}
	return v
}

// withoutHref is the address of another query, the first page where nothing is left of it.
func withoutHref(r searcher.Request, query string) string {
	if query == "" {
		return "/"
	}
	return searchHref("/search", asking(r, query), 0)
}

// unknownHints lead to what is known of URLs that the query names and the index does not know.
func (s *Server) unknownHints(a *searcher.Response) (hints []hint) {
	if s.o.Trace == nil {
		return nil
	}
	for _, address := range a.Unknown {
		if strings.Contains(address, "/") {
			hints = append(hints, hint{"Why the index does not know it", address, traceHref("http://" + address)})
		}
	}
	return hints
}

// missing is nil for a page that holds all words of the query.
func missing(asked searcher.Request, r *searcher.Result) *missView {
	if len(r.Missing) == 0 {
		return nil
	}
	v := &missView{Words: r.Missing}
	for _, word := range r.Missing {
		if strings.ContainsAny(word, ` "`) { // one of several
			continue
		}
		query := demanding(asked.Query, word)
		v.Must = append(v.Must, hint{word, query, searchHref("/search", asking(asked, query), 0)})
	}
	return v
}

// demanding is the query with a plus before a word, or with one more that has it.
func demanding(query, word string) string {
	words := strings.Fields(query)
	if i := slices.Index(words, word); i >= 0 {
		words[i] = "+" + word
		return strings.Join(words, " ")
	}
	return query + " +" + word
}

// ranksText says which rank vector counted and of when it is.
func ranksText(u searcher.RankUsed) string {
	if u.Computed.IsZero() {
		return ""
	}
	text := u.Computed.UTC().Format("2 January 2006, 15:04 UTC")
	if u.Personalized != "" {
		text += ", favouring " + u.Personalized
	}
	return u.Name + ", of " + text
}

// totalText is honest: "at least" wherever the count is not exact.
func totalText(a *searcher.Response) string {
	noun := " pages"
	if a.Total == 1 {
		noun = " page"
	}
	if a.Exact {
		return count(a.Total) + noun
	}
	return "at least " + count(a.Total) + noun
}

// sameQuery says that the interpretation tells nothing new.
func sameQuery(interpreted, query string) bool {
	fold := func(s string) string { return strings.ToLower(strings.Join(strings.Fields(s), " ")) }
	return interpreted == "" || fold(interpreted) == fold(query)
}

// kindView names kinds of documents that are not what a browser shows as a page.
func kindView(m vocab.Medium) string {
	if m <= vocab.HTML {
		return ""
	}
	return strings.ToUpper(m.String())
}

func (s *Server) resultView(r *searcher.Result, asked searcher.Request, number int, best searcher.Score) resultView {
	why := url.Values{"q": {asked.Query}, "url": {r.URL}}
	if asked.Rank != "" {
		why.Set("rank", asked.Rank)
	}
	v := resultView{
		Number:  number,
		URL:     linkable(r.URL),
		Title:   shorten(r.Title, maxTitle),
		Crumbs:  breadcrumb(r.URL),
		Snippet: r.Snippet,
		Lang:    langTag(r.Lang),
		Score:   strconv.FormatFloat(r.Score.Points(), 'f', 2, 64),
		Why:     "/explain?" + why.Encode(),
		Fetched: r.Fetched,
		Crawled: r.Crawled,
		Kind:    kindView(r.Medium),
		Missing: missing(asked, r),
		Similar: similarView(asked, r),
		More:    moreView(asked, r),
	}
	if r.Date != 0 {
		v.Date = r.Date.Time()
	}
	if strings.TrimSpace(r.Title) == "" {
		v.Title = shorten(r.URL, maxTitle)
	}
	if best > 0 && r.Score > 0 {
		v.Bar = int(r.Score * 100 / best)
	}
	if r.Crawled && s.o.Pages != nil {
		v.Cached = cachedHref(uint64(r.Doc), asked.Query, false)
	}
	if s.o.Links != nil {
		v.Links = linksHref(r.URL)
	}
	if s.o.Trace != nil {
		v.Info = traceHref(r.URL)
	}
	return v
}

// linkable gives back http and https URLs and "" for all others: the index should hold no
// others, but a page that shows javascript: as a link is a hole whoever let it in.
func linkable(raw string) string {
	u, err := url.Parse(raw)
	if err != nil || (u.Scheme != "http" && u.Scheme != "https") || u.Host == "" {
		return ""
	}
	return raw
}

// breadcrumb shows a URL as people read it: host, then the steps of the path, decoded. Characters
// that do not show, and those that turn the direction of writing, stay out: they could make one
// host look like another.
func breadcrumb(raw string) []string {
	const maxSteps = 5
	u, err := url.Parse(raw)
	if err != nil || u.Host == "" {
		return []string{shorten(visible(raw), 80)}
	}
	crumbs := []string{shorten(visible(u.Host), 64)}
	for step := range strings.SplitSeq(u.EscapedPath(), "/") {
		if plain, err := url.PathUnescape(step); err == nil && utf8.ValidString(plain) {
			step = plain
		}
		if step = visible(step); step != "" {
			crumbs = append(crumbs, shorten(step, 48))
		}
	}
	if len(crumbs) > maxSteps {
		crumbs = slices.Concat(crumbs[:2], []string{"…"}, crumbs[len(crumbs)-2:])
	}
	if u.RawQuery != "" {
		crumbs[len(crumbs)-1] += shorten("?"+visible(u.RawQuery), 32)
	}
	return crumbs
}

// visible drops what does not show.
func visible(s string) string {
	return strings.Map(func(r rune) rune {
		if !unicode.IsPrint(r) {
			return -1
		}
		return r
	}, s)
}

// shorten cuts a text to so many characters.
func shorten(s string, limit int) string {
	n := 0
	for i := range s {
		if n++; n > limit {
			return strings.TrimRight(s[:i], " ") + "…"
		}
	}
	return s
}

// langTag gives back what looks like a language tag (RFC 5646) and "" for all else.
func langTag(s string) string {
	if len(s) < 2 || len(s) > 35 {
		return ""
	}
	for i := range len(s) {
		c := s[i] | 0x20
		if (c < 'a' || c > 'z') && (i < 2 || s[i] != '-' && (s[i] < '0' || s[i] > '9')) {
			return ""
		}
	}
	return s
}

// sitesOf counts the hosts of the results shown, the commonest first. There is none where the
// query names a site already, or all results are of one.
func sitesOf(r searcher.Request, results []searcher.Result) []siteView {
	if strings.Contains(strings.ToLower(r.Query), "site:") {
		return nil
	}
	counts := make(map[string]int)
	for i := range results {
		if u, err := url.Parse(results[i].URL); err == nil && u.Host != "" {
			counts[u.Host]++
		}
	}
	if len(counts) < 2 {
		return nil
	}
	var sites []siteView
	for host, n := range counts {
		sites = append(sites, siteView{shorten(visible(host), 64), n, searchHref("/search", searcher.Request{Query: r.Query + " site:" + host, Rank: r.Rank}, 0)})
	}
	slices.SortFunc(sites, func(a, b siteView) int {
		return cmp.Or(cmp.Compare(b.Count, a.Count), cmp.Compare(a.Host, b.Host))
	})
	return sites[:min(len(sites), 6)]
}

// searchHref is the address of a search from offset on: its query, limit, ranks and grouping; limit 0 is the default.
func searchHref(path string, r searcher.Request, offset int) string {
	v := url.Values{"q": {r.Query}}
	if offset > 0 {
		v.Set("start", strconv.Itoa(offset))
	}
	if r.Limit > 0 && r.Limit != searcher.DefaultLimit {
		v.Set("num", strconv.Itoa(r.Limit))
	}
	if r.Rank != "" {
		v.Set("rank", r.Rank)
	}
	if r.Ungrouped {
		v.Set("filter", "0")
	}
	if r.Similar != 0 {
		v.Set("similar", strconv.FormatUint(uint64(r.Similar), 10))
	}
	return path + "?" + v.Encode()
}

// asking is the request with another query.
func asking(r searcher.Request, query string) searcher.Request {
	r.Query, r.Similar = query, 0
	return r
}

// nextOffset is where the next page starts; ok is false where there is none that can be asked for.
func nextOffset(r searcher.Request, a *searcher.Response) (offset int, ok bool) {
	offset = r.Offset + r.Limit
	return offset, a.Next && offset <= searcher.MaxOffset
}

// paginate links the pages around this one that are known to be there: up to the total, which is
// a lower bound where it is not exact, and no further than a search reaches.
func (v *resultsView) paginate(r searcher.Request, a *searcher.Response) {
	around := 4
	if r.Offset/r.Limit >= 99 { // longer numbers, of which a telephone has room for seven
		around = 3
	}
	href := func(offset int) string { return searchHref("/search", r, offset) }
	if r.Offset > 0 {
		v.Prev = href(max(0, r.Offset-r.Limit))
	}
	current := r.Offset/r.Limit + 1
	last := current
	if next, ok := nextOffset(r, a); ok {
		v.Next = href(next)
		last = min(max(current+1, (a.Total-a.Folded+r.Limit-1)/r.Limit), searcher.MaxOffset/r.Limit+1)
	}
	if shown := r.Offset + len(a.Results); v.Next == "" && len(a.Results) > 0 && shown > searcher.MaxOffset-r.Limit && a.Total-a.Folded > shown {
		v.Ends = "A search shows its first " + count(shown) + " results. More words, or a site, would narrow it down."
	}
	if last == 1 || len(a.Results) == 0 {
		return
	}
	for n := max(1, min(current-around, last-2*around)); n <= min(last, max(current+around, 2*around+1)); n++ {
		v.Pages = append(v.Pages, pageLink{n, href((n - 1) * r.Limit), n == current})
	}
}

// hintsFor proposes queries that may find what this one did not.
func hintsFor(r searcher.Request, a *searcher.Response) []hint {
	if a.Total > 0 && r.Offset > 0 {
		return []hint{{"The first page of results", r.Query, searchHref("/search", r, 0)}}
	}
	var hints []hint
	try := func(label, query string) {
		if query = strings.Join(strings.Fields(query), " "); query != "" && query != r.Query && len(query) <= MaxQuery {
			hints = append(hints, hint{label, query, searchHref("/search", asking(r, query), 0)})
		}
	}
	plain := withoutOperators(r.Query)
	if strings.Contains(r.Query, `"`) {
		try("Without the quotes", strings.ReplaceAll(r.Query, `"`, " "))
	}
	if plain != strings.Join(strings.Fields(r.Query), " ") {
		try("The words alone", plain)
	}
	if words := strings.Fields(plain); len(words) > 1 && len(words) <= 12 {
		try("Any of the words", strings.Join(words, " OR "))
	}
	return hints
}

// withoutOperators leaves the words that are asked for: no site: and its like, no -words, no OR.
func withoutOperators(query string) string {
	var words []string
	for w := range strings.FieldsSeq(strings.ReplaceAll(query, `"`, " ")) {
		if w == "OR" || w == "|" || strings.HasPrefix(w, "-") {
			continue
		}
		if operator, value, ok := strings.Cut(w, ":"); ok {
			if operator == "site" {
				continue
			}
			w = value
		}
		if w = strings.Trim(w, "()"); w != "" {
			words = append(words, w)
		}
	}
	return strings.Join(words, " ")
}

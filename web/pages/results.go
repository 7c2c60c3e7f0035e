package pages

import (
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"anatomy/searcher"
	"anatomy/vocab"
	"anatomy/web/internal/address"
	"anatomy/web/internal/marks"
	"anatomy/web/internal/messages"
	"anatomy/web/internal/params"
	"anatomy/web/internal/text"
)

// A resultsView is a page of results.
type resultsView struct {
	Total       string // "1,234 pages", "at least 1,200 pages"
	Took        string
	Documents   int
	Interpreted string // if it differs from the query
	Filters     []filterView
	Clear       string // address of the search without filters, or ""
	ByDate      bool
	OtherOrder  string // address of the results by date, or by relevance if these are by date; "" if the query is too long
	Facets      []facetView
	FacetsShown bool
	ShowFacets  string   // address of the results with facets, or without them if they are shown
	Cut         []string // parts of the query that were ignored
	Spelling    *spellingView
	NoPages     bool   // the index has no page
	Crawling    bool   // on no results: a crawl runs
	Again       string // address of the same search
	Partial     bool
	Damaged     bool
	Missing     string // numbers of the shards that are not on this machine
	First       int    // number of the first result, from 1
	Results     []resultView
	Images      []imageView // instead of Results
	Pages       []pageLink
	Prev, Next  string // addresses, or ""
	Ends        string // why there are no more pages though there are more results, or ""
	Folded      string // address of the results without collapsing
	All         string // address of the search whose near-duplicates these are
	JSON        string // address of the results as JSON
	Atom        string // address of the results as a feed
	Ranks       string // rank vector in use, or ""
	Rankings    []rankingView
	Why         string      // on no results
	Hints       []hint      // on no results
	Scope       *offer      // on no results: what is searched
	Blocked     []string    // on no results: sites that the query names whose known pages the operator blocked
	OpenQuote   bool        // on no results: the query has a quote that is not closed
	NoSite      string      // on no results: a site of the query without pages, or ""
	Hidden      string      // number of hidden pages of blocked sites, or ""
	ShowHidden  string      // address of the results with hidden pages
	Back        string      // query string of this page
	Lens        *lensChoice // nil if there is none to choose
	Opened      bool        // the script reports which results are opened
	Marking     *markForm   // nil for visitors who may not act

	messages *messages.Printer
}

// A resultView is one result.
type resultView struct {
	Number  int
	URL     string // of its passage; "" if it must not become a link
	Title   []searcher.Fragment
	Crumbs  []string
	Section []string      // headings around its section and that of the section itself
	Further []sectionView // further sections
	Pinned  bool          // by the operator, for the query
	Note    string        // of the operator, about a pinned page
	Snippet []searcher.Fragment
	Lang    string // well-formed tag, or ""
	Score   string
	Why     string
	Cached  string
	Links   string
	Info    string
	Like    string // address of the pages that are linked together with it
	Fetched time.Time
	Date    time.Time // of the page, or zero
	Kind    string    // "PDF", or "" for HTML
	Crawled bool
	Host    string     // "" if it is no site
	Icon    string     // address of its icon, or ""
	Explore string     // address of the site report
	Liked   string     // preference for the site: "raised"
	Missing *missView  // nil if no term is missing
	Choices []choice   // other preferences for the site
	Similar *groupView // near-duplicates collapsed into it, or nil
	More    *groupView // of its host, further down, or nil
	Also    []alsoView // the page in other languages
	Mark    marks.Mark // for the query; "" for visitors who may not act

	page string // URL of the page, not of its section
}

// A sectionView is a link to a section of a result.
type sectionView struct{ Heading, Href string }

// An alsoView is a link to a page in another language.
type alsoView struct{ Name, Lang, Href string }

// shownFilters is the number of filters on a page; a query of 2,048 bytes may have hundreds.
const shownFilters = 20

// A filterView is a link to the search without a filter.
type filterView struct{ Text, Href string }

// A missView names the terms that a page misses, with links to searches that require them.
type missView struct {
	Words []string
	Must  []hint
}

type pageLink struct {
	Number  int
	Href    string
	Current bool
}

// A hint is a link to another query.
type hint struct {
	Label string
	Query string
	Href  string
}

// numbersText returns "1, 3".
func numbersText(numbers []int) string {
	var all []string
	for _, n := range numbers {
		all = append(all, strconv.Itoa(n))
	}
	return strings.Join(all, ", ")
}

func newResultsView(m *messages.Printer, r searcher.Request, a *searcher.Response) *resultsView {
	spelling := spelling(r, a)
	r = address.Answered(r, a)
	v := &resultsView{
		Spelling:  spelling,
		Total:     totalText(m, a),
		Took:      m.Duration(a.Took),
		Documents: a.Documents,
		NoPages:   a.NoPages,
		Again:     address.SearchHref("/search", r, 0),
		Partial:   a.Partial && !a.Damaged && len(a.Missing) == 0,
		Damaged:   a.Damaged,
		Missing:   numbersText(a.Missing),
		First:     r.Offset + 1,
		JSON:      address.SearchHref("/api/v1/search", r, r.Offset),
		Atom:      address.FeedHref("", "atom", r, 0),
		Ranks:     ranksText(m, a.Rank),
		Rankings:  rankings(m, r),
		Why:       a.Why,
		Hidden:    hiddenText(m, a),
		Cut:       a.Cut,
		messages:  m,
	}
	for _, f := range a.Filters[:min(len(a.Filters), shownFilters)] {
		v.Filters = append(v.Filters, filterView{f.Text, withoutHref(r, f.Without)})
	}
	if !sameQuery(a.Interpreted, r.Query) {
		v.Interpreted = a.Interpreted
	}
	words := text.NewMarker(a.Words)
	for i := range a.Results {
		v.Results = append(v.Results, newResultView(m, &a.Results[i], r, words, r.Offset+i+1))
	}
	v.narrow(m, r, a)
	if a.Folded > 0 && !a.Next {
		v.Folded = ungroupedHref(r)
	}
	if r.Similar != 0 {
		v.All = allHref(r)
	}
	v.paginate(r, a)
	if len(a.Results) == 0 {
		v.Hints = slices.Concat(unknownHints(m, a), hintsFor(m, r, a), siteHints(m, a))
		v.OpenQuote = strings.Count(r.Query, `"`)%2 == 1
		if excludesOnly(r.Query) {
			v.Documents = 0 // none was searched
		}
	}
	return v
}

// withoutHref returns the address of another query, or of the home page for an empty one.
func withoutHref(r searcher.Request, query string) string {
	if query == "" {
		return "/"
	}
	return address.SearchHref("/search", address.WithQuery(r, query), 0)
}

// unknownHints returns links to the page information of URLs that the query names and the index
// lacks.
func unknownHints(m *messages.Printer, a *searcher.Response) (hints []hint) {
	for _, target := range a.Unknown {
		if strings.Contains(target, "/") {
			hints = append(hints, hint{m.Text("Why the index does not have it"), target, address.TraceHref("http://" + target)})
		}
	}
	return hints
}

// siteHints returns links to the reports of the sites that the query names: all their pages may be
// blocked or failed.
func siteHints(m *messages.Printer, a *searcher.Response) (hints []hint) {
	for _, site := range sitesNamed(a) {
		hints = append(hints, hint{m.Text("Report on the site"), site, address.SiteHref(site)})
	}
	return hints
}

// sitesNamed returns the sites that filters of the query name.
func sitesNamed(a *searcher.Response) (sites []string) {
	for _, f := range a.Filters[:min(len(a.Filters), shownFilters)] {
		value, is := strings.CutPrefix(f.Text, "site:")
		if site, ok := text.SiteName(value); is && ok {
			sites = append(sites, site)
		}
	}
	return sites
}

// excludesOnly reports whether every word of a query excludes pages.
func excludesOnly(query string) bool {
	for word := range strings.FieldsSeq(query) {
		if !strings.HasPrefix(word, "-") {
			return false
		}
	}
	return true
}

// missing returns nil for a page with all terms of the query.
func missing(asked searcher.Request, r *searcher.Result) *missView {
	if len(r.Missing) == 0 {
		return nil
	}
	v := &missView{Words: r.Missing}
	for _, word := range r.Missing {
		if strings.ContainsAny(word, ` "`) { // one of several alternatives
			continue
		}
		query := demanding(asked.Query, word)
		v.Must = append(v.Must, hint{word, query, address.SearchHref("/search", address.WithQuery(asked, query), 0)})
	}
	return v
}

// demanding returns the query with a plus before a word; it adds the word if necessary.
func demanding(query, word string) string {
	words := strings.Fields(query)
	if i := slices.Index(words, word); i >= 0 {
		words[i] = "+" + word
		return strings.Join(words, " ")
	}
	return query + " +" + word
}

// ranksText names the rank vector of a search and its date.
func ranksText(m *messages.Printer, u searcher.RankUsed) string {
	if u.Computed.IsZero() {
		return ""
	}
	if u.Personalized != "" {
		return m.Text("%s of %s, favouring %s", u.Name, m.Moment(u.Computed), u.Personalized)
	}
	return m.Text("%s of %s", u.Name, m.Moment(u.Computed))
}

// A rankingView is a link to the same search with another ranking.
type rankingView struct {
	Name    string
	Href    string
	Current bool
}

// rankings returns the search with and without PageRank and texts of links, to compare the results.
func rankings(m *messages.Printer, r searcher.Request) []rankingView {
	all := []rankingView{
		{Name: m.Text("Default ranking")}, {Name: m.Text("Without PageRank")},
		{Name: m.Text("Without link texts")}, {Name: m.Text("Link texts of other sites only")},
	}
	for i, with := range []struct {
		rank    string
		anchors searcher.Anchors
	}{{}, {rank: searcher.NoRank}, {r.Rank, searcher.NoAnchors}, {r.Rank, searcher.OtherAnchors}} {
		all[i].Current = r.Rank == with.rank && r.Anchors == with.anchors
		to := r
		to.Rank, to.Anchors = with.rank, with.anchors
		all[i].Href = address.SearchHref("/search", to, 0)
	}
	return all
}

// totalText returns the number of pages, with "at least" unless it is exact.
func totalText(m *messages.Printer, a *searcher.Response) string {
	if a.Exact {
		return m.Text("%d pages", a.Listed())
	}
	return m.Text("at least %d pages", a.Listed())
}

// sameQuery reports whether the interpretation equals the query.
func sameQuery(interpreted, query string) bool {
	fold := func(s string) string { return strings.ToLower(strings.Join(strings.Fields(s), " ")) }
	return interpreted == "" || fold(interpreted) == fold(query)
}

// kindView returns the type of a document, "" for HTML.
func kindView(m vocab.Medium) string {
	if m <= vocab.HTML {
		return ""
	}
	return strings.ToUpper(m.String())
}

func newResultView(
	m *messages.Printer, r *searcher.Result, asked searcher.Request, words *text.Marker, number int,
) resultView {
	why := url.Values{"q": {asked.Query}, "url": {r.URL}}
	if asked.Rank != "" {
		why.Set("rank", asked.Rank)
	}
	if asked.Anchors != "" {
		why.Set("anchors", string(asked.Anchors))
	}
	v := resultView{
		Number:  number,
		URL:     text.Linkable(r.PassageURL()),
		Title:   titleOf(r, words),
		Crumbs:  text.Breadcrumb(r.URL),
		Section: sectionPath(r),
		Further: furtherSections(r),
		Snippet: r.Snippet,
		Lang:    text.LangTag(r.Lang),
		Score:   m.Decimal(strconv.FormatFloat(r.Score.Points(), 'f', 2, 64)),
		Why:     "/explain?" + why.Encode(),
		Fetched: r.Fetched,
		Crawled: r.Crawled,
		Kind:    kindView(r.Medium),
		Missing: missing(asked, r),
		Similar: similarView(m, asked, r),
		More:    moreView(m, asked, r),
		page:    r.URL,
	}
	if r.Pin != nil {
		v.Pinned, v.Note = true, r.Pin.Note
	}
	for _, version := range r.Versions {
		if href := text.Linkable(version.URL); href != "" {
			v.Also = append(v.Also, alsoView{text.LanguageName(version.Lang), version.Lang, href})
		}
	}
	if r.Date != 0 {
		v.Date = r.Date.Time()
	}
	if r.HasCopy() {
		v.Cached = address.CachedAt(uint64(r.Doc), asked.Query, r.Section.ID)
	}
	v.Links = address.LinksHref(r.URL)
	v.Info = address.TraceHref(r.URL)
	if query := "related:" + r.URL; len(query) <= params.MaxQuery && !strings.ContainsAny(query, ` "`) {
		v.Like = address.SearchHref("/search", searcher.Request{Query: query, Rank: asked.Rank, Anchors: asked.Anchors}, 0)
	}
	return v
}

// titleOf returns the title of a result, or else its URL, in which the words of the query are marked.
func titleOf(r *searcher.Result, words *text.Marker) (title []searcher.Fragment) {
	whole := r.Title
	if strings.TrimSpace(whole) == "" {
		whole = r.URL
	}
	words.Each(text.Shorten(whole, text.MaxTitle), func(piece string, mark bool) {
		title = append(title, searcher.Fragment{Text: piece, Mark: mark})
	})
	return title
}

// maxSectionPath is the number of characters that the headings of a section have room for.
const maxSectionPath = 80

// sectionPath returns the headings that lead to the section of a result: the innermost ones that fit, except
// those that repeat the title of the page.
func sectionPath(r *searcher.Result) []string {
	if r.Section.Heading == "" {
		return nil
	}
	all := append(slices.Clone(r.Section.Path), r.Section.Heading)
	if repeats(all[0], r.Title) || len(all) > 1 && repeats(r.Title, all[0]) {
		all = all[1:]
	}
	if len(all) == 1 && repeats(all[0], r.Title) {
		return nil
	}
	for len(all) > 1 && utf8.RuneCountInString(strings.Join(all, " › ")) > maxSectionPath {
		all = all[1:]
	}
	return all
}

// repeats reports whether a title begins with the words of a heading.
func repeats(heading, title string) bool {
	rest, is := strings.CutPrefix(strings.ToLower(title), strings.ToLower(heading))
	next, _ := utf8.DecodeRuneInString(rest)
	return is && heading != "" && (rest == "" || !unicode.IsLetter(next) && !unicode.IsDigit(next))
}

// furtherSections returns links to the further sections of a result, without those whose headings repeat the
// title of the page or the heading of another section, as those of overloaded functions do.
func furtherSections(r *searcher.Result) (further []sectionView) {
	shown := []string{r.Section.Heading}
	for i := range r.Sections {
		s := &r.Sections[i]
		href := text.Linkable(r.SectionURL(s))
		if href != "" && !repeats(s.Heading, r.Title) && !slices.Contains(shown, s.Heading) {
			shown = append(shown, s.Heading)
			further = append(further, sectionView{text.Shorten(s.Heading, text.MaxTitle), href})
		}
	}
	return further
}

// paginate sets the links to other pages of results: those that exist for certain, within the reach
// of a search.
func (v *resultsView) paginate(r searcher.Request, a *searcher.Response) {
	around := 4
	if r.Offset/r.Limit >= 99 { // longer numbers: a phone has room for seven
		around = 3
	}
	href := func(offset int) string { return address.SearchHref("/search", r, offset) }
	if r.Offset > 0 {
		v.Prev = href(max(0, r.Offset-r.Limit))
	}
	current := r.Offset/r.Limit + 1
	last := current
	if next, ok := address.NextOffset(r, a); ok {
		v.Next = href(next)
		last = min(max(current+1, (a.Listed()+r.Limit-1)/r.Limit), searcher.MaxOffset/r.Limit+1)
	}
	if shown := r.Offset + len(a.Results); v.Next == "" && len(a.Results) > 0 && shown > searcher.MaxOffset-r.Limit && a.Listed() > shown {
		v.Ends = v.messages.Text("A search shows at most %d results. Add words or a site to narrow it down.", shown)
	}
	if last == 1 || len(a.Results) == 0 {
		return
	}
	for n := max(1, min(current-around, last-2*around)); n <= min(last, max(current+around, 2*around+1)); n++ {
		v.Pages = append(v.Pages, pageLink{n, href((n - 1) * r.Limit), n == current})
	}
}

// hintsFor returns queries that may find what this one did not.
func hintsFor(m *messages.Printer, r searcher.Request, a *searcher.Response) []hint {
	if a.Listed() > 0 && r.Offset > 0 {
		return []hint{{m.Text("The first page of results"), r.Query, address.SearchHref("/search", r, 0)}}
	}
	var hints []hint
	try := func(label, query string) {
		query = strings.Join(strings.Fields(query), " ")
		known := slices.ContainsFunc(hints, func(h hint) bool { return h.Query == query })
		if !known && query != "" && query != r.Query && len(query) <= params.MaxQuery {
			hints = append(hints, hint{label, query, address.SearchHref("/search", address.WithQuery(r, query), 0)})
		}
	}
	plain := withoutOperators(r.Query)
	if strings.Contains(r.Query, `"`) {
		try(m.Text("Without the quotes"), strings.ReplaceAll(r.Query, `"`, " "))
	}
	if plain != strings.Join(strings.Fields(r.Query), " ") {
		try(m.Text("Only the words"), plain)
	}
	words := text.KnownWords(plain, a.Absent)
	switch {
	case len(words) == 1:
		try(m.Text("Without words that no page contains"), words[0])
	case len(words) <= 12:
		try(m.Text("Any of the words"), strings.Join(words, " OR "))
	}
	return hints
}

// filterOperators are those whose values are no words.
var filterOperators = []string{"site", "lang", "language", "filetype", "ext", "type", "after", "before", "sort"}

// withoutOperators returns the words of a query, without filters, -words and OR.
func withoutOperators(query string) string {
	var words []string
	for w := range strings.FieldsSeq(strings.ReplaceAll(query, `"`, " ")) {
		if w == "OR" || w == "|" || strings.HasPrefix(w, "-") {
			continue
		}
		if operator, value, ok := strings.Cut(w, ":"); ok {
			if slices.Contains(filterOperators, strings.ToLower(operator)) {
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

// A groupView is a link to results that are not shown beside a result.
type groupView struct {
	Label string // "3 similar pages", "more from example.org"
	Href  string
}

// similarView returns the link to the near-duplicates of a result, or nil.
func similarView(m *messages.Printer, r searcher.Request, result *searcher.Result) *groupView {
	if result.Similar == 0 {
		return nil
	}
	return &groupView{m.Text("%d similar pages", result.Similar), address.SimilarHref("/search", r, result)}
}

// moreView returns the link to further results of a host, or nil.
func moreView(m *messages.Printer, r searcher.Request, result *searcher.Result) *groupView {
	host := text.HostOf(result.URL)
	if result.More == 0 || host == "" {
		return nil
	}
	return &groupView{m.Text("more from %s", text.Shorten(text.Visible(host), 64)), address.HostHref("/search", r, host)}
}

// ungroupedHref returns the address of the results without collapsing.
func ungroupedHref(r searcher.Request) string {
	r.Ungrouped = true
	return address.SearchHref("/search", r, 0)
}

// allHref returns the address of the search whose near-duplicates these are.
func allHref(r searcher.Request) string {
	return address.SearchHref("/search", address.WithQuery(r, r.Query), 0)
}

// A spellingView is the line about the spelling of the query.
type spellingView struct {
	Corrected bool   // the results are those of Query; else Query is a suggestion
	Reason    string // why the query was corrected
	Query     string
	Href      string
	Asked     string // of Corrected: the query as typed, "" if it found nothing
	AskedHref string // address of the search without correction
}

// spelling returns nil if the query has no correction.
func spelling(r searcher.Request, a *searcher.Response) *spellingView {
	query := a.Corrected
	if query == "" {
		query = a.Suggestion
	}
	if query == "" {
		return nil
	}
	v := &spellingView{
		Corrected: a.Corrected != "", Reason: a.Why, Query: query, Href: address.SearchHref("/search", address.WithQuery(r, query), 0),
	}
	if v.Corrected && v.Reason == "" {
		v.Asked, v.AskedHref = r.Query, address.SearchHref("/search", r, 0)+"&verbatim=1"
	}
	return v
}

// An imageView is one image result.
type imageView struct {
	Thumb  string // address of the small image, or ""
	Page   string // address of the page that shows it
	Source string // address of the image on its own host
	Says   string // its description
	Title  string // of the page
	Host   string
	Size   string // "640 × 480", or ""
}

// A choice is an entry of the menu of a result.
type choice struct{ Label, Set string }

// hiddenText returns the number of hidden pages of blocked sites, or "".
func hiddenText(m *messages.Printer, a *searcher.Response) string {
	switch {
	case a.Hidden == 0:
		return ""
	case a.HiddenExact:
		return m.Text("%d pages of sites that you blocked are hidden.", a.Hidden)
	}
	return m.Text("At least %d pages of sites that you blocked are hidden.", a.Hidden)
}

package web

import (
	"bytes"
	"cmp"
	"context"
	"image"
	"image/png"

	"anatomy/web/pages"

	_ "embed"
	"fmt"
	"net/netip"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"anatomy/collection"
	"anatomy/searcher"
	"anatomy/vocab"
)

// fakeIndex answers like a searcher, from a table. A query that is not in it finds nothing, and
// says so; "fail" and "slow" go wrong.
type fakeIndex struct {
	answers map[string]*searcher.Response
	pages   map[vocab.DocID]*vocab.Page

	controls map[vocab.DocID]vocab.Controls

	closed  bool  // no index is open
	missing []int // numbers of missing shards

	// Answers of the methods of these names; nil for a default.
	all      func(context.Context, searcher.Request, int, func(*searcher.Result) error) (*searcher.Response, error)
	complete func(typed string, limit int) []string
	stats    func() (any, error)

	titlesRead atomic.Int64 // by the last report of links that chose them

	mu    sync.Mutex
	asked []searcher.Request
}

// newServerOf returns a server that also answers as example.com, which httptest.NewRequest names,
// and as search.test, as often as a test asks.
func newServerOf(o Options) *Server {
	o.Limits.Rate = cmp.Or(o.Limits.Rate, -1)
	o.Hosts = append(slices.Clip(o.Hosts), "example.com", "search.test")
	return New(o)
}

func (f *fakeIndex) Ready() bool { return !f.closed }

func (f *fakeIndex) AnswerStats() searcher.AnswerStats {
	return searcher.AnswerStats{Hits: 3, Misses: 4, Bytes: 5}
}

func (f *fakeIndex) MissingShards() []int { return f.missing }

func (f *fakeIndex) All(ctx context.Context, r searcher.Request, limit int, each func(*searcher.Result) error) (*searcher.Response, error) {
	return f.all(ctx, r, limit, each)
}

func (f *fakeIndex) Complete(typed string, limit int) []string {
	if f.complete == nil {
		return nil
	}
	return f.complete(typed, limit)
}

func (f *fakeIndex) Stats(context.Context) (any, error) {
	if f.stats == nil {
		return map[string]int{"pages": 9390}, nil
	}
	return f.stats()
}

func (f *fakeIndex) Images(ctx context.Context, r searcher.Request) (*searcher.ImageResponse, error) {
	return fakeImages(ctx, r)
}

// iconPNG returns an image of 40 by 20 red pixels. It is made once, so that benchmarks do not measure it.
var iconPNG = sync.OnceValue(func() []byte {
	m := image.NewNRGBA(image.Rect(0, 0, 40, 20))
	for i := range m.Pix {
		m.Pix[i] = []byte{255, 0, 0, 255}[i%4]
	}
	var b bytes.Buffer
	png.Encode(&b, m)
	return b.Bytes()
})

func (f *fakeIndex) HasIcon(host string) bool { _, err := f.Icon(host); return err == nil }

func (f *fakeIndex) Icon(host string) ([]byte, error) {
	switch host {
	case "sorter.docs.test":
		return iconPNG(), nil
	case "papers.docs.test":
		return []byte("GIF89a, which is broken"), nil
	}
	return nil, collection.ErrNotFound
}

func (f *fakeIndex) Image(ctx context.Context, doc vocab.DocID, id string) (*vocab.Image, error) {
	return fakeImage(ctx, doc, id)
}

func (f *fakeIndex) Search(ctx context.Context, r searcher.Request) (*searcher.Response, error) {
	f.mu.Lock()
	f.asked = append(f.asked, r)
	f.mu.Unlock()
	switch r.Query {
	case "fail":
		return nil, fmt.Errorf("segment: read /data/secret.sst: checksum")
	case "slow":
		return nil, fmt.Errorf("searcher: %w", context.DeadlineExceeded)
	case "panic":
		panic("index out of range")
	}
	a, ok := f.answers[r.Query]
	if r.Query == "unindexed" {
		return &searcher.Response{Query: r.Query, Interpreted: r.Query, Exact: true, NoPages: true, Why: "No pages are indexed yet."}, nil
	}
	if !ok {
		return &searcher.Response{Query: r.Query, Interpreted: r.Query, Exact: true, Documents: 9390, Took: 180 * time.Microsecond,
			Why: "No page has the word “" + r.Query + "”."}, nil
	}
	response := *a
	response.Query = r.Query
	from := min(r.Offset, len(a.Results))
	to := min(from+r.Limit, len(a.Results))
	response.Results = append([]searcher.Result(nil), a.Results[from:to]...)
	response.Next = to < len(a.Results)
	if r.Facets != "" && a.Facets == nil {
		response.Facets = fakeFacets(r.Query)
		if r.Facets == "site" {
			response.Facets = response.Facets[:1]
		}
		response.Filters, response.Plain = []searcher.Filter{{Text: `"a phrase"`, Without: "index"}, {Text: "sort:date", Without: "index"}}, "index"
	}
	for i := range response.Results {
		response.Results[i].Explanation = nil
		if r.Explain {
			response.Results[i].Explanation = fakeExplanation(response.Results[i].URL)
		}
	}
	return &response, nil
}

// fakeFacets returns facets of each kind, one with all values and one that the time cut short.
func fakeFacets(query string) []searcher.Facet {
	value := func(value, filter string, count int) searcher.FacetValue {
		return searcher.FacetValue{Value: value, Count: count, Filter: filter, Query: query + " " + filter}
	}
	sites := searcher.Facet{Kind: "site", Exact: true, Of: 1234}
	for i := range searcher.MaxFacetValues {
		host := fmt.Sprintf("a-host-with-a-long-name-%d.docs.test", i)
		sites.Values = append(sites.Values, value(host, "site:"+host, 1000-i))
	}
	languages := searcher.Facet{Kind: "lang", Exact: true, Of: 2, Values: []searcher.FacetValue{value("en", "lang:en", 1200), value("de", "lang:de", 34)}}
	languages.Values[1].Selected, languages.Values[1].Query = true, query
	return []searcher.Facet{
		sites, languages,
		{Kind: "type", Exact: true, Of: 1, Values: []searcher.FacetValue{value("pdf", "filetype:pdf", 1200)}},
		{Kind: "date", Of: 2, Values: []searcher.FacetValue{value("2024", "2024..2024", 3), value("1998", "1998..1998", 2)}},
	}
}

func (f *fakeIndex) Explain(ctx context.Context, r searcher.Request, url string) (*searcher.Explanation, error) {
	if strings.Contains(url, "unknown") {
		return nil, nil
	}
	e := fakeExplanation(url)
	e.Matches = r.Query != "inverted lists" && r.Query != "pinned"
	e.Pinned = r.Query == "pinned"
	if !e.Matches {
		e.Missing = []string{"list"}
	}
	return e, nil
}

func (f *fakeIndex) Page(ctx context.Context, doc vocab.DocID) (*vocab.Page, error) {
	if p, ok := f.pages[doc]; ok {
		return p, nil
	}
	return nil, fmt.Errorf("repository: document %d: %w", doc, collection.ErrNotFound)
}

// Life knows that of document 4711.
func (f *fakeIndex) Life(_ context.Context, doc vocab.DocID) (*collection.Life, error) {
	if doc != 4711 {
		return nil, nil
	}
	return &collection.Life{FirstSeen: fetched, LastSeen: fetched.AddDate(0, 1, 0), Changed: fetched.AddDate(0, 0, 3), Changes: 1, Missing: 1}, nil
}

// Info knows the language of document 13.
func (f *fakeIndex) Info(_ context.Context, doc vocab.DocID) (vocab.DocInfo, error) {
	info := vocab.DocInfo{Controls: f.controls[doc]}
	if doc == 13 {
		info.Lang = "ja"
	}
	return info, nil
}

func (f *fakeIndex) Find(ctx context.Context, url string) (vocab.DocID, error) {
	url, _, _ = strings.Cut(url, "#")
	for doc, p := range f.pages {
		if p.URL == url {
			return doc, nil
		}
	}
	return 0, collection.ErrNotFound
}

// longURL returns the nth of URLs that are wider than a phone, in parts and in words that do not break.
func longURL(n int) string {
	return fmt.Sprintf("http://documentation.archive.department.test/releases/%s/a-page-of-the-reference-manual/%d", strings.Repeat("x", 60), n)
}

// lonely is a document that no page links to.
const lonely = 30

func (f *fakeIndex) Links(
	ctx context.Context, doc vocab.DocID, n int, titled func(*collection.LinkReport) []vocab.DocID,
) (*collection.LinkReport, error) {
	p, ok := f.pages[doc]
	if !ok {
		return &collection.LinkReport{Doc: doc}, nil
	}
	r := &collection.LinkReport{Doc: doc, URL: p.URL, Title: "The inverted index", Rank: 0.004, FromLinks: 0.003, InCount: 40, OffSite: 1, OutCount: 4, Broken: 1,
		Out: []collection.OutLink{{Doc: 12, URL: "http://sorter.docs.test/", Title: "Sorter"}, {Doc: 13, URL: "https://ja.docs.test/", NoFollow: true}, {Doc: 99, URL: "http://gone.test/", Broken: true}, {Doc: 14, URL: longURL(0)}}}
	for i := range 40 {
		u := fmt.Sprintf("http://from.test/%d", i)
		if i%5 == 1 {
			u = longURL(i)
		}
		r.In = append(r.In, collection.InLink{Doc: vocab.DocID(100 + i), URL: u, Title: fmt.Sprintf("Page %d <b>", i), Texts: []string{"the index", hostileQuery}, OffSite: i == 0, Share: 0.001 / float64(i+1)})
	}
	if doc != 4711 {
		r.OffSite = 0
	}
	if doc == lonely {
		r.In, r.InCount = nil, 0
	}
	r.In, r.Out = r.In[:min(n, len(r.In))], r.Out[:min(n, 4)]
	if titled == nil {
		return r, nil
	}
	docs := titled(r)
	f.titlesRead.Store(int64(len(docs)))
	for i := range r.In {
		if !slices.Contains(docs, r.In[i].Doc) {
			r.In[i].Title = ""
		}
	}
	for i := range r.Out {
		if !slices.Contains(docs, r.Out[i].Doc) {
			r.Out[i].Title = ""
		}
	}
	return r, nil
}

// trace knows a redirect to document 4711, a page that robots.txt forbids, and one that waits.
func (f *fakeIndex) Trace(ctx context.Context, url string) (*collection.Trace, error) {
	t := &collection.Trace{URL: url, Known: true, Records: []collection.TraceRecord{}, Ranks: []collection.TraceRank{}, Similar: []string{}, Alike: []collection.NearPage{}}
	switch {
	case strings.HasPrefix(url, "ftp:"):
		return nil, fmt.Errorf("%w: %s", collection.ErrBadURL, url)
	case strings.Contains(url, "unread"):
		t.Known, t.Unread = false, "run anatomy trace on the server to see why"
	case strings.Contains(url, "unknown"):
		t.Known, t.Similar = false, []string{"https://www.docs.test/", hostileQuery}
	case strings.Contains(url, "forbidden"):
		t.Doc, t.Absent = 31, "robots.txt forbids it"
		t.Records = []collection.TraceRecord{{Doc: 31, URL: url, Depth: 2, FirstSeen: fetched, State: "finished", Fetch: &collection.TraceFetch{At: fetched, Outcome: "forbidden", Reason: "robots.txt forbids it: " + hostileQuery}}}
	case strings.Contains(url, "waiting"):
		t.Doc, t.Live, t.Absent = 32, true, "failed"
		t.Records = []collection.TraceRecord{{Doc: 32, URL: url, State: "waiting", Retry: fetched, Tries: 2, Refused: "the path repeats itself"}}
	default:
		t.Doc, t.Indexed, t.Crawled, t.Words, t.Title, t.PageRank, t.Average = 4711, true, true, 1234, "The inverted index", 0.0041, 38.5
		t.Ranks = []collection.TraceRank{{Name: "pages", Rank: 0.0007, Average: 6.5}, {Name: "sports", Rank: 0.1, Average: 99}}
		t.Alike, t.AlikeAll = []collection.NearPage{{Doc: 12, URL: "http://sorter.docs.test/", Distance: 2}}, 1
		t.Records = []collection.TraceRecord{
			{Doc: 30, URL: url, Depth: 1, FirstSeen: fetched, State: "finished", Fetch: &collection.TraceFetch{At: fetched, Outcome: "redirected", Status: 301, Place: "1:0:2", LeadsTo: 4711}},
			{Doc: 4711, URL: "https://www.docs.test/anatomy/storage/inverted-index.html", FirstSeen: fetched, State: "finished", Visits: 3, Visited: fetched, Changes: 1, Changed: fetched, Misses: 1,
				Next: fetched.Add(time.Hour), NextWhy: "1 of the last 2 visits, over 3 hours, found a change", Fetch: &collection.TraceFetch{At: fetched, Outcome: "fetched", Status: 200, Place: "1:1024:0", Content: "0123456789abcdef0123456789abcdef"}},
		}
	}
	return t, nil
}

func (f *fakeIndex) Report(ctx context.Context, site string, n int) (*collection.SiteReport, error) {
	switch site {
	case "unknown.test":
		return nil, collection.ErrNotFound
	case "blocked.test":
		return &collection.SiteReport{Site: site, Outcomes: map[string]int{"removed": 79}}, nil
	case "partly.test":
		return &collection.SiteReport{Site: site, Outcomes: map[string]int{"removed": 1, "gone": 3}}, nil
	}
	r := &collection.SiteReport{Site: site, Documents: 1234, Crawled: 1200, PageRank: 0.25, LinksOf: 200, Pages: []collection.SitePage{}, In: []collection.HostLinks{{Host: "from.test", Links: 40}, {Host: "other.test", Links: 2}, {Host: hostileQuery, Links: 1}}, Out: []collection.HostLinks{},
		Outcomes: map[string]int{"fetched": 1200, "gone": 34, "forbidden": 3}}
	for i := range min(n, 60) {
		u := fmt.Sprintf("https://%s/%d", site, i)
		if i%5 == 4 {
			u = longURL(i)
		}
		r.Pages = append(r.Pages, collection.SitePage{Doc: vocab.DocID(i + 1), URL: u, Title: []string{"A page", "", hostileQuery, "転置インデックスとは何か"}[i%4], PageRank: 0.02 / float64(i+1), Crawled: i != 3})
	}
	if site == "live.test" {
		r.Outcomes, r.Live, r.PageRank, r.In, r.LinksOf = nil, true, 0, []collection.HostLinks{}, 0
	}
	return r, nil
}

// versions are those of document 4711 by the place that is their number.
func (f *fakeIndex) Versions(ctx context.Context, doc vocab.DocID) (*collection.Versions, error) {
	switch doc {
	case 4711:
		return &collection.Versions{Read: 0.4, Pages: []collection.Version{{Fetched: fetched, Place: "1:3:0", Bytes: 2000}, {Fetched: fetched.Add(-time.Hour), Place: "1:2:0", Bytes: 1000}, {Fetched: fetched.Add(-2 * time.Hour), Place: "1:1:0", Bytes: 900}}}, nil
	case 66:
		return &collection.Versions{Read: 1, Pages: []collection.Version{{Fetched: fetched, Place: "1:3:0", Bytes: 2000}}}, nil
	}
	return &collection.Versions{Read: 1}, nil
}

func (f *fakeIndex) Version(ctx context.Context, doc vocab.DocID, place string) (*vocab.Page, error) {
	p, ok := f.pages[doc]
	if !ok {
		return nil, collection.ErrNotFound
	}
	page := *p
	switch place {
	case "1:3:0":
	case "1:2:0":
		page.Body = append([]byte("<p>An old beginning <script>hit()</script>&lt;script>"), page.Body...)
	case "1:1:0":
		page.Body = []byte("<title>Before</title><p>nothing of it")
	default:
		return nil, fmt.Errorf("place %q: %w", place, collection.ErrNotFound)
	}
	return &page, nil
}

func fakeExplanation(url string) *searcher.Explanation {
	e := &searcher.Explanation{URL: url, Parts: []searcher.Part{
		{Name: "title", Word: "inverted", Detail: "1 hit, count weight 1, idf 4.07, type weight 6", Points: 6_104_220},
		{Name: "plain", Word: "inverted", Detail: "14 hits, count weight 2.61, idf 4.07, type weight 1", Points: 2_655_675},
		{Name: "title", Word: "index", Detail: "1 hit, count weight 1, idf 1.93, type weight 6", Points: 2_895_001},
		{Name: "anchor-out", Word: "index", Detail: "31 links from 4 sites, count weight 2.9, idf 1.93, type weight 8", Points: 4_477_312},
		{Name: "proximity", Word: "inverted index", Detail: "12 times next to each other, in this order", Points: 5_250_000},
		{Name: "depth", Detail: "3 steps below the host", Points: -350_000},
		{Name: "pagerank", Detail: "0.0041 of all rank, 38 times the mean", Points: 1_576_129},
	}}
	for _, p := range e.Parts {
		e.Score += p.Points
	}
	return e
}

var fetched = time.Date(2026, 11, 3, 14, 5, 0, 0, time.UTC)

func mark(parts ...string) (f []searcher.Fragment) {
	for i, p := range parts {
		f = append(f, searcher.Fragment{Text: p, Mark: i%2 == 1})
	}
	return f
}

// newFake has results of many kinds for "inverted index", one hostile result for hostileQuery.
func newFake() *fakeIndex {
	results := []searcher.Result{
		{Doc: 4711, URL: "https://www.docs.test/anatomy/storage/inverted-index.html", Title: "The inverted index", Lang: "en", Score: 22_608_337, PageRank: 0.0041,
			Snippet: mark("For every word the ", "inverted index", " lists the documents that hold it, in the order of their addresses. The short ", "index", " has titles and anchors alone; the full one has every hit, and is asked when the short one does not give enough.")},
		{Doc: 12, URL: "http://sorter.docs.test/", Title: "Sorter: turning the forward index round, one barrel after the other, within a bounded amount of memory, while the crawl goes on and pages become searchable within seconds", Lang: "en", Score: 17_200_000, PageRank: 0.0021,
			Snippet: mark("The sorter takes the forward barrels, which are sorted by document, and sorts them by word: the ", "inverted index", ".")},
		{Doc: 13, URL: "https://ja.docs.test/%E6%A4%9C%E7%B4%A2/%E8%BB%A2%E7%BD%AE%E3%82%A4%E3%83%B3%E3%83%87%E3%83%83%E3%82%AF%E3%82%B9", Title: "転置インデックス(inverted index)とは何か", Lang: "ja", Score: 12_930_500, PageRank: 0.0004,
			Snippet: mark("転置インデックス（", "inverted index", "）は、全文検索を行う対象となる文書群から単語の位置情報を格納するための索引構造をいう。転置索引、逆引き索引などとも呼ばれる。")},
		{Doc: 14, URL: "https://ar.docs.test/wiki/%D8%A7%D9%84%D9%81%D9%87%D8%B1%D8%B3", Title: "الفهرس المقلوب في محركات البحث", Lang: "ar", Score: 11_004_000, PageRank: 0.0003,
			Snippet: mark("الفهرس المقلوب (", "inverted index", ") هو بنية بيانات تخزن لكل كلمة قائمة الوثائق التي تظهر فيها، وهو أساس كل محرك بحث حديث.")},
		{Doc: 15, URL: "https://papers.docs.test/brin-page-1998/a/very/long/path/with/many/steps/section-4.2.7.html?view=print&session=0123456789abcdef&lang=en", Title: "4.2.7 Inverted Index – The Anatomy of a Large-Scale Hypertextual Web Search Engine", Lang: "en", Score: 9_871_250, PageRank: 0.0088,
			Snippet: mark("The ", "inverted index", " consists of the same barrels as the forward ", "index", ", except that they have been processed by the sorter.")},
		{Doc: 16, URL: "https://never-fetched.test/about/inverted-index", Title: "a link that many pages make", Score: 4_310_000, PageRank: 0.0001},
		{Doc: 17, URL: "https://de.docs.test/grundlagen/invertierte-dateien.html", Title: "Invertierte Dateien und ihre Verdichtung", Lang: "de", Score: 3_020_000, PageRank: 0.0002,
			Snippet: mark("Ein ", "inverted index", " (invertierte Datei) ordnet jedem Wort die Dokumente zu, in denen es vorkommt; Donaudampfschifffahrtsgesellschaftskapitänsmützenhalterungen eingeschlossen.")},
	}
	for i := range results {
		if results[i].Doc != 16 {
			results[i].Crawled, results[i].Fetched = true, fetched
		}
	}
	results[0].Medium = vocab.HTML
	results[0].Section = searcher.Section{
		Heading: "Lists & hits", ID: `lists-"and"-hits`, Path: []string{"The inverted index", "Format"}, Score: 2_000_000,
		Parts: []searcher.SectionPart{{Word: "index", Where: "path", Points: 1_250_000}, {Word: "index", Where: "text", Points: 750_000}},
	}
	results[0].Sections = []searcher.Section{{Heading: "Short lists", ID: "short"}, {Heading: "No id, <b>"}}
	results[1].Sections = []searcher.Section{{Heading: "index.merge(*lists, subprocess=True, buffer=None, encoding=None, errors=None, newline=None) → Lists", ID: "m"}}
	results[1].Medium, results[1].Date = vocab.PDF, vocab.DayOf(time.Date(2024, 5, 6, 0, 0, 0, 0, time.UTC))
	for i := len(results); i < 95; i++ {
		r := results[0]
		r.Doc = vocab.DocID(5000 + i)
		r.URL = fmt.Sprintf("https://www.docs.test/pkg/number-%d/", i)
		r.Title = fmt.Sprintf("Package number %d and its index", i)
		r.Score = searcher.Score(3_000_000 - 20_000*i)
		results = append(results, r)
	}
	hostile := searcher.Result{Doc: 66, URL: `javascript:alert(1)//"><script>hit()</script>`, Title: `</title><script>hit()</script><b onmouseover=hit()>`,
		Lang: `en" onclick="hit()`, Score: 1_000_000, Crawled: true, Fetched: fetched,
		Section:  searcher.Section{Heading: `<script>hit()</script>`, ID: `"><script>hit()</script>`, Path: []string{`<b>`}},
		Sections: []searcher.Section{{Heading: `<script>hit()</script>`}},
		Snippet:  mark(`<img src=x onerror=hit()>`, `<script>hit()</script>`)}
	return &fakeIndex{
		answers: map[string]*searcher.Response{
			"inverted index":  {Interpreted: "inverted index", Words: []string{"inverted", "index"}, Results: results, Total: 95, Exact: true, Documents: 9390, Services: true, Took: 1_284 * time.Microsecond},
			everyPage:         {Results: results, Total: 95, Exact: true},
			`inverted index"`: {Interpreted: `inverted "index"`, Words: []string{"inverted", "index"}, Results: results, Total: 1200, Partial: true, Documents: 314_000, Took: 1000 * time.Millisecond},
			hostileQuery:      {Interpreted: hostileQuery + " x", Words: []string{"<script>"}, Results: []searcher.Result{hostile}, Total: 1, Exact: true, Why: "<script>"},
		},
		pages: map[vocab.DocID]*vocab.Page{
			4711: {Doc: 4711, URL: "https://www.docs.test/anatomy/storage/inverted-index.html", Fetched: fetched, ContentType: "text/html; charset=utf-8", Language: "en", Body: []byte(fakeHTML)},
			66:   {Doc: 66, URL: "https://evil.test/dir/page.html", Fetched: fetched, ContentType: "text/html", Body: []byte(hostilePage)},
			13:   {Doc: 13, URL: "https://ja.docs.test/", Fetched: fetched, ContentType: "text/html", Body: []byte("<meta charset=shift_jis><title>\x8c\x9f\x8d\xf5</title><p>\x8c\x9f\x8d\xf5")},
			20:   {Doc: 20, URL: "https://www.docs.test/plain.txt", Fetched: fetched, ContentType: "text/plain", Body: []byte("an index <b>\n\tof words\n")},
			21:   {Doc: 21, URL: "https://www.docs.test/empty", Fetched: fetched, ContentType: "text/html"},
		},
	}
}

// everyPage is the query of the page of preferences for what the collection has.
const everyPage = "filetype:html OR filetype:pdf OR filetype:docx OR filetype:odt OR filetype:rtf OR filetype:xlsx OR filetype:ods OR " +
	"filetype:pptx OR filetype:odp OR filetype:epub OR filetype:txt OR filetype:md OR filetype:xml OR filetype:csv OR filetype:json"

const hostileQuery = `"><script>hit()</script>`

//go:embed testdata/page.html
var fakeHTML string

// hostilePage tries everything; each attempt that reached the server would ask for /hit.
//
//go:embed testdata/hostile.html
var hostilePage string

var fakeBot = &pages.Bot{Agent: "anatomy/0.1 (contact: you@example.org)", Product: "anatomy", Addresses: func() []netip.Addr {
	return []netip.Addr{netip.MustParseAddr("192.0.2.7"), netip.MustParseAddr("2001:db8::7")}
}}

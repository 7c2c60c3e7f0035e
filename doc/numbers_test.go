package doc_test

import (
	"io/fs"
	"os"
	"path"
	"regexp"
	"strings"
	"testing"
)

// numbers holds sentences of the documents to the constants that they speak of. The code is a regular
// expression that some file of the folder must match; tests do not count.
var numbers = []struct{ document, sentence, folder, code string }{
	{"doc/politeness.md", "up to 30 seconds within the first visit", "crawler", `MaxCrawlDelay, 30\*time\.Second`},
	{"doc/politeness.md", "up to 60 seconds later", "urlserver", `MaxDelay, time\.Minute`},
	{"doc/politeness.md", "left alone for that time, up to 24 hours", "urlserver", `MaxHold, 24\*time\.Hour`},
	{"doc/politeness.md", "abandoned after three rounds", "urlserver", `HostTries, 3\)`},
	{"doc/politeness.md", "The first 500 KiB of the file are read", "crawler/robots", `MaxBytes = 500 << 10`},
	{"doc/politeness.md", "`--delay` (one second)", "urlserver", `Delay, time\.Second`},
	{"doc/politeness.md", "five times the time of the last answer", "urlserver", `AnswerFactor, 5\)`},
	{"doc/politeness.md", "share an address eight are read at a time", "urlserver", `PerAddress, 8\)`},
	{"doc/politeness.md", "URLs named by a site until no more of its pages are fetched | five times as many",
		"urlserver/internal/frontier", `maxFound = 5`},
	{"doc/politeness.md", "after 1 s, 10 s and a minute", "urlserver",
		`time\.Second, 10 \* time\.Second, time\.Minute`},
	{"doc/politeness.md", "A chain ends after ten", "urlserver", `maxRedirects += 10`},
	{"doc/politeness.md", "At least an hour, at most 30 days", "urlserver", `defaultMaxAge += 30 \* 24 \* time\.Hour`},
	{"doc/politeness.md", "| sitemaps of a site | 1,000, and 1 GiB", "urlserver/internal/frontier", `maxSitemaps += 1000`},
	{"doc/politeness.md", "| sitemaps of a site | 1,000, and 1 GiB", "urlserver/internal/frontier",
		`maxSitemapBytes = 1 << 30`},
	{"doc/politeness.md", "one in five requests while pages wait", "urlserver/internal/frontier", `pagesPerSitemap = 4`},
	{"doc/politeness.md", "2,000,000 (`--max-urls-per-site`)", "urlserver", `DefaultSiteURLs += 2_000_000`},
	{"doc/politeness.md", "100 GB (`--max-mb-per-site`)", "urlserver", `DefaultSiteBytes += 100e9`},
	{"doc/politeness.md", "2 hours (`--max-parsing-per-site`)", "urlserver", `DefaultSiteParsing = 2 \* time\.Hour`},
	{"doc/politeness.md", "again after a day. Stored pages", "urlserver/internal/frontier", `originRetry = 24 \* time\.Hour`},
	{"doc/politeness.md", "24 hours or more later", "urlserver", `defaultConfirmAfter = 24 \* time\.Hour`},
	{"doc/politeness.md", "| links from the nearest seed | 64 |", "urlserver", `MaxDepth, 64\)`},
	{"doc/politeness.md", "| length of a URL | 2,048 bytes |", "weburl", `MaxLength += 2048`},
	{"doc/politeness.md", "within 20 s, 768 MB, 5,000 pages", "indexer/pdftext", `defaultTimeout = 20 \* time\.Second`},
	{"doc/politeness.md", "within 20 s, 768 MB, 5,000 pages", "indexer/pdftext", `memoryLimit += 768 << 20`},
	{"doc/politeness.md", "within 20 s, 768 MB, 5,000 pages", "indexer/pdftext", `maxPages += 5000`},
	{"doc/politeness.md", "and 4 MB of text", "indexer/pdftext", `maxText += 4 << 20`},
	{"doc/politeness.md", "10,000 files, 32 MB of XML and 4 MB of text", "indexer/officetext", `maxFiles += 10_000`},
	{"doc/politeness.md", "10,000 files, 32 MB of XML and 4 MB of text", "indexer/officetext", `maxInflated = 32 << 20`},
	{"doc/politeness.md", "10,000 files, 32 MB of XML and 4 MB of text", "indexer/officetext", `maxText += 4 << 20`},
	{"doc/politeness.md", "over 200 times its size", "indexer/officetext", `maxRatio += 200`},
	{"doc/politeness.md", "before anything else of a host, and again after a day", "crawler", `robotsTTL += 24 \* time\.Hour`},
	{"doc/politeness.md", "1,000 bytes a second", "crawler", `MinRate, 1000\)`},
	{"doc/politeness.md", "| sitemap | 50,000 entries, 50 MB unpacked |", "crawler/sitemap", `MaxURLs += 50_000`},
	{"doc/politeness.md", "| sitemap | 50,000 entries, 50 MB unpacked |", "crawler/sitemap", `MaxBytes = 50 << 20`},
	{"README.md", "after an hour at the soonest (`--min-age`), after 30 days at the latest", "urlserver",
		`defaultMinAge += time\.Hour`},
	{"doc/query.md", "Groups may be nested 16 deep", "searcher/query", `MaxDepth += 16`},
	{"doc/query.md", "A query has up to 2,048 bytes", "web/internal/params", `MaxQuery += 2048`},
	{"doc/query.md", "Of its words, 64 are read", "searcher/query", `MaxTerms += 64|MaxWords += 64`},
	{"doc/query.md", "at most 100,000 pages that link to a page", "searcher", `maxSources += 100_000`},
	{"doc/query.md", "at most 10,000 pages of a host", "searcher", `maxTargets += 10_000`},
	{"doc/query.md", "Of the best 60", "searcher", `Candidates = 60|Candidates, 60`},
	{"doc/query.md", "The lists have up to 100 sites, and up to 20 languages", "searcher", `MaxPreferred += 100`},
	{"doc/query.md", "The lists have up to 100 sites, and up to 20 languages", "searcher", `MaxLanguages += 20`},
	{"doc/query.md", "in a cookie of your browser, of up to 3,500 bytes", "web/internal/visitor", `MaxPreferences += 3500`},
	{"doc/query.md", "has up to 64 KiB", "web/internal/prefsfile", `MaxBytes += 64 << 10`},
	{"doc/query.md", "version = 1 ", "web/internal/prefsfile", `Version = 1`},
	{"doc/query.md", "in a cookie of up to 3,500 bytes, each of up to 2,000 bytes", "web/internal/visitor", `MaxLenses += 3500`},
	{"doc/query.md", "in a cookie of up to 3,500 bytes, each of up to 2,000 bytes", "web/internal/params", `MaxLens += 2000`},
	{"doc/query.md", "| `name` | for display, up to 40 characters |", "web/internal/params", `MaxLensName = 40`},
	{"doc/query.md", "operators without words, up to 64", "searcher/query", `MaxTerms += 64|MaxWords += 64`},
	{"doc/query.md", "exact up to a thousand", "searcher", `CountTo = 1000|CountTo, 1000`},
	{"doc/query.md", "in the first 64 KB of a page's text", "searcher", `SnippetBytes += 64 << 10`},
	{"doc/api.md", "in the first 64 KB of the page's text", "searcher", `SnippetBytes += 64 << 10`},
	{"doc/query.md", "in the first 256 KB if none", "searcher", `LongSnippetBytes += 256 << 10`},
	{"doc/query.md", "in the first MB if the 64 KB", "searcher", `LongestSnippetBytes = 1 << 20`},
	{"doc/api.md", "in the first 256 KB if none", "searcher", `LongSnippetBytes += 256 << 10`},
	{"doc/api.md", "up to three further ones", "searcher", `maxMore += 3`},
	{"doc/api.md", "from 0 to 10,000", "searcher", `MaxOffset += 10_000`},
	{"doc/api.md", "up to 100,000, one line of JSON each", "searcher", `MaxAll += 100_000`},
	{"doc/api.md", "Two exports run at once", "web/api", `maxExports += 2`},
	{"doc/api.md", "at most 5,000 results per second", "web/api", `exportRate += 5000`},
	{"doc/api.md", "ends after ten minutes", "web/api", `exportTimeout += 10 \* time\.Minute`},
	{"doc/operations.md", "private addresses with `--allow-private` only, 5 MB", "crawler", `[mM]axImage += 5 << 20`},
	{"doc/operations.md", "20 million pixels, 15 seconds", "collection", `imageTimeout += 15 \* time\.Second`},
	{"doc/operations.md", "failures are tried again after ten minutes", "web", `failureKept += 10 \* time\.Minute`},
	{"doc/operations.md", "5 s for its header and 10 s for all of it", "web", `headerTimeout += 5 \* time\.Second`},
	{"doc/operations.md", "an answer 30 s", "web", `writeTimeout += 30 \* time\.Second`},
	{"doc/operations.md", "may send 1,200 searches a minute", "web/internal/access", `DefaultRate = 1200`},
	{"doc/operations.md", "request bodies take at most 32 MB", "web", `maxBodies = 32 << 20`},
	{"doc/operations.md", "a /24 of IPv4 or a /56 of IPv6", "web", `bits = 56`},
	{"doc/operations.md", "After three wrong tokens a client waits a second", "web/internal/access",
		`freeAttempts = 3`},
	{"doc/operations.md", "up to 15 minutes", "web/internal/access", `maxDelay     = 15 \* time\.Minute`},
	{"doc/operations.md", "four run per processor", "web", `4 \* runtime\.GOMAXPROCS`},
	{"doc/decisions/README.md", "| [0051] | The seen cache is CLOCK with 50,000 entries |", "urlserver",
		`SeenEntries = 50_000`},
	{"ARCHITECTURE.md", "a batch due after 1 s or 48 MiB", "index", `DefaultBatchBytes += 48 << 20`},
	{"ARCHITECTURE.md", "a batch due after 1 s or 48 MiB", "index", `batchAge += time\.Second`},
	{"ARCHITECTURE.md", "visitors (512, --connections)", "engine", `DefaultConnections += 512`},
	{"ARCHITECTURE.md", "room: 16 per parser", "engine", `waitingEach += 16`},
	{"ARCHITECTURE.md", "manifest every 250 ms", "searcher", `Poll = time\.Second / 4|Poll, time\.Second/4`},
}

// Numbers in documents are those of the code.
func TestNumbers(t *testing.T) {
	for _, n := range numbers {
		text := strings.Join(strings.Fields(read(t, n.document)), " ")
		if !strings.Contains(text, n.sentence) {
			t.Errorf("%s no longer says %q", n.document, n.sentence)
		}
		if !codeMatches(t, n.folder, regexp.MustCompile(n.code)) {
			t.Errorf("%s says %q, but no file of %s matches %s", n.document, n.sentence, n.folder, n.code)
		}
	}
}

// TestNumbers would notice a constant that is another.
func TestCodeMatches(t *testing.T) {
	if !codeMatches(t, "weburl", regexp.MustCompile(`const MaxLength = 2048`)) {
		t.Error("a constant of weburl is not found")
	}
	if codeMatches(t, "weburl", regexp.MustCompile(`const MaxLength = 2049`)) {
		t.Error("a constant that does not exist is found")
	}
}

// codeMatches reports whether a Go file at or below a folder matches, tests excepted.
func codeMatches(t *testing.T, folder string, code *regexp.Regexp) (found bool) {
	t.Helper()
	root := os.DirFS("../" + folder)
	err := fs.WalkDir(root, ".", func(name string, _ fs.DirEntry, err error) error {
		if err != nil || path.Ext(name) != ".go" || strings.HasSuffix(name, "_test.go") {
			return err
		}
		source, err := fs.ReadFile(root, name)
		if code.Match(source) {
			found = true
			return fs.SkipAll
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return found
}

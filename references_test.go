package anatomy

import (
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// references are the sections of papers and standards that the code may cite, with their titles. A
// citation that is not here is a slip of the pen, and a row that nothing cites is out of date.
var references = map[string]string{
	"BP98":        "Brin, Page: The Anatomy of a Large-Scale Hypertextual Web Search Engine, 1998",
	"BP98 §2.1":   "PageRank: Bringing Order to the Web",
	"BP98 §2.1.2": "Intuitive Justification",
	"BP98 §2.2":   "Anchor Text",
	"BP98 §4.1":   "Google Architecture Overview",
	"BP98 §4.2.2": "Repository",
	"BP98 §4.2.3": "Document Index",
	"BP98 §4.2.4": "Lexicon",
	"BP98 §4.2.5": "Hit Lists",
	"BP98 §4.2.6": "Forward Index",
	"BP98 §4.2.7": "Inverted Index",
	"BP98 §4.3":   "Crawling the Web",
	"BP98 §4.4":   "Indexing the Web",
	"BP98 §4.5":   "Searching",
	"BP98 §4.5.1": "The Ranking System",
	"BP98 §6.1":   "Future Work",
	"BNW03":       "Broder, Najork, Wiener: Efficient URL Caching for World Wide Web Crawling, 2003",
	"CGM03":       "Cho, Garcia-Molina: Estimating Frequency of Change, 2003",
	"CJS":         "Cao, Jiang, Singh: High Performance Crawling Scheduling",
	"DKK16":       "Dhulipala, Kabiljo, Karrer, Ottaviano, Pupyrev, Shalita: Compressing Graphs and Indexes with Recursive Graph Bisection, 2016",
	"KFN10":       "Kohlschütter, Fankhauser, Nejdl: Boilerplate detection using shallow text features, 2010",
	"MC07":        "Metzler, Croft: Linear feature-based models for information retrieval, 2007",
	"SAC07":       "Smucker, Allan, Carterette: A comparison of statistical significance tests for information retrieval evaluation, 2007",
	"W11":         "Wu, Ke, He, Liu: DSpider, a distributed crawler for LAN and WAN, 2011",
	"Y14":         "Yang, Liu, Jiang, Peng, Wen, Lu: a distributed crawler framework on coroutines, 2014",
	"CY09":        "Chen, Yan: a cached, non-blocking, asynchronous DNS resolver for a crawler, 2009",

	"RFC 822":           "Standard for the Format of ARPA Internet Text Messages",
	"RFC 1035 §2.3.4":   "Size limits",
	"RFC 1929":          "Username/Password Authentication for SOCKS V5",
	"RFC 2181 §8":       "Time to Live (TTL)",
	"RFC 2308 §2.2":     "No Data",
	"RFC 2308 §5":       "Caching Negative Answers",
	"RFC 3056":          "Connection of IPv6 Domains via IPv4 Clouds",
	"RFC 3339":          "Date and Time on the Internet: Timestamps",
	"RFC 3986 §2.3":     "Unreserved Characters",
	"RFC 4287":          "The Atom Syndication Format",
	"RFC 4180":          "Common Format and MIME Type for Comma-Separated Values (CSV) Files",
	"RFC 5452 §4":       "Description of DNS Spoofing",
	"RFC 5452 §9.1":     "Query Matching Rules",
	"RFC 850":           "Standard for Interchange of USENET Messages",
	"RFC 5646":          "Tags for Identifying Languages",
	"RFC 5646 §2.2.1":   "Primary Language Subtag",
	"RFC 5646 §4.4.1":   "Working with Limited Buffer Sizes",
	"RFC 6052":          "IPv6 Addressing of IPv4/IPv6 Translators",
	"RFC 6125 §6.4.3":   "Checking of Wildcard Certificates",
	"RFC 6298 §2":       "The Basic Algorithm",
	"RFC 6749 §4.4":     "Client Credentials Grant",
	"RFC 6761 §6.3":     "Domain Name Reservation Considerations for localhost",
	"RFC 6761 §6.4":     "Domain Name Reservation Considerations for invalid",
	"RFC 6890":          "Special-Purpose IP Address Registries",
	"RFC 6891 §7":       "Transport Considerations",
	"RFC 7766 §5":       "Transport Protocol Selection",
	"RFC 6596":          "The Canonical Link Relation",
	"RFC 8259":          "The JavaScript Object Notation (JSON) Data Interchange Format",
	"RFC 8288":          "Web Linking",
	"RFC 8288 §3":       "Link Serialisation in HTTP Headers",
	"RFC 6901 §6":       "URI Fragment Identifier Representation",
	"RFC 8631":          "Link Relation Types for Web Services",
	"RFC 9264":          "Linkset: Media Types and a Link Relation Type for Link Sets",
	"RFC 9727":          "api-catalog: A Well-Known URI and Link Relation to Help Discovery of APIs",
	"RFC 8305":          "Happy Eyeballs Version 2",
	"RFC 8767 §5":       "Example Method",
	"RFC 9110 §8.4.1.2": "Deflate Coding",
	"RFC 9110 §8.8":     "Validator Fields",
	"RFC 9110 §8.8.3":   "ETag",
	"RFC 9110 §10.2.3":  "Retry-After",
	"RFC 9110 §12.5.4":  "Accept-Language",
	"RFC 9110 §13.1.2":  "If-None-Match",
	"RFC 9110 §15.4.5":  "304 Not Modified",
	"RFC 9180":          "Hybrid Public Key Encryption",
	"RFC 8878":          "Zstandard Compression and the 'application/zstd' Media Type",
	"RFC 9309":          "Robots Exclusion Protocol",
	"RFC 9309 §2.2.1":   "The User-Agent Line",
	"RFC 9309 §2.2.2":   "The Allow and Disallow Lines",
	"RFC 9309 §2.3.1":   "Access Results",
	"RFC 9309 §2.3.1.3": "Unavailable Status",
	"RFC 9309 §2.4":     "Caching",
	"RFC 9309 §2.5":     "Limits",
	"RFC 9520 §3.2":     "Caching",
	"RFC 9659":          "Window Sizing for Zstandard Content Encoding",
}

var citation = regexp.MustCompile(`\b(?:BP98|BNW03|CGM03|CJS|CY09|DKK16|KFN10|MC07|SAC07|W11|Y14|RFC [0-9]+)(?: §[0-9]+(?:\.[0-9]+)*)?`)

// TestReferences reads the citations in the code's own files and looks each up.
func TestReferences(t *testing.T) {
	cited := map[string]string{} // to a file that does
	err := filepath.WalkDir(".", func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() && path != "." && (strings.HasPrefix(d.Name(), ".") || d.Name() == "testdata") {
			return filepath.SkipDir
		}
		if !strings.HasSuffix(path, ".go") || path == "references_test.go" {
			return nil
		}
		text, err := os.ReadFile(path)
		for _, c := range citation.FindAllString(string(text), -1) {
			cited[c] = path
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	if len(cited) < 30 {
		t.Fatalf("only %d citations found", len(cited))
	}
	for _, c := range slices.Sorted(maps.Keys(cited)) {
		if references[c] == "" {
			t.Errorf("%s cites %q, which is not in the table", cited[c], c)
		}
	}
	for _, c := range slices.Sorted(maps.Keys(references)) {
		if cited[c] == "" {
			t.Errorf("nothing cites %q", c)
		}
	}
}

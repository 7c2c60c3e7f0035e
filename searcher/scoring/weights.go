package scoring

import (
	"bytes"
	"encoding/json"
	"fmt"
	"hash/crc32"
	"math"
	"slices"

	"anatomy/vocab"
)

// Weights are the parameters of scores. They are tuned on judged queries (anatomy learn), and never
// by hand on a single query. The other bounds that the order of results depends on are the
// constants below; those of images are in searcher/internal/images. JSON names are those of
// existing weight files.
//
// The idf of a term is ln(1 + (N - n + ½)/(n + ½)): N pages are searched, n of them contain it.
type Weights struct {
	// Type is the type weight of each hit type (BP98 §4.5.1). A term's points for a type are
	// idf × type weight × count weight.
	Type [vocab.HitTypes]Milli

	// Again is what each further occurrence of a term in the query adds to its idf, as a share of
	// the idf.
	Again Milli

	// Text are the weights of hit types in the frequency of a term, BM25F's: the hits of all types
	// are summed with the weights of their types, and the sum saturates with the length
	// normalization of TextLength. Anchor text of n links counts as log2(1 + n) hits. A term's
	// points are idf × count weight, in addition to those by Type.
	Text       [vocab.HitTypes]Milli
	TextLength Milli

	// Held is for each term that the page has, multiplied by its idf.
	Held Milli

	// Saturation is k of the count weight c·(k+1)/(c+k) of c occurrences of one type: it grows by
	// nearly one per occurrence at first, and "quickly tapers off" (§4.5.1) to k+1. Anchor text of
	// 2^s links counts as 2^s occurrences.
	Saturation Milli

	// Length is the share of length normalization: in the body, k becomes
	// k·(1 - Length + Length·words/average). 0 for none, 1000 for all of it.
	Length Milli

	// Near are the ten classes of proximity of the paper, from a phrase to "not even close".
	// Neighbouring terms of the query score in each field that has both, by the best class in which
	// they occur there: lesser idf × field weight × class weight × count weight.
	Near [Bins]Bin

	// NearSaturation is Saturation for proximity.
	NearSaturation Milli

	// Pairs is the number of pairs of neighbouring terms that count in full. In a longer query each
	// pair counts with a share, so that all together count as that number. 0 means all.
	Pairs Milli

	// NearIn is the weight of each field for proximity.
	NearIn [vocab.Fields]Milli

	// PhraseInField is for fields that contain the whole query as a phrase. It is multiplied by the
	// sum of idf.
	PhraseInField [vocab.Fields]Milli `json:"Whole"`

	// ExactMatch is for a title or anchor text made of exactly the query's terms, in any order,
	// multiplied by the sum of idf. A title without the name of its site counts OwnTitle; anchor
	// text is multiplied by log2(1 + n) for n links. Other fields are ignored.
	ExactMatch [vocab.Fields]Milli `json:"Exact"`

	// VerbatimTitle is added to ExactMatch for a title, or title without the name of its site, that
	// equals the query letter by letter, signs and accents included. It is multiplied by the sum
	// of idf.
	VerbatimTitle Milli `json:"Letters"`

	// Language is for pages in the language that the query's script implies, if any: see
	// [analysis.Scripts]. It is multiplied by the sum of idf.
	Language Milli

	// Genre is the share of the points of its hits that a page of a genre loses, unless the query
	// has a word for the genre. GenreAsked is the share that it gains if the query asks for the
	// genre.
	Genre      [vocab.Genres]Milli
	GenreAsked Milli

	// NavigationalHost is for the home page of a host whose name the query spells. It is multiplied
	// by the sum of idf and by the share of the name that the query's terms spell.
	NavigationalHost Milli `json:"Home"`

	// NamedSite is for the pages of a site whose name has a term of the query: see [query.Node.Prose].
	// It is multiplied by the idf of the term.
	NamedSite Milli

	// Related is for the nearest page of related:, and a thirtieth less for each further page.
	Related Milli

	// Rank is for PageRank: Rank × x/(x + RankHalf) with x = ln(1 + rank × pages). A page with the
	// average rank, 1/pages, has x = 0.69, and a page with a thousand times that has 6.9.
	Rank, RankHalf Milli

	// RankNear is Rank for ranks near a page, see [Weights.RankByNearness].
	RankNear Milli

	// Depth is for the number of folders in a URL's path, a URL query counting as one: the first
	// entry is for the root of a host, the last for all depths from there.
	Depth [6]Milli

	// Uncrawled is for pages that were never fetched and are only known from links.
	Uncrawled Milli

	// Preference is for pages of raised sites, and subtracted from pages of lowered ones.
	Preference Milli

	// Missing is the share of its score that a page keeps which lacks some terms of a relaxed
	// query, multiplied by the share of idf that it has. 0 puts such pages last.
	Missing Milli

	// Widen is the number of matches below which forms with the same stem match, too, unless quotes
	// or a plus forbid it. 0 means never, [Always] or more always.
	Widen int

	// Form is the share of idf that counts if a page has only other forms of a term.
	Form Milli

	// Identifier is the share of idf that counts for an identifier that several words of the query
	// spell: read_csv for "read csv".
	Identifier Milli

	// Signed is the same for a signed term: .htaccess, c++.
	Signed Milli

	// Unsigned is the share of idf that counts for a word that the query has with signs, on a page
	// that has it only without them.
	Unsigned Milli

	// Accented is the share of a word's hits and pairs that counts for its accented term, if any page
	// has that: see [analysis.AppendAccented]. The rest counts for the word with any accents.
	Accented Milli

	// Impact converts the impacts of the first phase to points: idf × impact × Impact. The first
	// phase selects the candidates of the second.
	Impact Milli

	// Promising is the minimum score of the first phase, as a share of that of the tenth page, for
	// a candidate to be scored in the second phase if more pages match than are candidates. Likely
	// is the maximum number of pages that are scored. 0 means all. A page whose title has as many
	// words as the query is always scored, because the query may be its name.
	Promising Milli
	Likely    int

	// Service are the text weights for pages that define a web service. If nil, they are scored
	// like other pages.
	Service *TextWeights

	// Ignored are hit types that do not count in the second phase, as if pages had no such hits:
	// see [Weights.Without]. Files of weights do not have it.
	Ignored HitTypes `json:"-"`

	// Prose are the weights for queries that are prose: see [query.Node.Prose]. The static points
	// of the first phase come from the weights that contain them. If nil, no query is treated as
	// prose.
	Prose *Weights
}

// TextWeights are some of the [Weights], for pages of one kind.
type TextWeights struct {
	Type, Text                           [vocab.HitTypes]Milli
	Held, Saturation, Length, TextLength Milli

	// Operation is for the name of an operation, a heading of the second level, that contains the whole
	// query as a phrase. It is multiplied by the sum of idf.
	Operation Milli
}

// replaceIn replaces the weights in w.
func (t *TextWeights) replaceIn(w *Weights) {
	w.Type, w.Text = t.Type, t.Text
	w.Held, w.Saturation, w.Length, w.TextLength = t.Held, t.Saturation, t.Length, t.TextLength
}

// Bounds and shares that the order of results depends on, in addition to Weights.
const (
	// OwnTitle is the share of ExactMatch and VerbatimTitle for a title that equals the query
	// except for the name of its site.
	OwnTitle Milli = 900

	// MostHeld is the minimum share of idf that a page must have to match a relaxed query.
	MostHeld Milli = 500

	// NearDistance is the maximum distance of the sketches of near-duplicates. On real pages, half
	// of those with a twentieth changed are near-duplicates, nearly all with a hundredth changed,
	// and hardly any different pages of one folder (lab/neardup).
	NearDistance = 5

	// CopyDistance is the maximum distance of the sketches of copies on different sites, whose titles may
	// differ. OriginalRank is the factor by which the PageRank of the original, or of its home page,
	// exceeds that of a copy with a better score (lab/copies).
	CopyDistance, OriginalRank = 5, 1.2

	// PerHost is the maximum number of results of one host among SpreadOver.
	PerHost, SpreadOver = 2, 10

	// MaxRelated is the number of pages found by related:.
	MaxRelated = 30
)

// Bins is the number of classes of proximity.
const Bins = 10

// A Bin is a class of proximity: the second term follows the first within Within words, or precedes
// it within one less.
type Bin struct {
	Within uint32
	Weight Milli
}

// Default are the default weights of a Searcher.
var Default = Weights{
	Type: [vocab.HitTypes]Milli{
		vocab.Plain:     1000,
		vocab.Emphasis:  1500,
		vocab.Heading1:  1400,
		vocab.Heading2:  1000,
		vocab.Heading3:  800,
		vocab.Code:      700,
		vocab.Alt:       400,
		vocab.Menu:      100,
		vocab.Title:     1500,
		vocab.Meta:      600,
		vocab.URLWord:   1500,
		vocab.Anchor:    1500,
		vocab.AnchorOut: 2500,
		vocab.Part:      500,
	},
	Saturation: 1200,
	Length:     500,
	Near: [Bins]Bin{
		{1, 1000}, {2, 800}, {3, 600}, {5, 450}, {8, 350},
		{13, 250}, {21, 150}, {50, 80}, {150, 30}, {math.MaxUint32, 0},
	},
	NearSaturation: 1200,
	NearIn: [vocab.Fields]Milli{
		vocab.Body:        1000,
		vocab.TitleField:  1500,
		vocab.MetaField:   300,
		vocab.URLField:    600,
		vocab.AnchorField: 1200,
	},
	PhraseInField: [vocab.Fields]Milli{
		vocab.TitleField:  3000,
		vocab.URLField:    500,
		vocab.AnchorField: 1000,
	},
	ExactMatch: [vocab.Fields]Milli{
		vocab.TitleField:  6000,
		vocab.AnchorField: 2500,
	},
	VerbatimTitle:    9000,
	Language:         500,
	Genre:            [vocab.Genres]Milli{vocab.SourceListing: 600, vocab.IndexPage: 400, vocab.Changelog: 400},
	GenreAsked:       500,
	NavigationalHost: 40000,
	Related:          150000,
	Rank:             3000,
	RankHalf:         3000,
	RankNear:         15000,
	Depth:            [6]Milli{1000, 400, 250, 150, 50, 0},
	Uncrawled:        -1500,
	Preference:       3000,
	Missing:          500,
	Widen:            10,
	Form:             800,
	Identifier:       1000,
	Signed:           4000,
	Unsigned:         250,
	Accented:         600,
	Impact:           30,
	Promising:        900,
	Likely:           40,
	Service:          &service,
	Prose:            &Prose,
}

// service are the weights of Default for definitions of services. Their length depends on the
// number of operations, each of which is an answer, so length normalization applies in full.
var service = TextWeights{
	Type: [vocab.HitTypes]Milli{
		vocab.Plain:    1000,
		vocab.Emphasis: 1000,
		vocab.Heading1: 1000,
		vocab.Heading2: 1000,
		vocab.Heading3: 1000,
		vocab.Code:     1000,
		vocab.Alt:      1000,
		vocab.Menu:     100,
		vocab.Meta:     1500,
	},
	Saturation: 2500,
	Length:     1000,
	Operation:  2000,
}

// serviceProse are the weights of Prose for definitions of services.
var serviceProse = TextWeights{
	Text: [vocab.HitTypes]Milli{
		vocab.Plain:     1000,
		vocab.Emphasis:  1000,
		vocab.Heading2:  1000,
		vocab.Heading3:  1000,
		vocab.Code:      500,
		vocab.Alt:       1000,
		vocab.Title:     650,
		vocab.Meta:      1000,
		vocab.URLWord:   500,
		vocab.Anchor:    250,
		vocab.AnchorOut: 500,
		vocab.Part:      1000,
	},
	Held:       375,
	Saturation: 2000,
	TextLength: 1000,
	Operation:  2000,
}

// Prose are the weights of Default for prose.
var Prose = Weights{
	Text: [vocab.HitTypes]Milli{
		vocab.Plain:     1000,
		vocab.Emphasis:  1000,
		vocab.Heading2:  2000,
		vocab.Heading3:  1500,
		vocab.Code:      500,
		vocab.Alt:       1000,
		vocab.Title:     650,
		vocab.URLWord:   500,
		vocab.Anchor:    250,
		vocab.AnchorOut: 500,
		vocab.Part:      1000,
	},
	Type: [vocab.HitTypes]Milli{
		vocab.Plain:     125,
		vocab.Emphasis:  100,
		vocab.Code:      375,
		vocab.Menu:      125,
		vocab.Title:     1000,
		vocab.Meta:      325,
		vocab.URLWord:   700,
		vocab.AnchorOut: 750,
	},
	Held:       375,
	Again:      1000,
	Saturation: 600,
	TextLength: 750,
	Near: [Bins]Bin{
		{1, 1000}, {2, 800}, {3, 600}, {5, 450}, {8, 350},
		{13, 375}, {21, 225}, {50, 120}, {150, 45}, {math.MaxUint32, 0},
	},
	NearSaturation: 1200,
	Pairs:          6000,
	NearIn: [vocab.Fields]Milli{
		vocab.Body:        2000,
		vocab.TitleField:  150,
		vocab.AnchorField: 400,
	},
	PhraseInField: [vocab.Fields]Milli{
		vocab.TitleField:  3000,
		vocab.URLField:    500,
		vocab.AnchorField: 1000,
	},
	ExactMatch: [vocab.Fields]Milli{
		vocab.TitleField:  6000,
		vocab.AnchorField: 2500,
	},
	VerbatimTitle:    9000,
	Language:         500,
	Genre:            [vocab.Genres]Milli{vocab.SourceListing: 600, vocab.IndexPage: 400, vocab.Changelog: 400},
	GenreAsked:       500,
	NavigationalHost: 40000,
	NamedSite:        3000,
	Related:          150000,
	Rank:             1000,
	RankHalf:         3000,
	RankNear:         5000,
	Uncrawled:        -1500,
	Preference:       3000,
	Form:             600,
	Identifier:       500,
	Signed:           1000,
	Unsigned:         250,
	Accented:         600,
	Impact:           30,
	Service:          &serviceProse,
}

// BM25 ranks by body text alone, like Robertson and Walker's function with k 1.2 and b 0.75, with
// forms always counting as one term, and Vietnamese words only with the accents of the query. It is a
// baseline, and for text without titles, links and URLs.
var BM25 = Weights{
	Type: [vocab.HitTypes]Milli{
		vocab.Plain: 1000, vocab.Emphasis: 1000, vocab.Heading1: 1000, vocab.Heading2: 1000,
		vocab.Heading3: 1000, vocab.Code: 1000, vocab.Alt: 1000, vocab.Menu: 1000,
	},
	Again:      1000,
	Saturation: 1200,
	Length:     750,
	Near: [Bins]Bin{
		{Within: 1}, {Within: 2}, {Within: 3}, {Within: 5}, {Within: 8},
		{Within: 13}, {Within: 21}, {Within: 50}, {Within: 150}, {Within: math.MaxUint32},
	},
	NearSaturation: 1200,
	RankHalf:       1000,
	Widen:          Always,
	Form:           1000,
	Unsigned:       1000,
	Accented:       1000,
	Impact:         30,
}

// Clone returns a deep copy of w.
func (w Weights) Clone() Weights {
	if w.Service != nil {
		service := *w.Service
		w.Service = &service
	}
	if w.Prose != nil {
		prose := w.Prose.Clone()
		w.Prose = &prose
	}
	return w
}

// RankByNearness replaces Rank by RankNear, also in prose.
func (w *Weights) RankByNearness() {
	if w.Rank = w.RankNear; w.Prose != nil {
		w.Prose.RankByNearness()
	}
}

// HitTypes is a set of hit types: bit n is type n.
type HitTypes uint32

// ForSearch returns the weights of a search without the anchor texts of the site itself, or without any,
// and with ranks near a page.
func (w *Weights) ForSearch(noOwn, noAnchors, near bool) *Weights {
	if !noOwn && !noAnchors && !near {
		return w
	}
	changed := w.Clone()
	if noOwn || noAnchors {
		changed = changed.Without(vocab.Anchor)
	}
	if noAnchors {
		changed = changed.Without(vocab.AnchorOut)
	}
	if near {
		changed.RankByNearness()
	}
	return &changed
}

// Sum returns a checksum of weights that differ from the default, "" for that.
func (w *Weights) Sum() string {
	own, err := json.Marshal(w)
	usual, err2 := json.Marshal(Default)
	if err != nil || err2 != nil || bytes.Equal(own, usual) {
		return ""
	}
	return fmt.Sprintf("-w%08x", crc32.ChecksumIEEE(own))
}

// Without returns a copy of w that ignores the hits of some types, also in prose.
func (w Weights) Without(types ...vocab.HitType) Weights {
	w = w.Clone()
	for _, t := range types {
		w.Ignored |= 1 << t
	}
	if w.Prose != nil {
		w.Prose.Ignored = w.Ignored
	}
	return w
}

// Always is the minimum of Weights.Widen with which forms always match.
const Always = 1_000_000

// MayPass reports whether a page scores enough to come before a better one whose host is crowded:
// two thirds. Otherwise pages that hardly answer the query would enter the first ten, such as
// release notes that mention the words once before the third page of the manual.
func MayPass(score, better Score) bool { return 3*score >= 2*better }

// LeastPromising returns the minimum promising score of the first phase, given the score of the
// tenth page.
func (w *Weights) LeastPromising(tenth uint32) uint32 {
	return uint32(uint64(tenth) * uint64(max(w.Promising, 0)) / 1000)
}

// IDF returns the inverse document frequency of a term that n pages have.
func IDF(pages, n int) Score {
	pages = max(pages, n) // n may count superseded pages
	return Score(math.Round(float64(Point) * math.Log(1+(float64(pages-n)+0.5)/(float64(n)+0.5))))
}

// accentedShare returns Accented, at least 0 and at most 1000.
func (w *Weights) accentedShare() Milli { return min(max(w.Accented, 0), 1000) }

// QueryIDF returns the idf of a term that occurs several times in the query.
func (w *Weights) QueryIDF(idf Score, times int) Score {
	return idf * (1000 + Score(w.Again)*Score(times-1)) / 1000
}

// Count returns the count weight of occurrences outside the body.
func (w *Weights) Count(count int64) Milli { return saturate(count, w.Saturation, w.Saturation) }

// CountInBody returns the count weight of occurrences in a body, given its number of words and the
// average.
func (w *Weights) CountInBody(count, words, average int64) Milli {
	return saturate(count, w.Saturation, w.Saturation*long(w.Length, words, average)/1000)
}

// CountInText returns the count weight of a frequency in a text, given its number of words and the
// average.
func (w *Weights) CountInText(frequency Milli, words, average int64) Milli {
	half := max(w.Saturation*long(w.TextLength, words, average)/1000, 0)
	if frequency <= 0 {
		return 0
	}
	return frequency * (1000 + w.Saturation) / (frequency + half)
}

// long returns the factor of length normalization, applied to a share.
func long(share Milli, words, average int64) Milli {
	return 1000 - share + Milli(int64(share)*words/max(average, 1))
}

// saturate returns c·(k+1)/(c+half).
func saturate(count int64, k, half Milli) Milli {
	c := Milli(min(count, 1<<31)) * 1000
	if c+half <= 0 {
		return 0
	}
	return c / 1000 * (1000 + k) * 1000 / (c + half)
}

// Agreeing returns the count weight of links whose anchor text is the query: log2(1 + links).
func Agreeing(links int64) Milli { return Milli(math.Round(1000 * math.Log2(1+float64(links)))) }

// MissingTerms returns the score of a page whose terms have the sum held of all idf.
func (w *Weights) MissingTerms(score, held, all Score) Score {
	return w.Missing.Of(score) * (held * 1000 / max(all, 1)) / 1000
}

// PageRank returns the points of a page with a share of all rank, among a number of pages.
func (w *Weights) PageRank(rank float64, pages int) Score {
	x := math.Log1p(max(rank, 0) * float64(pages))
	half := float64(w.RankHalf) / 1000
	if x+half <= 0 {
		return 0
	}
	return Score(math.Round(float64(w.Rank) * 1000 * x / (x + half)))
}

// RelatedPoints returns the points of a page of related:, given the number of pages that are
// nearer.
func (w *Weights) RelatedPoints(nearer int) Score {
	return w.Related.Score() * Score(MaxRelated-nearer) / MaxRelated
}

// DepthPoints returns the points of a URL by its number of folders.
func (w *Weights) DepthPoints(depth int) Score {
	return w.Depth[min(depth, len(w.Depth)-1)].Score()
}

// StaticPoints returns the query-independent points of a page.
func (w *Weights) StaticPoints(rank Score, depth int, crawled bool) Score {
	points := rank + w.DepthPoints(depth)
	if !crawled {
		points += w.Uncrawled.Score()
	}
	return points
}

// StaticRange returns a lower bound on StaticPoints, and the distance of an upper bound from it.
func (w *Weights) StaticRange() (least, span Score) {
	low, high := slices.Min(w.Depth[:]).Score(), slices.Max(w.Depth[:]).Score()
	for _, points := range []Milli{w.Rank, w.Uncrawled} {
		low, high = low+min(points, 0).Score(), high+max(points, 0).Score()
	}
	return low, high - low
}

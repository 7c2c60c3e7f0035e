package searcher

import (
	"math"

	"anatomy/vocab"
)

// A Milli is a thousandth. Scores are reckoned in integers from end to end, so that the same pages
// score the same on every machine and the parts of an [Explanation] add up to the last digit.
type Milli int64

// Weights are all numbers that the order of results depends on, besides the pages themselves.
// They are data, to be tuned on judged queries and never by hand on one of them.
//
// A word's idf is ln(1 + (N - n + ½)/(n + ½)), N the pages searched and n those that hold it.
type Weights struct {
	// Type says what an occurrence is worth by where it stands: the type-weights of BP98 §4.5.1.
	// A word's points for a type are idf × type weight × count weight.
	Type [vocab.HitTypes]Milli

	// Again is what each further time that a query asks for a word adds to its idf, in proportion.
	Again Milli

	// Saturation is k of the count weight c·(k+1)/(c+k), c occurrences of one type: it grows by
	// nearly one with each at first, and "quickly tapers off" (§4.5.1) to k+1. A text linked to
	// by 2^s pages counts as 2^s occurrences.
	Saturation Milli

	// Length is how far the length of the text tells: in text, k becomes
	// k·(1 - Length + Length·words/average). 0 not at all, 1000 in proportion.
	Length Milli

	// Near lists the classes of proximity, from a phrase to "not even close", ten as in the paper.
	// Neighbouring words of the query score, for each field that has both, by the best class in
	// which they are found there: lesser idf × field weight × class weight × count weight.
	Near [Bins]Bin

	// NearIn is the weight of each field for that.
	NearIn [vocab.Fields]Milli

	// Whole is for fields that hold all words of the query next to each other and in order: it is
	// multiplied by the sum of their idf.
	Whole [vocab.Fields]Milli

	// Exact is for names that the query is, in whatever order: a title, or the page's own part of it, all words of
	// which are asked for and that has all that are; and texts of links likewise, where it is multiplied by
	// log2(1 + n), n links with such a text. It is multiplied by the sum of idf. The other fields are no names.
	Exact [vocab.Fields]Milli

	// Letters is for a title, or the page's own part of it, that the query is to the letter, signs and accents included, in
	// addition to Exact. It is multiplied by the sum of idf.
	Letters Milli

	// Language is for pages in the language that the query is written in, where its script tells: see [words.Scripts]. It is
	// multiplied by the sum of idf.
	Language Milli

	// Home is for the home page of a host in whose name all words of the query stand. It is multiplied by the sum of idf
	// and by how much of the name they are, see nameShare.
	Home Milli

	// Related is for the page that is nearest to the one that related: names, and less by a thirtieth for each after it.
	Related Milli

	// Rank is for PageRank: Rank × x/(x + RankHalf) with x = ln(1 + rank × pages). The average
	// page, of rank 1/pages, has x = 0.69, one of a thousand times that has 6.9.
	Rank, RankHalf Milli

	// Depth is for the folders in a URL's path, a query counting as one: the first entry is for
	// the root of a host, the last for all from there.
	Depth [6]Milli

	// Uncrawled is for pages that were never fetched and are known by links to them alone.
	Uncrawled Milli

	// Preference is for pages of sites that the asker raised, and against those of sites lowered.
	Preference Milli

	// Missing is for pages that lack words of the query, where few have all: what their score counts against that of
	// these, times the idf that they hold as a share of all. 0 puts them last.
	Missing Milli

	// Widen: where fewer pages than this match, forms of the words that have the same stem count as well as
	// these, unless quotes or a plus forbid it. 0 for never, from [Always] on always.
	Widen int

	// Form is what a word's idf counts, in proportion, on a page that has only other forms of it.
	Form Milli

	// Impact turns the first phase's impacts into points: idf × impact × Impact. The first phase
	// chooses the pages to be scored in full, see [Options.Candidates].
	Impact Milli

	// Promising is the score of the first phase that a candidate must have to be scored in full, where more pages match
	// than are candidates, as a share of that of the tenth, and Likely how many are scored in full at most. 0 for all.
	// A page whose title has as many words as the query may be what the query names, and is scored wherever it stands.
	Promising Milli
	Likely    int
}

// Bins is the number of classes of proximity.
const Bins = 10

// A Bin is a class of proximity: the second word follows the first within so many words, or
// precedes it within one less.
type Bin struct {
	Within uint32
	Weight Milli
}

// DefaultWeights is what a zero Options means.
var DefaultWeights = Weights{
	Type: [vocab.HitTypes]Milli{
		vocab.Plain:     1000,
		vocab.Emphasis:  600,
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
	NearIn: [vocab.Fields]Milli{
		vocab.Body:        1000,
		vocab.TitleField:  1500,
		vocab.MetaField:   300,
		vocab.URLField:    600,
		vocab.AnchorField: 1200,
	},
	Whole: [vocab.Fields]Milli{
		vocab.TitleField:  3000,
		vocab.URLField:    500,
		vocab.AnchorField: 1000,
	},
	Exact: [vocab.Fields]Milli{
		vocab.TitleField:  6000,
		vocab.AnchorField: 2500,
	},
	Letters:    9000,
	Language:   500,
	Home:       40000,
	Related:    150000,
	Rank:       3000,
	RankHalf:   3000,
	Depth:      [6]Milli{1000, 400, 250, 150, 50, 0},
	Uncrawled:  -1500,
	Preference: 3000,
	Missing:    500,
	Widen:      10,
	Form:       800,
	Impact:     30,
	Promising:  900,
	Likely:     40,
}

// What the order of images depends on, see images.go. A word's points are idf × the weight of the best place where it
// is said of the image; what else counts is a share of the sum of idf.
const (
	imageAlt     Milli = 1000
	imageCaption Milli = 900
	imageTitle   Milli = 700
	imageName    Milli = 500 // of the file
	imageHeading Milli = 300 // above it

	imageOfPage = 400 // thousandths, × the score of the page as a share of the best page's
	imageLead   = 100 // for the picture that stands for its page

	furniture      = 3   // what more of the pages show than these belongs to the site, not to the page,
	imageFurniture = 500 // and keeps so many thousandths of its score

	imageTurn = 40 // thousandths that an image loses for each better one of its page,
	maxTurns  = 10 // up to these

	tellingPages = 70 // of ImagePages that are chosen for what stands for their images
	imagesOfBest = 20 // pages whose images are shown although no word is said of them,
	maxSilent    = 3  // as many of each
	minImage     = 32 // pixels of width and height
)

// What groups results, see group.go.
const (
	// NearDistance is how far sketches are apart at most of which one page is folded into the other. On
	// real pages of which a twentieth is changed half are folded, of which a hundredth nearly all; of
	// neighbours in one folder that are no copies hardly any (lab/neardup).
	NearDistance = 5

	perHost    = 2  // results of one host
	spreadOver = 10 // among so many
)

// mayPass says whether a page scores enough to stand before a better one whose host has its share. Were any
// let by, other hosts would bring what hardly answers to the first ten: release notes and questions that
// name the words once, before the third page of the manual.
func mayPass(score, better Score) bool { return 3*score >= 2*better }

// BM25 ranks by the words of the text alone, as Robertson and Walker's function with k 1.2 and b 0.75 does, stems
// always counting as one word: to be compared with, and for text without titles, links and URLs.
var BM25 = Weights{
	Type: [vocab.HitTypes]Milli{
		vocab.Plain: 1000, vocab.Emphasis: 1000, vocab.Heading1: 1000, vocab.Heading2: 1000, vocab.Heading3: 1000, vocab.Code: 1000, vocab.Alt: 1000, vocab.Menu: 1000,
	},
	Again:      1000,
	Saturation: 1200,
	Length:     750,
	Near: [Bins]Bin{
		{Within: 1}, {Within: 2}, {Within: 3}, {Within: 5}, {Within: 8}, {Within: 13}, {Within: 21}, {Within: 50}, {Within: 150}, {Within: math.MaxUint32},
	},
	RankHalf: 1000,
	Widen:    Always,
	Form:     1000,
	Impact:   30,
}

// Always is the least Weights.Widen for which matches are not counted.
const Always = 1_000_000

// LeastPromising is the least score of the first phase with which a page is scored in full, where the tenth has that one.
func (w *Weights) LeastPromising(tenth uint32) uint32 {
	return uint32(uint64(tenth) * uint64(max(w.Promising, 0)) / 1000)
}

// million is one point of a Score.
const million = 1_000_000

// IDF is the weight of a word's rarity, as a Score: n of the pages hold it.
func IDF(pages, n int) Score {
	pages = max(pages, n) // n may count pages that were replaced since
	return Score(math.Round(million * math.Log(1+(float64(pages-n)+0.5)/(float64(n)+0.5))))
}

// Asked is the idf of a word that a query asks for so many times.
func (w *Weights) Asked(idf Score, times int) Score {
	return idf * (1000 + Score(w.Again)*Score(times-1)) / 1000
}

// Count is the weight of a count of occurrences in a text of average length.
func (w *Weights) Count(count int64) Milli { return saturate(count, w.Saturation, w.Saturation) }

// CountInText is the weight of a count in a text of that many words, where average is usual.
func (w *Weights) CountInText(count, words, average int64) Milli {
	long := 1000 - w.Length + Milli(int64(w.Length)*words/max(average, 1))
	return saturate(count, w.Saturation, w.Saturation*long/1000)
}

// saturate is c·(k+1)/(c+half).
func saturate(count int64, k, half Milli) Milli {
	c := Milli(min(count, 1<<31)) * 1000
	if c+half <= 0 {
		return 0
	}
	return c / 1000 * (1000 + k) * 1000 / (c + half)
}

// Agreeing is the weight of so many links that say what the query says: log2(1 + n).
func Agreeing(links int64) Milli { return Milli(math.Round(1000 * math.Log2(1+float64(links)))) }

// MissingWords is what the score of a page that holds so much of all idf counts against those of pages that hold it all.
func (w *Weights) MissingWords(score, held, all Score) Score {
	return score * Score(w.Missing) / 1000 * (held * 1000 / max(all, 1)) / 1000
}

// PageRank is the points of a page's share of all rank, among so many pages.
func (w *Weights) PageRank(rank float64, pages int) Score {
	x := math.Log1p(max(rank, 0) * float64(pages))
	half := float64(w.RankHalf) / 1000
	if x+half <= 0 {
		return 0
	}
	return Score(math.Round(float64(w.Rank) * 1000 * x / (x + half)))
}

// OfRelated is the points of a page that is related to a named one, where so many are nearer.
func (w *Weights) OfRelated(nearer int) Score {
	return w.Related.score() * Score(MaxRelated-nearer) / MaxRelated
}

// OfDepth is the points of a URL's depth.
func (w *Weights) OfDepth(depth int) Score {
	return w.Depth[min(depth, len(w.Depth)-1)].score()
}

func (m Milli) score() Score { return Score(m) * 1000 }

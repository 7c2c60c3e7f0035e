// Package images ranks the images on pages by the texts about them and by the scores of the pages.
package images

import (
	"cmp"
	"net/url"
	"path"
	"slices"
	"strings"

	"anatomy/analysis"
	"anatomy/searcher/scoring"
	"anatomy/vocab"
)

// Weights of images. A term scores idf × the weight of the best text about the image that contains
// it. The other weights are shares of the sum of idf.
const (
	altWeight     scoring.Milli = 1000
	captionWeight scoring.Milli = 900
	titleWeight   scoring.Milli = 700
	nameWeight    scoring.Milli = 500 // name of the file
	headingWeight scoring.Milli = 300 // heading above the image

	pageWeight scoring.Milli = 400 // of the page's score as a share of the best page's
	leadWeight scoring.Milli = 100 // of the lead image of its page

	furniture                     = 3   // an image on more pages belongs to the site's layout
	furnitureWeight scoring.Milli = 500 // such an image keeps this share of its score

	repeatCost = 40 // thousandths of its score that an image loses per better image on its page,
	maxRepeats = 10 // for at most this number of better images
)

// Bounds of images.
const (
	MaxPages     = 100 // pages that are searched for images
	MaxMentions  = 70  // of these, pages whose texts about images have a query term
	BestPages    = 20  // best pages, whose images are shown even without text about them
	maxSilent    = 3   // images without text, per page
	minDimension = 32  // minimum width and height in pixels
)

// A Page is a page whose images are ranked.
type Page struct {
	Info   vocab.DocInfo
	Share  scoring.Milli // its score as a share of that of the best page
	Best   bool          // one of the BestPages
	Images []vocab.Image
}

// A Result is one image, with the best of the pages that show it.
type Result struct {
	vocab.Image
	Doc   vocab.DocID
	Page  string // URL
	Named string // title of the page, or its URL
	Score scoring.Score
}

// A Ranker ranks images for a query.
type Ranker struct {
	words map[string]int // terms of the query and their forms: index in idf
	idf   []scoring.Score
	sum   scoring.Score // of idf

	pages []Page
	shown map[string]int // number of pages that show an image, by its URL

	tokenizer analysis.Tokenizer
	best      []scoring.Milli // by term: weight of the best text about the current image
}

// NewRanker returns a Ranker without terms and pages.
func NewRanker() *Ranker { return &Ranker{words: map[string]int{}, shown: map[string]int{}} }

// AddTerm adds a term of the query.
func (r *Ranker) AddTerm(word string, idf scoring.Score) {
	r.words[word] = len(r.idf)
	r.idf = append(r.idf, idf)
	r.best = append(r.best, 0)
	r.sum += idf
}

// AddForm adds a form that counts as a term, and reports whether the term is known.
func (r *Ranker) AddForm(form, of string) bool {
	i, ok := r.words[of]
	if ok {
		r.words[form] = i
	}
	return ok
}

// AddPage adds a page with its images.
func (r *Ranker) AddPage(p Page) {
	r.pages = append(r.pages, p)
	for i := range p.Images {
		r.shown[p.Images[i].URL]++
	}
}

// Pages returns the number of pages.
func (r *Ranker) Pages() int { return len(r.pages) }

// Rank returns the images to show, each once, best first. Each further image of a page loses some
// of its score, so that images of other pages are shown, too.
func (r *Ranker) Rank() []Result {
	best := map[string]Result{}
	for i := range r.pages {
		p, silent := &r.pages[i], 0
		for j := range p.Images {
			m := &p.Images[j]
			text := r.textScore(m)
			switch {
			case isTooSmall(m), text == 0 && (silent == maxSilent || !r.isShownForPage(p, m)):
				continue
			case text == 0:
				silent++
			}
			found := Result{
				Image: *m, Doc: p.Info.Doc, Page: p.Info.URL, Named: cmp.Or(p.Info.Title, p.Info.URL),
				Score: r.score(m, text, p.Share),
			}
			if known, again := best[m.URL]; !again || known.Score < found.Score {
				best[m.URL] = found
			}
		}
	}
	return inTurn(best)
}

// isTooSmall reports whether an image's declared size is that of an icon or a tracking pixel.
func isTooSmall(m *vocab.Image) bool {
	return m.Width > 0 && m.Width < minDimension || m.Height > 0 && m.Height < minDimension
}

// isShownForPage reports whether an image without a query term in its texts is shown: if its page is
// one of the best, or if the query has no terms.
func (r *Ranker) isShownForPage(p *Page, m *vocab.Image) bool {
	return !m.Decoration && (p.Best || r.sum == 0) && r.shown[m.URL] <= furniture
}

// textScore returns the sum over terms of idf × the weight of the best text about an image that
// contains the term.
func (r *Ranker) textScore(m *vocab.Image) (sum scoring.Score) {
	clear(r.best)
	r.weigh(m.Alt, altWeight)
	r.weigh(m.Caption, captionWeight)
	r.weigh(m.Title, titleWeight)
	r.weigh(fileName(m.URL), nameWeight)
	if !m.Decoration {
		r.weigh(m.Heading, headingWeight)
	}
	for i, weight := range r.best {
		sum += weight.Of(r.idf[i])
	}
	return sum
}

func (r *Ranker) weigh(text string, weight scoring.Milli) {
	r.tokenizer.EachTerm([]byte(text), func(word []byte, _, _ int) {
		if i, ok := r.words[string(word)]; ok {
			r.best[i] = max(r.best[i], weight)
		}
	})
}

// fileName returns the last path segment of a URL as words: "red fox" for
// https://example.org/red_fox.jpg.
func fileName(address string) string {
	u, err := url.Parse(address)
	if err != nil {
		return ""
	}
	name := path.Base(u.Path)
	name = strings.TrimSuffix(name, path.Ext(name))
	return strings.NewReplacer("_", " ", "-", " ", "+", " ").Replace(name)
}

// score adds the points of an image's page to those of the texts about it.
func (r *Ranker) score(m *vocab.Image, text scoring.Score, share scoring.Milli) scoring.Score {
	sum := cmp.Or(r.sum, scoring.Point)
	score := text + pageWeight.Of(share.Of(sum))
	if m.Lead {
		score += leadWeight.Of(sum)
	}
	if r.shown[m.URL] > furniture {
		score = furnitureWeight.Of(score)
	}
	return score
}

// inTurn sorts images after reducing the score of each by the better ones of its page.
func inTurn(images map[string]Result) []Result {
	all := make([]Result, 0, len(images))
	for _, r := range images {
		all = append(all, r)
	}
	byScore := func(a, b Result) int {
		return cmp.Or(cmp.Compare(b.Score, a.Score), strings.Compare(a.Page, b.Page), strings.Compare(a.URL, b.URL))
	}
	slices.SortFunc(all, byScore)
	better := map[vocab.DocID]scoring.Score{}
	for i := range all {
		n := better[all[i].Doc]
		better[all[i].Doc]++
		all[i].Score -= all[i].Score * min(n, maxRepeats) * repeatCost / 1000
	}
	slices.SortFunc(all, byScore)
	return all
}

package searcher

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"path"
	"slices"
	"strings"
	"time"

	"anatomy/disk/segment"
	"anatomy/searcher/query"
	"anatomy/vocab"
	"anatomy/words"
)

// ImagePages is how many of the pages that match are looked through for images, those first that have a word of
// the query in what stands for an image.
const ImagePages = 100

// imagesWithin is the deadline of a request for images that has none.
const imagesWithin = 2 * time.Second

// ImagesOf gives the images that a page shows, in its order. What cannot be read has none; an error ends
// the search.
type ImagesOf func(info *vocab.DocInfo) ([]vocab.Image, error)

// An ImageResponse answers a request for images. What the Response in it says is about the pages that
// match, but for Next and Took; it has no Results.
type ImageResponse struct {
	Response
	Images []ImageResult
	Found  int // images in all, on the pages that were looked through
	Looked int // pages that were looked through: the best ones, at most ImagePages
}

// An ImageResult is one image, with the best of the pages that show it.
type ImageResult struct {
	vocab.Image
	Doc   vocab.DocID
	Page  string // URL
	Named string // title of the page, else its URL
	Score Score
}

// ForImages says whether a query asks for images, and gives it without saying so.
func ForImages(text string) (rest string, images bool) { return query.CutImages(text) }

// Images answers a request with images: those that the best pages show which match its query, first
// those that its words are said of. Offset and Limit count images; Explain, Ungrouped and Similar count
// for nothing.
func (s *Searcher) Images(ctx context.Context, req Request, of ImagesOf) (*ImageResponse, error) {
	began := time.Now()
	req.Within = cmp.Or(req.Within, imagesWithin)
	req = req.bounded()
	clock := (&clock{ctx: ctx}).within(req.Within)
	resp := &ImageResponse{}
	err := s.again(func(snap *snapshot) error {
		snap, err := s.ranked(snap, req.Rank)
		if err != nil {
			return err
		}
		*resp = ImageResponse{}
		pages, err := s.imagePages(clock, snap, req, &resp.Response)
		if err != nil {
			return err
		}
		g, err := newGallery(snap, &resp.Response)
		if err != nil {
			return err
		}
		if err := g.look(clock, snap, pages, of); err != nil {
			return err
		}
		g.answer(&req, resp)
		return nil
	})
	resp.Took = time.Since(began)
	return resp, err
}

// An imagePage is a page to be looked through.
type imagePage struct {
	doc   vocab.DocID
	score Score
	best  bool // it is one of the best, whatever its images
}

// imagePages chooses the pages: tellingPages of them for what stands for their images, the others as the best ones.
// Near-duplicates stay apart: pages that say the same may show different images.
func (s *Searcher) imagePages(clock *clock, snap *snapshot, req Request, resp *Response) (pages []imagePage, err error) {
	req.Offset, req.Limit, req.Bare, req.Explain, req.Ungrouped, req.Similar = 0, ImagePages, true, false, true, 0
	q := query.Parse(req.Query)
	if err := s.search(clock, snap, q, &req, resp, &workspace{}); err != nil {
		return nil, err
	}
	best := resp.Results
	if resp.Corrected != "" {
		q = query.Parse(resp.Corrected)
	}
	telling := Response{}
	if root := narrowed(q.Root); root != nil {
		a := answer{snap: snap, w: &s.o.Weights, req: &req, name: q.Name, clock: clock, resp: &telling, countTo: s.o.CountTo, links: s.o.Links, room: &workspace{}}
		if err := a.run(root, s.o.Candidates); err != nil {
			return nil, err
		}
	}
	resp.Results, resp.Partial = nil, resp.Partial || telling.Partial
	taken := map[vocab.DocID]bool{}
	for i := range telling.Results[:min(len(telling.Results), tellingPages)] {
		r := &telling.Results[i]
		taken[r.Doc] = true
		pages = append(pages, imagePage{r.Doc, r.Score, slices.ContainsFunc(best[:min(len(best), imagesOfBest)], func(b Result) bool { return b.Doc == r.Doc })})
	}
	for i := range best {
		if r := &best[i]; !taken[r.Doc] && len(pages) < ImagePages {
			pages = append(pages, imagePage{r.Doc, r.Score, i < imagesOfBest})
		}
	}
	return pages, nil
}

// narrowed asks for pages that have a word in what stands for an image.
func narrowed(root *query.Node) *query.Node {
	if root == nil {
		return nil
	}
	return root.InImages()
}

// A gallery is what pages show of a query.
type gallery struct {
	resp  *Response
	words map[string]int // of the query, and forms of them: index in idf
	idf   []Score
	all   Score // the sum of idf

	pages []galleryPage
	shown map[string]int // how many of the pages show an image, by its URL

	cut  words.Tokenizer
	best []Milli // by word: the weight of where the image at hand has it
}

// A galleryPage is a page that was looked through.
type galleryPage struct {
	info   vocab.DocInfo
	share  Milli // its score, as a share of that of the best page
	best   bool
	images []vocab.Image
}

// newGallery learns the words that a query was answered with.
func newGallery(snap *snapshot, resp *Response) (*gallery, error) {
	g := &gallery{resp: resp, words: map[string]int{}, shown: map[string]int{}}
	forms := map[string]string{}
	for _, f := range resp.Forms {
		for _, form := range f.Forms {
			forms[form] = f.Word
		}
	}
	for _, word := range resp.Words {
		if base, ok := forms[word]; ok {
			if i, ok := g.words[base]; ok {
				g.words[word] = i
				continue
			}
		}
		df, err := snap.df(word)
		if err != nil {
			return nil, err
		}
		g.words[word] = len(g.idf)
		g.idf = append(g.idf, IDF(snap.docs, df))
		g.all += g.idf[len(g.idf)-1]
	}
	g.best = make([]Milli, len(g.idf))
	return g, nil
}

// df is the number of documents that hold a word.
func (snap *snapshot) df(word string) (df int, err error) {
	for _, p := range snap.parts {
		n, failed := p.seg.DF(segment.Full, []byte(word))
		df += n
		err = cmp.Or(err, failed)
	}
	return df, err
}

// look reads the images of pages, for as long as there is time.
func (g *gallery) look(clock *clock, snap *snapshot, pages []imagePage, of ImagesOf) error {
	most := Score(1)
	for _, p := range pages {
		most = max(most, p.score)
	}
	for _, p := range pages {
		if clock.look() {
			g.resp.Partial = true
			return nil
		}
		info, err := snap.info(p.doc)
		if err != nil {
			if err := g.tolerate(err); err != nil {
				return err
			}
			continue
		}
		if info.Place == 0 {
			continue
		}
		images, err := of(&info)
		if err != nil {
			return err
		}
		g.pages = append(g.pages, galleryPage{info, Milli(max(p.score, 0) * 1000 / most), p.best, images})
		for i := range images {
			g.shown[images[i].URL]++
		}
	}
	return nil
}

// tolerate gives back errors to give up for: a file that is gone may be back with the next snapshot.
func (g *gallery) tolerate(err error) error {
	if err == nil || errors.Is(err, fs.ErrNotExist) {
		return err
	}
	g.resp.Partial, g.resp.Why = true, fmt.Sprintf("A part of the index is damaged: %v.", err)
	return nil
}

// info is what a snapshot has of a document, but for its text.
func (snap *snapshot) info(doc vocab.DocID) (vocab.DocInfo, error) {
	for _, p := range slices.Backward(snap.parts) {
		if ord, ok := p.seg.Ordinal(doc); ok && !p.dead.has(ord) {
			return p.seg.Record(ord)
		}
	}
	return vocab.DocInfo{}, fmt.Errorf("searcher: document %d: %w", doc, ErrNotIndexed)
}

// answer puts the images in order and gives those that are asked for.
func (g *gallery) answer(req *Request, resp *ImageResponse) {
	found := g.choose()
	resp.Found, resp.Looked, resp.Results = len(found), len(g.pages), nil
	from := min(req.Offset, len(found))
	to := min(from+req.Limit, len(found))
	resp.Images, resp.Next = found[from:to], to < len(found)
	switch {
	case len(found) == 0 && len(g.pages) > 0 && resp.Why == "":
		resp.Why = "The pages that match show no image that says something of it."
	case from == len(found) && from > 0 && resp.Why == "":
		resp.Why = fmt.Sprintf("There are only %d images.", len(found))
	}
}

// choose gives the images worth showing, the best first, each once.
func (g *gallery) choose() []ImageResult {
	best := map[string]ImageResult{}
	for i := range g.pages {
		p, silent := &g.pages[i], 0
		for j := range p.images {
			m := &p.images[j]
			text := g.text(m)
			switch {
			case tooSmall(m), text == 0 && (silent == maxSilent || !g.speaks(p, m)):
				continue
			case text == 0:
				silent++
			}
			r := ImageResult{Image: *m, Doc: p.info.Doc, Page: p.info.URL, Named: cmp.Or(p.info.Title, p.info.URL), Score: g.score(p, m, text)}
			if known, again := best[m.URL]; !again || known.Score < r.Score {
				best[m.URL] = r
			}
		}
	}
	return inTurn(best)
}

// tooSmall says whether an image is declared to be an icon, or a pixel that counts visitors.
func tooSmall(m *vocab.Image) bool {
	return m.Width > 0 && m.Width < minImage || m.Height > 0 && m.Height < minImage
}

// speaks says whether an image that no word of the query is said of stands for its page all the same: of one of the
// best pages, or of any where the query has no words.
func (g *gallery) speaks(p *galleryPage, m *vocab.Image) bool {
	return !m.Decoration && (p.best || g.all == 0) && g.shown[m.URL] <= furniture
}

// text is how much of the query is said of an image: the sum over words of idf × weight of the best
// place that has it.
func (g *gallery) text(m *vocab.Image) (sum Score) {
	clear(g.best)
	g.weigh(m.Alt, imageAlt)
	g.weigh(m.Caption, imageCaption)
	g.weigh(m.Title, imageTitle)
	g.weigh(fileName(m.URL), imageName)
	if !m.Decoration {
		g.weigh(m.Heading, imageHeading)
	}
	for i, weight := range g.best {
		sum += g.idf[i] * Score(weight) / 1000
	}
	return sum
}

func (g *gallery) weigh(text string, weight Milli) {
	g.cut.Each([]byte(text), func(word []byte, _, _ int, _ bool) {
		if i, ok := g.words[string(word)]; ok {
			g.best[i] = max(g.best[i], weight)
		}
	})
}

// fileName is the last step of an address as words: "red fox" of https://example.org/red_fox.jpg.
func fileName(address string) string {
	u, err := url.Parse(address)
	if err != nil {
		return ""
	}
	name := path.Base(u.Path)
	return strings.NewReplacer("_", " ", "-", " ", "+", " ").Replace(strings.TrimSuffix(name, path.Ext(name)))
}

// score adds to what is said of an image what its page is worth.
func (g *gallery) score(p *galleryPage, m *vocab.Image, text Score) Score {
	all := cmp.Or(g.all, million)
	score := text + all*Score(p.share)/1000*imageOfPage/1000
	if m.Lead {
		score += all * imageLead / 1000
	}
	if g.shown[m.URL] > furniture {
		score = score * imageFurniture / 1000
	}
	return score
}

// inTurn puts images in order. Of those of one page each counts less than the one before it, so that other pages
// have their turn.
func inTurn(images map[string]ImageResult) []ImageResult {
	all := make([]ImageResult, 0, len(images))
	for _, r := range images {
		all = append(all, r)
	}
	byScore := func(a, b ImageResult) int {
		return cmp.Or(cmp.Compare(b.Score, a.Score), cmp.Compare(a.Doc, b.Doc), cmp.Compare(a.URL, b.URL))
	}
	slices.SortFunc(all, byScore)
	taken := map[vocab.DocID]Score{}
	for i := range all {
		n := taken[all[i].Doc]
		taken[all[i].Doc]++
		all[i].Score -= all[i].Score * min(n, maxTurns) * imageTurn / 1000
	}
	slices.SortFunc(all, byScore)
	return all
}

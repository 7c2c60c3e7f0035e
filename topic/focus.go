package topic

import (
	"iter"
	"slices"
	"sync"

	"anatomy/analysis"
	"anatomy/vocab"
	"anatomy/weburl"
)

// A Focus judges the pages and links of a crawl. It is safe for concurrent use.
type Focus struct {
	named map[vocab.Fingerprint]kind // does not change

	mu        sync.Mutex // guards what follows
	pages     pages
	links     links
	reader    reader
	tokenizer analysis.Tokenizer
	judged    map[vocab.Fingerprint]float32 // relevance of the first maxJudged pages
	harvest   harvest
	next      int // pages until everything is judged again
}

const (
	maxJudged     = 1 << 20
	leastEstimate = 5   // pages between two estimates, at first
	estimateEach  = 0.2 // the same as a share of all pages, later
)

// New returns a Focus without pages. The URLs of t are canonical.
func New(t *Topic) *Focus {
	terms := newTerms()
	f := &Focus{
		named: map[vocab.Fingerprint]kind{},
		pages: pages{terms: terms, middle: firstMiddle, slope: firstSlope},
		links: links{
			terms: terms, weights: firstWeights, candidates: map[vocab.Fingerprint]*candidate{},
		},
		judged: map[vocab.Fingerprint]float32{},
		next:   leastEstimate,
	}
	f.name(t.Examples, example)
	f.name(t.Others, other)
	if t.Words != "" {
		words := f.reader.read(f.text(t.Words))
		words.kind = example
		terms.add(words, true)
	}
	return f
}

func (f *Focus) name(urls []string, k kind) {
	for _, s := range urls {
		if u, err := weburl.Parse(s); err == nil {
			f.named[u.Fingerprint()] = k
		}
	}
}

// Names reports whether the topic's file has a page, as an example or as a page outside of the
// topic.
func (f *Focus) Names(url string) bool {
	u, err := weburl.Parse(url)
	return err == nil && f.named[u.Fingerprint()] != unnamed
}

// text returns the terms of a text, weighted like those of a page.
func (f *Focus) text(s string) iter.Seq2[[]byte, vocab.Hit] {
	return func(yield func([]byte, vocab.Hit) bool) {
		more := true
		f.tokenizer.EachTerm([]byte(s), func(term []byte, _, _ int) {
			more = more && yield(term, 0)
		})
	}
}

// A Link is a target of a page's links.
type Link struct {
	URL  weburl.URL
	Text string // of the first of the links that has one
}

// Add adds a fetched page with the targets of its links, each once, in the order of the page. It
// returns the odds that each target is relevant, or 0 for a target that was fetched or whose odds
// hardly changed, and the scores of other URLs that changed.
func (f *Focus) Add(
	u *weburl.URL, hits iter.Seq2[[]byte, vocab.Hit], linked []Link,
) (odds []float64, changed []Score) {
	f.mu.Lock()
	defer f.mu.Unlock()
	fp := u.Fingerprint()
	p := f.reader.read(hits)
	if known, again := f.judged[fp]; again {
		p.relevance = float64(known)
		return f.follow(p, linked), nil
	}
	p.kind = f.named[fp]
	f.pages.add(p)
	f.links.fetched(fp, p)
	if len(f.judged) < maxJudged {
		f.judged[fp] = float32(p.relevance)
	}
	f.harvest.add(p.relevance >= selfTrained)
	if f.next--; f.next <= 0 || len(f.links.candidates) > 2*maxCandidates {
		f.next = max(leastEstimate, int(estimateEach*f.pages.allPages))
		f.pages.estimate()
		changed = f.links.rescore()
	}
	return f.follow(p, linked), changed
}

// follow adds the links of a page and returns the odds of their targets.
func (f *Focus) follow(p *page, linked []Link) []float64 {
	at, odds := 0, make([]float64, len(linked))
	for i := range linked {
		v := vote{from: p, anchor: f.anchor(linked[i].Text)}
		v.around, at = f.reader.around(v.anchor, at)
		if _, fetched := f.judged[linked[i].URL.Fingerprint()]; fetched {
			continue
		}
		c := f.links.add(linked[i].URL, v)
		if f.links.score(c); c.changed() {
			odds[i] = c.report().Odds
		}
	}
	return odds
}

// anchor returns the first terms of an anchor text.
func (f *Focus) anchor(text string) (terms []term) {
	for word := range f.text(text) {
		if len(terms) == maxAnchor {
			break
		}
		terms = append(terms, hashOf(word))
	}
	return terms
}

// around returns the terms around an anchor text that follows the position at in the page, and the
// position after it. If the text is not found, it returns no terms, and at.
func (r *reader) around(anchor []term, at int) (terms []term, next int) {
	if len(anchor) == 0 {
		return nil, at
	}
	for i := at; i < min(len(r.sequence), at+maxAhead); i++ {
		if r.sequence[i] != anchor[0] || !startsWith(r.sequence[i:], anchor) {
			continue
		}
		next = i + len(anchor)
		before := r.sequence[max(0, i-aroundEach):i]
		after := r.sequence[next:min(len(r.sequence), next+aroundEach)]
		return slices.Concat(before, after), next
	}
	return nil, at
}

func startsWith(sequence, prefix []term) bool {
	return len(sequence) >= len(prefix) && slices.Equal(sequence[:len(prefix)], prefix)
}

// Relevance returns the probability that a fetched page is relevant, as estimated when it was
// added.
func (f *Focus) Relevance(fp vocab.Fingerprint) (relevance float64, ok bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	r, ok := f.judged[fp]
	return float64(r), ok
}

// Harvest returns the number of relevant pages so far.
func (f *Focus) Harvest() vocab.Harvest {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.harvest.Harvest
}

// A harvest counts relevant pages.
type harvest struct {
	vocab.Harvest
	recent [vocab.RecentPages]bool // in a circle
}

func (h *harvest) add(relevant bool) {
	at := &h.recent[h.Pages%vocab.RecentPages]
	if *at {
		h.Recent--
	}
	if *at = relevant; relevant {
		h.Relevant++
		h.Recent++
	}
	h.Pages++
}

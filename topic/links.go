package topic

import (
	"cmp"
	"math"
	"slices"

	"anatomy/vocab"
	"anatomy/weburl"
)

// A candidate is a URL that is linked to and was not fetched.
type candidate struct {
	url      weburl.URL
	links    []vote  // the latest, at most maxVotes
	older    float64 // relevance of the pages with older ones
	olders   float64 // how many these are
	features features
	logit    float64 // the last score
	reported float64 // the last score that was returned to the caller
}

// A vote is a link to a candidate.
type vote struct {
	from           *page
	anchor, around []term
	odds           [2]float64 // of anchor and around, by the last estimate
}

// weigh sets the odds of a vote.
func (v *vote) weigh(t *terms) {
	v.odds[0] = max(-3, min(3, t.sum(v.anchor)))
	if n := len(v.around); n > 0 {
		v.odds[1] = t.sum(v.around) / math.Sqrt(float64(n))
	}
}

// Bounds on the stored links, and on the text of a page that belongs to a link.
const (
	maxCandidates = 50_000 // after an estimate; twice as many, and those of one page, make one due
	maxVotes      = 6
	maxAnchor     = 8
	aroundEach    = 12   // terms before a link, and as many after it
	maxAhead      = 1000 // terms between two links that are searched for the second one
)

// features of a candidate: 1, mean relevance of the pages that link to it, logarithms of their
// relevance and number, and mean log-odds of its anchor texts and of the words around them.
type features [6]float64

// firstWeights are the weights of the features before any link was followed.
var firstWeights = features{-1, 2.5, 1.2, 0, 0.2, 0.5}

const learningRate = 0.05

// links predict the relevance of pages.
type links struct {
	terms      *terms
	weights    features
	candidates map[vocab.Fingerprint]*candidate
}

// add adds a link and returns its candidate.
func (s *links) add(u weburl.URL, v vote) *candidate {
	v.weigh(s.terms)
	fp := u.Fingerprint()
	c := s.candidates[fp]
	if c == nil {
		c = &candidate{url: u, reported: math.Inf(-1)}
		s.candidates[fp] = c
	}
	if len(c.links) == maxVotes {
		c.older += c.links[0].from.relevance
		c.olders++
		c.links = slices.Delete(c.links, 0, 1)
	}
	c.links = append(c.links, v)
	return c
}

// score returns the log-odds that a candidate is relevant.
func (s *links) score(c *candidate) float64 {
	relevance, anchors, around := c.older, 0.0, 0.0
	for i := range c.links {
		v := &c.links[i]
		relevance += v.from.relevance
		anchors += v.odds[0]
		around += v.odds[1]
	}
	kept := float64(len(c.links))
	n := kept + c.olders
	c.features = features{
		1, relevance / (n + 0.5), math.Log1p(relevance), math.Log1p(n),
		anchors / (kept + 0.5), around / (kept + 0.5) / 2,
	}
	c.logit = s.weights.dot(&c.features)
	return c.logit
}

func (f *features) dot(other *features) (sum float64) {
	for i := range f {
		sum += f[i] * other[i]
	}
	return sum
}

// fetched removes a candidate that was fetched, and learns from it unless the topic's file names it.
func (s *links) fetched(fp vocab.Fingerprint, p *page) {
	c := s.candidates[fp]
	delete(s.candidates, fp)
	if c == nil || p.kind != unnamed {
		return
	}
	step := learningRate * (p.relevance - sigmoid(s.weights.dot(&c.features)))
	for i := range s.weights {
		s.weights[i] += step * c.features[i]
	}
}

// A Score is the estimate for a URL that was not fetched.
type Score struct {
	URL  weburl.URL
	Odds float64 // that the page is relevant
}

// minChange is the least change of log-odds that is reported to the caller.
const minChange = 0.3

// rescore scores all candidates again and returns those whose score changed, in the order of their
// fingerprints. If there are too many candidates it drops the worst.
func (s *links) rescore() (changed []Score) {
	all := make([]vocab.Fingerprint, 0, len(s.candidates))
	for fp, c := range s.candidates {
		for i := range c.links {
			c.links[i].weigh(s.terms)
		}
		s.score(c)
		all = append(all, fp)
	}
	slices.Sort(all)
	for _, fp := range all {
		if c := s.candidates[fp]; c.changed() {
			changed = append(changed, c.report())
		}
	}
	if len(all) > maxCandidates {
		slices.SortStableFunc(all, func(a, b vocab.Fingerprint) int {
			return cmp.Compare(s.candidates[b].logit, s.candidates[a].logit)
		})
		for _, fp := range all[maxCandidates/4*3:] {
			delete(s.candidates, fp)
		}
	}
	return changed
}

func (c *candidate) changed() bool { return math.Abs(c.logit-c.reported) >= minChange }

// report returns the score of a candidate and records it as reported.
func (c *candidate) report() Score {
	c.reported = c.logit
	return Score{URL: c.url, Odds: math.Exp(c.logit)}
}

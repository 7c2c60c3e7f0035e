package urlserver

import (
	"math/rand/v2"

	"anatomy/disk/docindex"
	"anatomy/vocab"
)

// The quality of a page while crawling is its PageRank as far as the pages fetched before show it
// (BP98 §2.1, scaled so that a seed without links to it has 1; one pass, in the order of the crawl,
// as OPIC gives out its cash: Abiteboul, Preda, Cobena 2003):
//
//	quality(p) = 2^(-depth/4) + 0.85 Σ quality(q)/links(q), over the pages q fetched so far that link to p
//
// with quality(q) as it was when q was fetched. It needs no memory and no table of sums: the priority
// in the queue key is the sum, and is raised by chance so that its expectation is right, as Morris's
// counters are (1978). So most links of a queued URL write nothing, and none of a fetched one does.

const damping = 0.85

// raised is a priority after a quality is added to it.
func raised(priority uint8, amount float64, dice *rand.Rand) uint8 {
	for q := qualityOf(priority); priority > 1; priority-- {
		next := qualityOf(priority - 1)
		if amount < next-q {
			if dice.Float64()*(next-q) < amount {
				priority--
			}
			break
		}
		amount -= next - q
		q = next
	}
	return priority
}

// Quality is what the URL server thinks of a document that is in flight; 0 for others, and where URLs
// do not queue by quality.
func (s *Server) Quality(doc vocab.DocID) float64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	if f := s.inFlight[doc]; f != nil && s.o.Policy.byQuality() {
		return qualityOf(f.key.Priority)
	}
	return 0
}

// share is what a page gives to each of its links; a redirect gives all.
func (a *adder) share(f *Found) float64 {
	from, links := f.On, a.links
	if f.From != 0 {
		from, links = f.From, 1
	}
	quality := 1.0
	if flight := a.s.inFlight[from]; flight != nil {
		quality = qualityOf(flight.key.Priority)
	}
	if f.From != 0 {
		return quality
	}
	return damping * quality / float64(links)
}

// worth is the priority of a URL when it is found.
func (a *adder) worth(r *docindex.Record, f *Found) uint8 {
	first := a.s.o.Policy.newcomer(r)
	switch {
	case first == sitemapPriority || !a.s.o.Policy.byQuality():
		return first
	case f.Quality > 0:
		return priorityOf(f.Quality)
	case f.NoFollow, f.Seed:
		return first
	}
	return raised(first, a.share(f), a.s.dice)
}

// lift raises a queued URL because of another link to it. Its old place is taken out of the queue and
// a new one made. A page counts once, however often it links to the URL.
func (a *adder) lift(u docindex.URLRecord, fp vocab.Fingerprint, f *Found) error {
	s := a.s
	if u.Number == 0 || f.NoFollow || !s.o.Policy.byQuality() {
		return nil
	}
	if _, again := s.met[fp]; again {
		return nil
	}
	s.met[fp] = u
	priority := raised(u.Priority, a.share(f), s.dice)
	if priority == u.Priority {
		return nil
	}
	h, err := s.frontier.host(f.URL.Host(), f.URL.Hostname(), s.db.Host)
	if err != nil {
		return err
	}
	queued, err := s.stillQueued(h, u)
	if err != nil {
		return err
	}
	if !queued {
		u.Number = 0
		s.remember(fp, u)
		return nil
	}
	a.b.DeleteQueued(docindex.QueueKey{Host: h.name, Priority: u.Priority, Number: u.Number})
	h.pull(u.Priority, u.Number)
	u.Priority, u.Number = priority, s.enqueue(a.b, u.Doc, h, priority)
	a.know(fp, u)
	a.touch(h)
	return nil
}

// stillQueued says whether a URL is where it was put. Those in flight keep their place in the
// document index until they are done.
func (s *Server) stillQueued(h *host, u docindex.URLRecord) (bool, error) {
	if h == nil || h.gone != nil || s.inFlight[u.Doc] != nil {
		return false, nil
	}
	doc, err := s.db.Queued(docindex.QueueKey{Host: h.name, Priority: u.Priority, Number: u.Number})
	return doc == u.Doc, err
}

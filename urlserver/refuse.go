package urlserver

import (
	"anatomy/disk/docindex"
	"anatomy/urlserver/internal/frontier"
	"anatomy/urlserver/internal/trap"
	"anatomy/vocab"
	"anatomy/weburl"
)

// recordText counts the text of a page in flight that was never visited before; on a revisit, a
// page would repeat itself.
func (c *change) recordText(doc vocab.DocID, text *vocab.TextSample) error {
	f := c.flights.inFlight[doc]
	if f == nil || f.recorded || f.record.History.Visits > 0 {
		return nil
	}
	f.recorded = true
	u, err := weburl.Parse(f.record.URL)
	if err != nil {
		return err
	}
	finding, verdicts, err := c.yields.AddPage(f.host.Name, &u, text)
	if err != nil {
		return err
	}
	f.finding = finding
	if err := c.apply(f.host, verdicts); err != nil {
		return err
	}
	return c.commit()
}

// recordMissing counts a URL in flight that was requested for the first time and led to no page.
func (c *change) recordMissing(doc vocab.DocID) error {
	f := c.flights.inFlight[doc]
	if f == nil {
		return nil
	}
	if err := c.countMissing(f); err != nil {
		return err
	}
	return c.commit()
}

func (c *change) countMissing(f *flight) error {
	if f.recorded || f.record.Kind != vocab.PageTarget || f.record.History.Visits > 0 {
		return nil
	}
	f.recorded = true
	u, err := weburl.Parse(f.record.URL)
	if err != nil {
		return err
	}
	verdicts, err := c.yields.AddMissing(f.host.Name, &u)
	if err != nil {
		return err
	}
	suspect, err := c.yields.IsSuspect(f.host.Name, &u)
	if err != nil {
		return err
	}
	if suspect {
		f.host.Watched = true
		f.host.Evidence++
	}
	return c.apply(f.host, verdicts)
}

// apply applies verdicts about a host's shapes. URLs that were refused for a shape that is no
// longer spent are reconsidered.
func (c *change) apply(h *frontier.Host, verdicts []trap.Verdict) error {
	var lifted []string
	changes := false
	for _, v := range verdicts {
		set, changed := trap.Spent(h.Traps).Apply(v)
		h.Traps, changes = set, changes || changed
		if changed && v.Trap == 0 {
			lifted = append(lifted, v.Shape)
		}
	}
	if !changes {
		return nil
	}
	h.Evidence++
	h.HostRecord.Spent = true
	c.b.PutHost(h.Name, h.HostRecord)
	c.yields.Write(c.b)
	for _, shape := range lifted { // once none of them applies
		if err := c.readmit(h, shape); err != nil {
			return err
		}
	}
	return nil
}

// readmit reconsiders the URLs that were refused for a shape.
func (c *change) readmit(h *frontier.Host, shape string) error {
	return c.db.EachRefused(h.Name, shape, func(doc vocab.DocID) (bool, error) {
		c.b.DeleteRefused(h.Name, shape, doc)
		r, u, ok, err := c.load(doc)
		if err != nil || !ok || r.State != docindex.Trapped || !r.Trap.IsOfShape() {
			return err == nil, err
		}
		c.uncount(&r)
		c.scope.decide(&u, &r, c.now)
		if err := c.reinsertFollowed(&r, &u); err != nil {
			return false, err
		}
		return true, c.split()
	})
}

// refusal returns the spent shape for which a document of a host is refused, or none. It counts the
// refusal; if the document is selected as a sample instead, it marks that in known.
func (c *change) refusal(
	h *frontier.Host, r *docindex.Record, u *weburl.URL, known *docindex.URLRecord,
) (refusal trap.Verdict, err error) {
	refusal, err = c.spentShape(h, r, u, known)
	if err != nil || refusal.Trap == 0 {
		return refusal, err
	}
	sample, err := c.yields.Refuse(h.Name, refusal)
	if sample {
		known.Sampled, refusal = true, trap.Verdict{}
	}
	return refusal, err
}

// trapped marks a record as refused.
func (c *change) trapped(h *frontier.Host, r *docindex.Record, refusal trap.Verdict) {
	r.State, r.Trap = docindex.Trapped, refusal.Trap
	c.b.PutRefused(h.Name, refusal.Shape, r.Doc)
	set, changed := trap.Spent(h.Traps).Apply(refusal)
	if changed { // a verdict about media is there before any URL of the host was requested
		h.Traps, h.HostRecord.Spent = set, true
		c.b.PutHost(h.Name, h.HostRecord)
		c.yields.Write(c.b)
	}
}

// isBred reports whether the page on which a URL was found is evidence that the URL belongs to a
// trap: the page repeats known text and is of the same host. pf is the page in flight, or nil.
func (d *discovery) isBred(f *Found) (bred bool, pf *flight, err error) {
	source := f.On
	if source == 0 {
		source = f.Related
	}
	if source == 0 {
		source = f.From
	}
	pf = d.flights.inFlight[source]
	if pf == nil || f.Seed || f.Listed || f.Kind != vocab.PageTarget || pf.host.Name != f.URL.Host() {
		return false, nil, nil
	}
	switch {
	case f.From != 0:
		bred = pf.doubtful
	case pf.record.History.Visits == 0:
		bred = pf.finding.Repeats
	case len(pf.host.Traps) > 0:
		u, err := weburl.Parse(pf.record.URL)
		return err == nil && trap.Spent(pf.host.Traps).Matches(&u), pf, err
	}
	return bred, pf, nil
}

// instead returns the URL that replaces a new one with a parameter without effect.
func (d *discovery) instead(f *Found, u *docindex.URLRecord) (rest weburl.URL, ok bool, err error) {
	h := d.frontier.Lookup(f.URL.Host())
	if h == nil || len(h.Traps) == 0 || f.Seed || f.Listed || f.From != 0 {
		return rest, false, nil
	}
	refusal, err := d.yields.Find(h.Name, h.Traps, &f.URL, false)
	if err != nil || refusal.Trap != docindex.SpentParameter ||
		d.yields.HasShown(h.Name, &f.URL, refusal.Shape) {
		return rest, false, err
	}
	sample, err := d.yields.Refuse(h.Name, refusal)
	if err != nil || sample {
		u.Sampled = sample
		return rest, false, err
	}
	rest, err = trap.Without(&f.URL, refusal.Shape)
	return rest, err == nil, err
}

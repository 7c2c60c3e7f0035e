package collective

import (
	"cmp"
	"fmt"
	"maps"
	"slices"

	"anatomy/disk/linkdb"
	"anatomy/disk/parcel"
	"anatomy/engine"
	"anatomy/vocab"
	"anatomy/weburl"
)

// A message has the parts of one link run for the other shards:
//
//   - to the shard of each new document: its URL;
//   - to the shards of the targets of a page: its links to them, with texts. If other shards may
//     have older data about a page, alias or document that was not found, it goes to all of them:
//     the links of a page replace its older ones;
//   - to all shards: a redirect from a page of this shard to one of another.
type message struct {
	*shard
	docs   engine.Documents
	drafts []*draft // by receiving shard
}

// A draft is a parcel that is being built.
type draft struct {
	names   map[vocab.DocID]*parcel.Name
	sources map[vocab.DocID]*parcel.Source
	aliases []parcel.Alias
	missing []vocab.DocID
}

// Send sends the other shards their part of a link run.
func (s *shard) Send(run string, docs engine.Documents) error {
	if len(s.to.Folders) == 1 {
		return nil
	}
	r, err := linkdb.Open(run)
	if err != nil {
		return err
	}
	defer r.Close()
	s.sending.Lock()
	defer s.sending.Unlock()
	n := s.newMessage(docs)
	for _, section := range []func(*linkdb.Run) error{
		n.addNames, n.addSources, n.addAliases, n.addMissing, n.addTexts,
	} {
		if err := section(r); err != nil {
			return err
		}
	}
	return n.send()
}

func (s *shard) newMessage(docs engine.Documents) *message {
	n := &message{shard: s, docs: docs}
	for range s.to.Folders {
		n.drafts = append(n.drafts, newDraft())
	}
	return n
}

func newDraft() *draft {
	return &draft{names: map[vocab.DocID]*parcel.Name{}, sources: map[vocab.DocID]*parcel.Source{}}
}

// others calls fn with the draft for each other shard.
func (n *message) others(fn func(*draft)) {
	for i, d := range n.drafts {
		if i != n.number {
			fn(d)
		}
	}
}

// entryOf returns the entry of a document, cached.
func (n *message) entryOf(doc vocab.DocID) (docEntry, error) {
	if p, ok := n.entries.Get(doc); ok {
		return p, nil
	}
	r, ok, err := n.docs.Get(doc)
	if err != nil {
		return docEntry{}, err
	}
	if !ok {
		return docEntry{}, fmt.Errorf("document %d of shard %d has links and no record", doc, n.number)
	}
	u, err := weburl.Parse(r.URL)
	if err != nil {
		return docEntry{}, err
	}
	p := docEntry{shard: n.to.Of(&u), name: parcel.Name{
		Doc: doc, URL: r.URL, Kind: r.Kind, Depth: r.Depth, Hops: r.Hops,
	}}
	n.entries.Put(doc, p)
	return p, nil
}

// name adds a document to the names of a draft, and returns its entry.
func (d *draft) name(p *docEntry, flags parcel.NameFlags) *parcel.Name {
	name := d.names[p.name.Doc]
	if name == nil {
		copied := p.name
		copied.Flags = flags
		name = &copied
		d.names[name.Doc] = name
	}
	name.Flags &= flags
	return name
}

// source adds a page to the sources of a draft, and returns its entry.
func (d *draft) source(p *docEntry, flags parcel.NameFlags) *parcel.Source {
	d.name(p, flags)
	s := d.sources[p.name.Doc]
	if s == nil {
		s = &parcel.Source{Doc: p.name.Doc}
		d.sources[s.Doc] = s
	}
	return s
}

func (n *message) addNames(r *linkdb.Run) error {
	for name, err := range r.Names() {
		if err != nil {
			return err
		}
		u, err := weburl.Parse(name.URL)
		if err != nil {
			return err
		}
		if n.to.Of(&u) == n.number {
			continue
		}
		p, err := n.entryOf(name.Doc)
		if err != nil {
			return err
		}
		flags := parcel.NameFlags(0)
		if _, noFollowed, _, err := n.docs.Find(u.Fingerprint()); err != nil {
			return err
		} else if noFollowed {
			flags = parcel.NoFollow
		}
		n.drafts[p.shard].name(&p, flags)
	}
	return nil
}

func (n *message) addSources(r *linkdb.Run) error {
	for source, err := range r.Sources() {
		if err != nil {
			return err
		}
		p, err := n.entryOf(source.Doc)
		if err != nil {
			return err
		}
		if p.shard != n.number {
			continue // its own shard sends it
		}
		if n.crossing[source.Doc] {
			n.forwarded = nil // the new links may replace forwarded ones
		}
		isKnown, err := n.wasSent(source.Doc, n.docs)
		if err != nil {
			return err
		}
		if isKnown {
			n.others(func(d *draft) { d.source(&p, parcel.IfKnown) })
		}
		for _, t := range source.Targets {
			target, err := n.entryOf(t.Doc)
			if err != nil {
				return err
			}
			if target.shard == n.number {
				continue
			}
			d := n.drafts[target.shard]
			s := d.source(&p, 0)
			s.Links = append(s.Links, parcel.Link{To: t.Doc, Flags: t.Flags})
			d.name(&target, followed(t.Flags))
			n.sentDocs.add(source.Doc)
		}
	}
	return nil
}

// followed returns the flags of a name at the end of a link with some flags.
func followed(flags vocab.LinkFlags) parcel.NameFlags {
	if flags&vocab.NoFollow != 0 {
		return parcel.NoFollow
	}
	return 0
}

func (n *message) addAliases(r *linkdb.Run) error {
	for a, err := range r.Aliases() {
		if err != nil {
			return err
		}
		p, err := n.entryOf(a.Doc)
		if err != nil {
			return err
		}
		if p.shard != n.number {
			continue
		}
		of, err := n.entryOf(a.Of)
		if err != nil {
			return err
		}
		isKnown, err := n.wasSent(a.Doc, n.docs)
		switch {
		case err != nil:
			return err
		case of.shard != n.number:
			n.sentDocs.add(a.Doc)
			n.others(func(d *draft) {
				d.name(&p, 0)
				d.name(&of, 0)
				d.aliases = append(d.aliases, parcel.Alias{Doc: a.Doc, Of: a.Of})
			})
		case isKnown: // the other shards treat it as a page without links
			n.others(func(d *draft) { d.source(&p, parcel.IfKnown) })
		}
	}
	return nil
}

func (n *message) addMissing(r *linkdb.Run) error {
	for doc, err := range r.NotFound() {
		if err != nil {
			return err
		}
		p, err := n.entryOf(doc)
		if err != nil {
			return err
		}
		isKnown, err := n.wasSent(doc, n.docs)
		if err != nil {
			return err
		}
		if p.shard == n.number && isKnown {
			n.others(func(d *draft) {
				d.name(&p, parcel.IfKnown)
				d.missing = append(d.missing, doc)
			})
		}
	}
	return nil
}

// addTexts adds the texts of the sources' links.
func (n *message) addTexts(r *linkdb.Run) error {
	for a, err := range r.Anchors() {
		if err != nil {
			return err
		}
		target, err := n.entryOf(a.Doc)
		if err != nil {
			return err
		}
		if target.shard == n.number {
			continue
		}
		n.drafts[target.shard].addTexts(a)
	}
	return nil
}

// addTexts adds the anchor texts to the links to a document: one text to one link of each source.
func (d *draft) addTexts(a linkdb.Anchors) {
	have := map[vocab.DocID]bool{} // sources whose link has got its text
	for _, t := range a.Texts {
		flags := vocab.LinkFlags(0)
		if t.OffSite {
			flags = vocab.OffSite
		}
		for _, doc := range t.Sources {
			s := d.sources[doc]
			if s == nil {
				continue
			}
			i := slices.IndexFunc(s.Links, func(l parcel.Link) bool { return l.To == a.Doc })
			if i < 0 {
				continue
			}
			with := parcel.Link{To: a.Doc, Flags: s.Links[i].Flags&vocab.Embedded | flags, Text: t.Text}
			if have[doc] {
				s.Links = append(s.Links, with)
				continue
			}
			s.Links[i], have[doc] = with, true
		}
	}
}

// send sends the drafts that are not empty.
func (n *message) send() error {
	n.moving.RLock()
	defer n.moving.RUnlock()
	for to, d := range n.drafts {
		p := d.parcel()
		if p.To = to; p.Empty() {
			continue
		}
		n.meet.sent()
		if err := n.outbox.Send(p); err != nil {
			return err
		}
		n.shard.sent.Add(1)
		select {
		case n.mail[to] <- struct{}{}:
		default: // a token is already there
		}
	}
	return nil
}

func (d *draft) parcel() *parcel.Parcel {
	p := &parcel.Parcel{Aliases: d.aliases, Missing: d.missing}
	for _, doc := range slices.Sorted(maps.Keys(d.names)) {
		p.Names = append(p.Names, *d.names[doc])
	}
	for _, doc := range slices.Sorted(maps.Keys(d.sources)) {
		s := d.sources[doc]
		slices.SortFunc(s.Links, func(a, b parcel.Link) int {
			return cmp.Or(cmp.Compare(a.To, b.To), cmp.Compare(a.Text, b.Text), cmp.Compare(a.Flags, b.Flags))
		})
		p.Sources = append(p.Sources, *s)
	}
	return p
}

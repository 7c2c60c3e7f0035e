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

// A message holds what other shards need of one link run:
//
//   - to the shard of each document that became known: its URL;
//   - to the shards of the targets of a page: its links there, with texts. Of a page, alias or
//     document that was not found, about which they may have older data, it goes to all: the links of
//     a page replace its older ones;
//   - to all: a redirect from a page of this shard to one of another.
type message struct {
	*shard
	docs   engine.Documents
	drafts []*draft // by receiver
}

// A draft is a parcel in the making.
type draft struct {
	names   map[vocab.DocID]*parcel.Name
	sources map[vocab.DocID]*parcel.Source
	aliases []parcel.Alias
	missing []vocab.DocID
}

// Send sends other shards what they need of a link run.
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

// others calls fn with the drafts to all other shards.
func (n *message) others(fn func(*draft)) {
	for i, d := range n.drafts {
		if i != n.number {
			fn(d)
		}
	}
}

// place returns the place of a document, from a cache.
func (n *message) place(doc vocab.DocID) (place, error) {
	if p, ok := n.places.Get(doc); ok {
		return p, nil
	}
	r, ok, err := n.docs.Get(doc)
	if err != nil {
		return place{}, err
	}
	if !ok {
		return place{}, fmt.Errorf("document %d of shard %d has links and no record", doc, n.number)
	}
	u, err := weburl.Parse(r.URL)
	if err != nil {
		return place{}, err
	}
	p := place{shard: n.to.Of(&u), name: parcel.Name{
		Doc: doc, URL: r.URL, Kind: r.Kind, Depth: r.Depth, Hops: r.Hops,
	}}
	n.places.Put(doc, p)
	return p, nil
}

// name adds a document to the names of a draft.
func (d *draft) name(p *place, flags parcel.NameFlags) *parcel.Name {
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

// source returns the links of a page in a draft.
func (d *draft) source(p *place, flags parcel.NameFlags) *parcel.Source {
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
		p, err := n.place(name.Doc)
		if err != nil {
			return err
		}
		flags := parcel.NameFlags(0)
		if _, held, _, err := n.docs.Find(u.Fingerprint()); err != nil {
			return err
		} else if held {
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
		p, err := n.place(source.Doc)
		if err != nil {
			return err
		}
		if p.shard != n.number {
			continue // its own shard sends it to the others
		}
		if n.crossing[source.Doc] {
			n.forwarded = nil // what follows may take the place of what was forwarded
		}
		told, err := n.wasTold(source.Doc, n.docs)
		if err != nil {
			return err
		}
		if told {
			n.others(func(d *draft) { d.source(&p, parcel.IfKnown) })
		}
		for _, t := range source.Targets {
			target, err := n.place(t.Doc)
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
			n.told.add(source.Doc)
		}
	}
	return nil
}

// followed returns the flags of a name that a link with some flags leads to.
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
		p, err := n.place(a.Doc)
		if err != nil {
			return err
		}
		if p.shard != n.number {
			continue
		}
		of, err := n.place(a.Of)
		if err != nil {
			return err
		}
		told, err := n.wasTold(a.Doc, n.docs)
		switch {
		case err != nil:
			return err
		case of.shard != n.number:
			n.told.add(a.Doc)
			n.others(func(d *draft) {
				d.name(&p, 0)
				d.name(&of, 0)
				d.aliases = append(d.aliases, parcel.Alias{Doc: a.Doc, Of: a.Of})
			})
		case told: // for the others it is a page without links
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
		p, err := n.place(doc)
		if err != nil {
			return err
		}
		told, err := n.wasTold(doc, n.docs)
		if err != nil {
			return err
		}
		if p.shard == n.number && told {
			n.others(func(d *draft) {
				d.name(&p, parcel.IfKnown)
				d.missing = append(d.missing, doc)
			})
		}
	}
	return nil
}

// addTexts adds the texts of the links that the sources have.
func (n *message) addTexts(r *linkdb.Run) error {
	for a, err := range r.Anchors() {
		if err != nil {
			return err
		}
		target, err := n.place(a.Doc)
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

// addTexts gives the links to a document their texts: one link for each.
func (d *draft) addTexts(a linkdb.Anchors) {
	have := map[vocab.DocID]bool{} // sources whose link has a text
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
		default: // it has a token
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

package collection

import (
	"bufio"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"

	"anatomy/control"
	"anatomy/disk/datadir"
	"anatomy/disk/docindex"
	"anatomy/disk/linkdb"
	"anatomy/disk/shards"
	"anatomy/pagerank"
	"anatomy/vocab"
	"anatomy/weburl"
)

// Links are the link databases and rank vectors of a data folder, or of all shards, as of when they
// were opened. They are not safe for concurrent use, see SharedLinks.
type Links struct {
	shards  []*shardLinks
	foreign []*shards.Foreign // by shard
}

// OpenLinks opens the links of the data folder dir, or of all shards, and the ranks of the same
// manifest. It takes no lock.
func OpenLinks(dir string) (*Links, error) {
	dirs, err := allShards(dir)
	if err != nil {
		return nil, err
	}
	foreign, err := shards.ForeignOf(dir, len(dirs))
	if err != nil {
		return nil, err
	}
	l := &Links{foreign: foreign}
	for i := range dirs {
		err := datadir.ReadFiles(dirs[i], func(m datadir.Manifest) error {
			s, err := openShardLinks(dirs[i], m)
			if err == nil {
				s.shard = i
				l.shards = append(l.shards, s)
			}
			return err
		})
		if err != nil {
			return nil, errors.Join(err, l.Close())
		}
	}
	return l, nil
}

// Close closes the files.
func (l *Links) Close() (err error) {
	for _, s := range l.shards {
		err = errors.Join(err, s.set.Close())
	}
	return err
}

// Doc returns the document of a URL, http or https. The first call reads all names, see
// [linkdb.Finder.Docs]. The error wraps control.ErrUnknownURL for a URL without a docID.
func (l *Links) Doc(u weburl.URL) (vocab.DocID, error) {
	for _, s := range l.shards {
		docs, err := s.find.Docs(u.String())
		if err != nil {
			return 0, err
		}
		for _, doc := range docs {
			if l.foreign[s.shard].IsOwn(doc) {
				return l.outer(s, doc), nil
			}
		}
	}
	return 0, fmt.Errorf("%s: %w", u.String(), control.ErrUnknownURL)
}

// Of returns the links of a document, at most n in-links and n out-links. For an alias it returns
// those of its canonical document.
func (l *Links) Of(ctx context.Context, doc vocab.DocID, n int) (*LinkReport, error) {
	if of, ok := l.canonical(doc); ok {
		doc = of
	}
	r := &LinkReport{Doc: doc, Rank: l.rankOf(doc), In: []InLink{}, Out: []OutLink{}}
	var err error
	if r.URL, err = l.url(doc); err != nil {
		return nil, err
	}
	if err := l.in(ctx, r, n); err != nil {
		return nil, err
	}
	return r, l.out(ctx, r, n)
}

// in fills in the in-links of the document.
func (l *Links) in(ctx context.Context, r *LinkReport, n int) error {
	sources, err := l.sources(r.Doc)
	if err != nil {
		return err
	}
	for i := range sources {
		s := &sources[i]
		followed, err := l.followed(s.Doc)
		if err != nil {
			return err
		}
		s.Share = l.damping() * l.rankOf(s.Doc) / float64(max(followed, 1))
		r.FromLinks += s.Share
		if s.OffSite {
			r.OffSite++
		}
		if ctx.Err() != nil {
			return ctx.Err()
		}
	}
	slices.SortStableFunc(sources, func(a, b InLink) int { return cmp.Compare(b.Share, a.Share) })
	r.InCount, r.In = len(sources), sources[:min(n, len(sources))]
	return l.name(ctx, len(r.In), func(i int) (vocab.DocID, *string) { return r.In[i].Doc, &r.In[i].URL })
}

// sources returns the pages that link to a document, ascending by docID.
func (l *Links) sources(doc vocab.DocID) ([]InLink, error) {
	anchors, err := l.anchors(doc)
	if err != nil {
		return nil, err
	}
	texts := map[vocab.DocID]*InLink{}
	for _, t := range anchors.Texts {
		for _, source := range t.Sources {
			in := texts[source]
			if in == nil {
				in = &InLink{Doc: source, Texts: []string{}}
				texts[source] = in
			}
			in.OffSite = in.OffSite || t.OffSite
			if t.Text != "" {
				in.Texts = append(in.Texts, t.Text)
			}
		}
	}
	all := make([]InLink, 0, len(texts))
	for _, in := range texts {
		all = append(all, *in)
	}
	slices.SortFunc(all, func(a, b InLink) int { return cmp.Compare(a.Doc, b.Doc) })
	return all, nil
}

// followed counts the links of a page among which its rank is divided.
func (l *Links) followed(doc vocab.DocID) (n int, err error) {
	source, err := l.linksOf(doc)
	for _, t := range source.Targets {
		if l.follows(t) {
			n++
		}
	}
	return n, err
}

// follows reports whether a link passes on rank: it is followed, and its target exists.
func (l *Links) follows(t linkdb.Target) bool {
	_, exists := l.canonical(t.Doc)
	return exists && t.Flags&vocab.NoFollow == 0
}

func (l *Links) damping() float64 {
	for _, s := range l.shards {
		if s.rank != nil {
			return s.rank.Damping
		}
	}
	return pagerank.DefaultDamping
}

// out fills in the out-links of the document.
func (l *Links) out(ctx context.Context, r *LinkReport, n int) error {
	source, err := l.linksOf(r.Doc)
	if err != nil {
		return err
	}
	r.OutCount = len(source.Targets)
	for _, t := range source.Targets {
		_, exists := l.canonical(t.Doc)
		if !exists {
			r.Broken++
		}
		if len(r.Out) < n {
			r.Out = append(r.Out, OutLink{Doc: t.Doc, NoFollow: t.Flags&vocab.NoFollow != 0, Broken: !exists})
		}
	}
	return l.name(ctx, len(r.Out), func(i int) (vocab.DocID, *string) { return r.Out[i].Doc, &r.Out[i].URL })
}

// name fills in the URLs of n documents. at returns the ith document and where to store its URL.
// Look-ups are in ascending order, which reads each block once.
func (l *Links) name(ctx context.Context, n int, at func(i int) (vocab.DocID, *string)) error {
	order := make([]int, n)
	for i := range order {
		order[i] = i
	}
	slices.SortFunc(order, func(i, j int) int {
		a, _ := at(i)
		b, _ := at(j)
		return cmp.Compare(a, b)
	})
	for _, i := range order {
		if ctx.Err() != nil {
			return ctx.Err()
		}
		doc, url := at(i)
		var err error
		if *url, err = l.url(doc); err != nil {
			return err
		}
	}
	return nil
}

// A BrokenLink is a document that does not exist, with the pages that link to it.
type BrokenLink struct {
	URL   string   `json:"url"`
	Count int      `json:"count"` // number of pages that link to it
	From  []InLink `json:"from"`  // some of them, by document
}

// Broken returns the documents that do not exist, by descending number of links, with at most n of
// the pages that link to each. Documents that match a blocked pattern may exist, and are omitted.
func (l *Links) Broken(ctx context.Context, n int, blocked []string) ([]BrokenLink, error) {
	found := map[vocab.DocID]*BrokenLink{}
	var docs []vocab.DocID
	for source, err := range l.each((*linkdb.Set).AllLinks) {
		if err != nil {
			return nil, err
		}
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		for _, t := range source.Targets {
			if _, ok := l.canonical(t.Doc); ok {
				continue
			}
			b := found[t.Doc]
			if b == nil {
				b = &BrokenLink{From: []InLink{}}
				found[t.Doc] = b
				docs = append(docs, t.Doc)
			}
			if b.Count++; len(b.From) < n {
				b.From = append(b.From, InLink{Doc: source.Doc, Texts: []string{}})
			}
		}
	}
	slices.SortFunc(docs, func(a, b vocab.DocID) int {
		return cmp.Or(cmp.Compare(found[b].Count, found[a].Count), cmp.Compare(a, b))
	})
	all := make([]BrokenLink, len(docs))
	for i, doc := range docs {
		all[i] = *found[doc]
	}
	if err := l.nameBroken(ctx, docs, all); err != nil {
		return nil, err
	}
	return slices.DeleteFunc(all, func(b BrokenLink) bool {
		u, err := weburl.Parse(b.URL)
		return err == nil && slices.ContainsFunc(blocked, func(p string) bool { return weburl.MatchPattern(p, &u) })
	}), nil
}

// nameBroken fills in the URLs and the anchor texts of the links.
func (l *Links) nameBroken(ctx context.Context, docs []vocab.DocID, all []BrokenLink) error {
	if err := l.name(ctx, len(all), func(i int) (vocab.DocID, *string) { return docs[i], &all[i].URL }); err != nil {
		return err
	}
	var from []*InLink
	for i, doc := range docs {
		known, err := l.sources(doc)
		if err != nil {
			return err
		}
		for j := range all[i].From {
			in := &all[i].From[j]
			if at, ok := slices.BinarySearchFunc(known, in.Doc, func(k InLink, doc vocab.DocID) int { return cmp.Compare(k.Doc, doc) }); ok {
				in.Texts, in.OffSite = known[at].Texts, known[at].OffSite
			}
			from = append(from, in)
		}
	}
	return l.name(ctx, len(from), func(i int) (vocab.DocID, *string) { return from[i].Doc, &from[i].URL })
}

// Seeds returns the canonical documents of the URLs that crawls start from. It fails with a
// *datadir.BusyError while one runs.
func (l *Links) Seeds() (map[vocab.DocID]bool, error) {
	seeds := map[vocab.DocID]bool{}
	for _, s := range l.shards {
		err := docindex.Use(s.dir, func(db *docindex.DB) error {
			docs, err := db.Seeds()
			for _, doc := range docs {
				doc = l.outer(s, doc)
				if of, ok := l.canonical(doc); ok {
					doc = of
				}
				seeds[doc] = true
			}
			return err
		})
		if err != nil {
			return nil, err
		}
	}
	return seeds, nil
}

// Orphans calls fn for every page without in-links from other pages: only seeds and sitemaps name
// it.
func (l *Links) Orphans(ctx context.Context, fn func(doc vocab.DocID, url string) error) error {
	linked := make([][]bool, len(l.shards)) // by shard and docID there
	for source, err := range l.each((*linkdb.Set).Links) {
		if err != nil {
			return err
		}
		for _, t := range source.Targets {
			if t.Flags&vocab.NoFollow == 0 {
				shard, inner := t.Doc.Shard() // canonical, so the shard exists
				linked[shard] = grown(linked[shard], inner)
				linked[shard][inner] = true
			}
		}
		if ctx.Err() != nil {
			return ctx.Err()
		}
	}
	for name, err := range l.names() {
		if err != nil {
			return err
		}
		shard, inner := name.Doc.Shard()
		if !l.isSource(name.Doc) || inner < vocab.DocID(len(linked[shard])) && linked[shard][inner] {
			continue
		}
		if err := fn(name.Doc, name.URL); err != nil {
			return err
		}
	}
	return nil
}

// grown returns a table that has a place for doc.
func grown(table []bool, doc vocab.DocID) []bool {
	return append(table, make([]bool, max(0, int(doc)+1-len(table)))...)
}

// Export writes the graph that PageRank is computed on, one link per line: source, tab, target; and
// a line "# node" with the page for each page without out-links. Nodes are docIDs or, if urls is
// set, URLs, which are then all kept in memory.
func (l *Links) Export(ctx context.Context, w io.Writer, urls bool) error {
	end := func(line []byte, doc vocab.DocID) []byte { return strconv.AppendUint(line, uint64(doc), 10) }
	if urls {
		names := map[vocab.DocID]string{}
		for name, err := range l.names() {
			if err != nil {
				return err
			}
			names[name.Doc] = name.URL
		}
		end = func(line []byte, doc vocab.DocID) []byte { return append(line, names[doc]...) }
	}
	b := bufio.NewWriterSize(w, 1<<16)
	var line []byte
	for source, err := range l.each((*linkdb.Set).Links) {
		if err = cmp.Or(err, ctx.Err()); err != nil {
			return err
		}
		alone := true
		for _, t := range source.Targets {
			if t.Flags&vocab.NoFollow != 0 {
				continue
			}
			alone = false
			line = append(end(line[:0], source.Doc), '\t')
			line = append(end(line, t.Doc), '\n')
			if _, err := b.Write(line); err != nil {
				return err
			}
		}
		if alone {
			line = append(end(append(line[:0], "# node "...), source.Doc), '\n')
			if _, err := b.Write(line); err != nil {
				return err
			}
		}
	}
	return b.Flush()
}

package upkeep

import (
	"cmp"
	"slices"

	"anatomy/disk/docindex"
	"anatomy/disk/linkdb"
	"anatomy/vocab"
)

// A linkSplitter writes the link run of each shard. In each section, records of the shard's own
// documents come before those of mentioned documents, as docIDs do in a shard: so every section is
// read twice.
type linkSplitter struct {
	*division
	db      *docindex.DB
	run     *linkdb.Run // all links of the folder
	set     *linkdb.Set // the same
	writers []*linkdb.Writer
	keepers []int // shards of the current link
}

// splitLinks writes the links of a folder as one run per shard, to paths.
func splitLinks(d *division, db *docindex.DB, set *linkdb.Set, from string, paths []string) error {
	run, err := linkdb.Open(from)
	if err != nil {
		return err
	}
	defer run.Close()
	s := &linkSplitter{division: d, db: db, run: run, set: set}
	defer func() {
		for _, w := range s.writers {
			w.Abort()
		}
	}()
	for _, path := range paths {
		w, err := linkdb.Create(path)
		if err != nil {
			return err
		}
		s.writers = append(s.writers, w)
	}
	sections := []func(own bool) error{s.names, s.aliases, s.notFound, s.noIndex, s.links, s.anchors}
	for _, section := range sections {
		for _, own := range [...]bool{true, false} {
			if err := section(own); err != nil {
				return err
			}
		}
	}
	for len(s.writers) > 0 {
		if err := s.writers[0].Finish(); err != nil {
			return err
		}
		s.writers = s.writers[1:]
	}
	return nil
}

// each calls fn with the shard of a document or, if own is not set, with the shards that mention
// it.
func (s *linkSplitter) each(own bool, doc vocab.DocID, fn func(shard int, inner vocab.DocID)) {
	for shard := range s.writers {
		if (shard == s.of(doc)) == own {
			if inner := s.inner(shard, doc); inner != 0 {
				fn(shard, inner)
			}
		}
	}
}

func (s *linkSplitter) names(own bool) error {
	return s.db.Each(1, func(r docindex.Record) error {
		s.each(own, r.Doc, func(shard int, inner vocab.DocID) {
			s.writers[shard].Name(linkdb.Name{Doc: inner, URL: r.URL})
		})
		return nil
	})
}

func (s *linkSplitter) aliases(own bool) error {
	for a, err := range s.run.Aliases() {
		if err != nil {
			return err
		}
		s.each(own, a.Doc, func(shard int, inner vocab.DocID) {
			s.writers[shard].Alias(linkdb.Alias{Doc: inner, Of: s.inner(shard, a.Of)})
		})
	}
	return nil
}

func (s *linkSplitter) notFound(own bool) error {
	for doc, err := range s.run.NotFound() {
		if err != nil {
			return err
		}
		s.each(own, doc, func(shard int, inner vocab.DocID) { s.writers[shard].NotFound(inner) })
	}
	return nil
}

func (s *linkSplitter) noIndex(own bool) error {
	for doc, err := range s.run.NoIndex() {
		if err != nil {
			return err
		}
		s.each(own, doc, func(shard int, inner vocab.DocID) { s.writers[shard].NoIndex(inner) })
	}
	return nil
}

// links writes all links of a page to its shard, and links to the shards of their targets.
func (s *linkSplitter) links(own bool) error {
	targets := make([][]linkdb.Target, len(s.writers))
	for source, err := range s.run.Sources() {
		if err != nil {
			return err
		}
		for shard := range targets {
			targets[shard] = targets[shard][:0]
		}
		for _, t := range source.Targets {
			for _, shard := range s.keepersOf(source.Doc, t.Doc) {
				inner := linkdb.Target{Doc: s.inner(shard, t.Doc), Flags: t.Flags}
				targets[shard] = append(targets[shard], inner)
			}
		}
		s.each(own, source.Doc, func(shard int, inner vocab.DocID) {
			found := targets[shard]
			if !own && len(found) == 0 {
				return
			}
			slices.SortFunc(found, func(a, b linkdb.Target) int { return cmp.Compare(a.Doc, b.Doc) })
			s.writers[shard].Links(linkdb.Source{Doc: inner, Targets: found})
		})
	}
	return nil
}

// keepersOf returns the shards that keep a link. The result is valid until the next call.
func (s *linkSplitter) keepersOf(source, target vocab.DocID) []int {
	s.keepers = s.holders(s.keepers, s.set, source, target)
	return s.keepers
}

// anchors writes the anchor texts of the links that a shard keeps.
func (s *linkSplitter) anchors(own bool) error {
	for a, err := range s.run.Anchors() {
		if err != nil {
			return err
		}
		s.each(own, a.Doc, func(shard int, inner vocab.DocID) {
			part := linkdb.Anchors{Doc: inner}
			for _, text := range a.Texts {
				if text.Sources = s.sourcesIn(shard, a.Doc, text.Sources); len(text.Sources) > 0 {
					part.Texts = append(part.Texts, text)
				}
			}
			if len(part.Texts) > 0 {
				s.writers[shard].Anchors(part)
			}
		})
	}
	return nil
}

// sourcesIn returns the sources of the links to a target that a shard keeps.
func (s *linkSplitter) sourcesIn(
	shard int, target vocab.DocID, sources []vocab.DocID,
) (in []vocab.DocID) {
	for _, source := range sources {
		if slices.Contains(s.keepersOf(source, target), shard) {
			in = append(in, s.inner(shard, source))
		}
	}
	slices.Sort(in)
	return in
}

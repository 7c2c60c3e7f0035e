package searcher

import (
	"math/bits"
	"slices"

	"anatomy/disk/translations"
	"anatomy/searcher/internal/presentation"
	"anatomy/searcher/internal/snapshot"
	"anatomy/searcher/internal/versions"
	"anatomy/searcher/scoring"
	"anatomy/vocab"
)

// foldVersions returns the ranked pages with one version of each page.
func foldVersions(p *pass) ([]scoring.Candidate, error) {
	if !foldsVersions(p) {
		return p.ranked, nil
	}
	missing := map[vocab.DocID]int{} // words, by page
	if p.prose {
		words, held, err := heldBy(p, p.ranked)
		if err != nil {
			return nil, err
		}
		for i, c := range p.ranked {
			missing[c.Doc] = len(words) - bits.OnesCount64(held[i])
		}
	} else if p.relaxed != nil {
		for doc, words := range p.relaxed.missing {
			missing[doc] = len(words)
		}
	}
	own, ofCollection := p.languages()
	languages := versions.Readable(p.query.Root, slices.Concat(own, splitLanguages(p.req.Reads), ofCollection))
	return p.collapser.Versions(p.ranked, func(c scoring.Candidate) presentation.Version {
		_, _, own := p.view.versionsOf(c.Doc)
		if own == nil {
			return presentation.Version{}
		}
		return presentation.Version{
			Page: p.view.versionGroup(c.Doc), Preference: versions.Preference(languages, own), Missing: missing[c.Doc],
		}
	}), nil
}

// foldsVersions reports whether the versions of a page are one result.
func foldsVersions(p *pass) bool {
	known := p.view.versions != nil || slices.ContainsFunc(p.view.shards, func(snap *snapshot.Snapshot) bool { return snap.Versions != nil })
	return known && !p.req.Ungrouped && !versions.NamesLanguage(p.root)
}

// versionGroup returns the first version of a document's group, or 0 if it has no other.
func (v *view) versionGroup(doc vocab.DocID) vocab.DocID {
	if g, base, own := v.versionsOf(doc); own != nil {
		return base + g[0].Doc
	}
	return 0
}

// addVersions sets the versions of results in other languages that are in the index.
func addVersions(p *pass, results []Result) error {
	for i := range results {
		r := &results[i]
		g, base, own := p.view.versionsOf(r.Doc)
		for _, v := range versions.Others(g, own) {
			part, ord, err := p.view.locate(base + v.Doc)
			if err != nil { // it is no longer in the index
				continue
			}
			info, err := part.Record(ord)
			if err != nil {
				return err
			}
			if prefs := p.req.Preferences; !info.Crawled || prefs != nil && versions.IsBlocked(info.URL, prefs.Block) {
				continue
			}
			r.Versions = append(r.Versions, Version{info.Doc, info.URL, v.Lang})
		}
	}
	return nil
}

// versionsOf returns the versions of a document, the base of their DocIDs, and the document's own version.
func (v *view) versionsOf(doc vocab.DocID) (g translations.Group, base vocab.DocID, own *translations.Version) {
	if v.versions != nil {
		g = v.versions.Of(doc)
	} else if snap := v.shard(doc); snap != nil {
		base = snap.Base
		g = snap.Versions.Of(doc - base)
	}
	return g, base, versions.Own(g, doc-base)
}

package indexer

import (
	"slices"

	"anatomy/indexer/internal/space"
	"anatomy/vocab"
	"anatomy/weburl"
)

// An extraction collects the results of one pass over a page, in any format. Its parts reuse their
// memory for the next page. An extraction must not be copied after its first use.
type extraction struct {
	links     linkCollector
	relations relations
	text      textCollector
	meta      metadata
	sample    sampler
	scripts   scripts
}

// startAt prepares for the page at url.
func (x *extraction) startAt(url string) error {
	page, err := weburl.Parse(url)
	if err != nil {
		return err
	}
	x.links.reset(page)
	x.relations = relations{}
	x.text.reset()
	x.meta.reset()
	x.sample.reset(url)
	x.scripts = scripts{}
	return nil
}

// append adds text to the current block and to the open link.
func (x *extraction) append(s []byte, as style) { x.text.append(s, as, &x.links) }

// endBlock ends the current block. It sets the links of end.
func (x *extraction) endBlock(end blockContext) {
	x.links.endBlock()
	end.links = len(x.links.links)
	x.text.endBlock(end)
}

// end ends the open link and the current block.
func (x *extraction) end() {
	x.links.end()
	x.endBlock(blockContext{})
}

// document returns the Document of the page that was read. urlText is the text of its URL field.
func (x *extraction) document(page *vocab.Page, urlText []byte) *Document {
	t, m := &x.text, &x.meta
	bodyHits := len(t.hits)
	bodyTerms := t.bodyTerms - markMenus(t.blocks, t.hits)
	markContents(t.blocks)
	genre := x.genre()
	bodySketch, sketched := t.sketch.text()
	t.addField(vocab.Title, m.title)
	var sketch vocab.Sketch
	if m.medium.Service() {
		bodySketch, sketched = t.names, true // services of one provider differ in names alone
	}
	if sketched {
		sketch = vocab.MakeSketch(titleHash(&t.terms, t.hits[bodyHits:]), bodySketch)
	}
	t.addField(vocab.Meta, m.description, m.keywords)
	t.addField(vocab.URLWord, urlText)
	t.addLabels(m.labels.All())
	t.addParts()
	t.addAccented()
	d := &Document{
		Info: vocab.DocInfo{
			Doc:         page.Doc,
			URL:         page.URL,
			Title:       space.Cut(m.title, maxTitle),
			Description: space.Cut(m.description, maxDescription),
			Fetched:     page.Fetched,
			Words:       bodyTerms,
			Crawled:     true,
			Medium:      m.medium,
			Genre:       genre,
			Date:        m.dates.day(page),
			Sketch:      sketch,
			Controls:    m.controls,
			Text:        markedText(t.text[:t.textEnd], t.blocks),
		},
		NoIndex:  m.noIndex,
		NoFollow: m.noFollow,
		Redirect: x.links.redirect,
		Related:  x.relations.followed(m.noFollow),
		Icon:     x.relations.icon,
		Targets:  slices.Clone(x.links.followed(m.noFollow)),
		key:      x.links.page.Key(),
		Sample:   x.sample.sample(),
		terms:    t.terms.clone(),
		hits:     slices.Clone(t.hits),
	}
	d.Info.Lang = languageOf(m.lang, page.Language, d.Info.Text, &t.terms.termList)
	if m.controls.NoSnippet() {
		d.Info.Text, d.Info.Description = "", ""
	}
	d.Links, d.to = x.links.copyLinks(m.noFollow)
	if x.relations.canonical != x.links.page.String() {
		d.Canonical = x.relations.canonical
	}
	return d
}

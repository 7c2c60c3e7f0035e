package indexer

import (
	"bytes"
	"slices"

	"github.com/cespare/xxhash/v2"

	"anatomy/analysis"
	"anatomy/indexer/internal/layout"
	"anatomy/indexer/internal/space"
	"anatomy/vocab"
)

// maxText bounds DocInfo.Text, in bytes. Later terms are still indexed.
const maxText = 1 << 20

// blockGap is the number of positions left free between two blocks. No phrase matches across it,
// and terms of different blocks are a little less near.
const blockGap = 2

// maxKept bounds the memory that is kept for the next page, in terms or bytes of text. Few pages
// need more.
const maxKept = 1 << 20

// A style has the attributes of text that decide its hits, and whether the text is shown.
type style struct {
	kind  vocab.HitType
	link  bool // to another page
	inner bool // to a part of the page itself

	withheld bool // the text is not shown
	pre      bool // the lines of the text are kept
}

// plainStyle is the style of running text.
var plainStyle = style{kind: vocab.Plain}

// A span sets the style of the text from start to the next span.
type span struct {
	start int // offset in the block
	style style
}

// A blockContext describes the end of a block.
type blockContext struct {
	links  int               // links of the page so far
	named  bool              // the block is a heading below the first level, or a term that is defined
	menu   bool              // the block is in an element of navigation
	mark   vocab.SectionMark // of the section that the block begins, if Level is not 0
	layout byte              // a mark of [vocab.LineMark], or 0
	signs  int               // length of the text before links that are signs of the heading, or -1
}

// A textCollector collects the text of a page, block by block, and the hits of its terms.
//
// Between blocks, text[:textEnd] is the text to keep and blockStart is where the next block begins.
// Within a block, spans give text[blockStart:] its styles. When the block ends its terms become hits.
// Hits are in the order of [vocab.Hit.Before]: body first, then the other fields.
type textCollector struct {
	text       []byte // blocks, each followed by "\n"
	textEnd    int    // text[:textEnd] is kept
	full       bool   // maxText is reached
	blockStart int    // offset of the current block in text
	space      bool   // white space was seen since the last text
	lines      layout.Lines
	spans      []span // of the current block
	withheld   bool   // some of spans are
	code       bool   // the block is code

	blocks      []textBlock
	block       textBlock // the current one
	linksBefore int       // links of the page before the current block

	tokenizer analysis.Tokenizer
	onTerm    func(term []byte, start, end int) // t.addTerm, made once

	source []byte // that onTerm gets the terms of
	signed []byte // signed term of a word

	terms     termTable
	hits      []occurrence
	position  uint32 // of the next term
	nextSpan  int    // the next of spans that no term has reached
	style     style  // of the span that terms have reached
	bodyTerms uint32
	sketch    sketcher
	names     uint64 // hash of the terms of headings and code
	parts     parts
	accents   analysis.Accents // numbers are indexes of hits
}

// reset prepares for the next page and keeps the memory, unless a large page used it.
func (t *textCollector) reset() {
	if cap(t.text) > 4*maxKept || cap(t.hits) > maxKept || cap(t.terms.slots) > maxKept {
		*t = textCollector{}
	}
	*t = textCollector{
		text: t.text[:0], spans: t.spans[:0], blocks: t.blocks[:0], hits: t.hits[:0],
		tokenizer: t.tokenizer, onTerm: t.onTerm, terms: t.terms, parts: t.parts, accents: t.accents, signed: t.signed,
	}
	t.terms.reset()
	t.accents.Reset()
	t.parts.reset()
	if t.onTerm == nil {
		t.onTerm = t.addTerm
	}
}

// append adds text to the current block, its white space folded, and to the text of the open link.
func (t *textCollector) append(s []byte, as style, links *linkCollector) {
	as.link, as.inner = links.open(), links.inner
	for i := 0; i < len(s); {
		if n := space.At(s, i); n > 0 {
			t.space = true
			t.lines.Space(s[i])
			i += n
			continue
		}
		n := space.FoldedLength(s[i:])
		t.appendPiece(s[i:i+n], as, links)
		i += n
	}
}

func (t *textCollector) appendPiece(piece []byte, as style, links *linkCollector) {
	start := t.blockStart
	if len(t.text) > start {
		t.appendSpace(as.pre)
	} else if as.pre {
		t.text, t.code = t.lines.AppendStart(t.text), true
	}
	at := len(t.text) - start
	t.withheld = t.withheld || as.withheld
	if n := len(t.spans); n == 0 || t.spans[n-1].style != as {
		t.spans = append(t.spans, span{at, as})
	}
	t.text = append(t.text, piece...)
	if as.link {
		links.appendText(piece, t.space)
	}
	t.space = false
}

// appendSpace appends the white space since the last text of the block.
func (t *textCollector) appendSpace(pre bool) {
	text, line := t.lines.Append(t.text)
	switch {
	case pre && line:
		t.text = text
	case t.space:
		t.text = append(t.text, ' ')
	}
}

// breakLine separates the words before from those after, within the block, and lines of code.
func (t *textCollector) breakLine() {
	t.breakWord()
	t.lines.Break()
}

// breakWord separates the words before from those after, within the block.
func (t *textCollector) breakWord() { t.space = true }

// endBlock ends the current block and adds the hits of its terms. A block without terms is dropped.
func (t *textCollector) endBlock(end blockContext) {
	t.space, t.lines = false, layout.Lines{}
	start := t.blockStart
	if len(t.text) == start {
		return
	}
	if t.code {
		t.text, t.code = append(t.text, vocab.LineMark), false
	}
	terms, hits := t.bodyTerms, len(t.hits)
	t.eachTerm(t.text[start:])
	if !end.menu {
		t.addSigns(t.text[start:], t.bodyTerms == terms)
	}
	if t.bodyTerms == terms {
		t.text, t.spans, t.withheld = t.text[:start], t.spans[:0], false
		return
	}
	if t.withheld {
		t.cutWithheld()
	}
	t.spans = t.spans[:0]
	if end.named && t.bodyTerms == terms+1 {
		t.parts.addHeading(t.hits[hits].term)
	}
	t.position += blockGap
	t.keepText(start)
	b := &t.block
	b.hits, b.text, b.terms, b.menu = len(t.hits), len(t.text), int(t.bodyTerms-terms), end.menu
	b.layout = end.layout
	if !end.menu && end.mark.Level > 0 {
		b.mark = end.mark
		markSigns(t.blocks, end.signs)
	}
	b.links, t.linksBefore = end.links-t.linksBefore, end.links
	t.blocks = append(t.blocks, *b)
	t.block = textBlock{}
}

// cutWithheld cuts the text that is not shown out of the current block.
func (t *textCollector) cutWithheld() {
	block := t.text[t.blockStart:]
	kept := block[:0]
	for i, s := range t.spans {
		end := len(block)
		if i+1 < len(t.spans) {
			end = t.spans[i+1].start
		}
		if !s.style.withheld {
			kept = append(kept, block[s.start:end]...)
		}
	}
	t.text, t.withheld = t.text[:t.blockStart+len(bytes.TrimSpace(kept))], false
	copy(block, bytes.TrimSpace(kept))
}

// keepText keeps the block text[start:] for DocInfo.Text, up to maxText, unless all of it was cut.
func (t *textCollector) keepText(start int) {
	end := len(t.text)
	if end == start {
		return
	}
	if end > maxText && !t.full {
		t.full = true
		t.textEnd = max(t.textEnd, bytes.LastIndexByte(t.text[:maxText], ' '))
	}
	if t.full {
		t.text = t.text[:t.textEnd]
		t.blockStart = t.textEnd
		return
	}
	t.textEnd = end
	t.text = append(t.text, '\n')
	t.blockStart = end + 1
}

// eachTerm adds the terms of a block or field.
func (t *textCollector) eachTerm(text []byte) {
	t.source, t.nextSpan = text, 0
	t.tokenizer.EachTerm(text, t.onTerm)
}

// addTerm adds a term of the current block or field.
func (t *textCollector) addTerm(term []byte, start, end int) {
	for t.nextSpan < len(t.spans) && t.spans[t.nextSpan].start <= start {
		t.style = t.spans[t.nextSpan].style
		t.nextSpan++
	}
	if t.position > vocab.MaxPosition {
		return
	}
	hash := xxhash.Sum64(term)
	hit := vocab.MakeHit(t.position, t.style.kind, false, vocab.NormalSize)
	known := t.terms.len()
	number := t.terms.number(term, hash)
	t.hits = append(t.hits, occurrence{number, hit})
	if len(term) < end-start {
		t.accents.Add(t.source[start:end], len(t.hits)-1)
	}
	if word := t.source[start:end]; analysis.HasInnerCapital(word) { // the term may have come before without
		t.parts.addSubwordsOnce(number, word)
	} else if t.terms.len() > known {
		t.parts.addSubwords(word)
	}
	t.addSigned(term, start, end, hit)
	t.position++
	t.bodyTerms++
	if t.style.kind.IsHeading() || t.style.kind == vocab.Code {
		t.names = (t.names ^ hash) * hashFactor
	}
	if t.style.link {
		t.block.linked++
	} else {
		t.sketch.add(hash)
	}
	if t.style.inner {
		t.block.inner++
	}
	t.block.heading = t.block.heading || t.style.kind.IsHeading()
}

// addSigned adds the signed term of a word, as c++ or --force, or of the first word of a number, as 2.0,
// as a name of a part. In titles and headings, and of a letter anywhere, it has a hit at the position of
// the word, too. The sign of a link to a heading does not belong to a word.
func (t *textCollector) addSigned(term []byte, start, end int, hit vocab.Hit) {
	text := t.source
	if t.nextSpan < len(t.spans) {
		if next := &t.spans[t.nextSpan]; next.style.withheld || next.style.inner {
			text = text[:max(end, next.start)]
		}
	}
	t.signed = analysis.AppendSigned(t.signed[:0], text, term, start, end)
	if len(t.signed) == 0 {
		t.signed = analysis.AppendNumber(t.signed, t.source, start, end)
	}
	if len(t.signed) == 0 || t.parts.full() {
		return
	}
	known := t.terms.len()
	number := t.terms.number(t.signed, xxhash.Sum64(t.signed))
	if t.terms.len() > known {
		t.parts.addHeading(number)
	}
	if len(term) == 1 && analysis.IsLetter(term[0]) || hit.Type() == vocab.Title || hit.Type().IsHeading() {
		t.hits = append(t.hits, occurrence{number, hit})
	}
}

// addSigns adds the signs alone that are all of a block, or of code in it, at positions behind its words.
func (t *textCollector) addSigns(block []byte, whole bool) {
	before := len(t.hits)
	isCode := func(i int) bool { return 0 <= i && i < len(t.spans) && t.spans[i].style.kind == vocab.Code }
	for i, s := range t.spans {
		end := len(block)
		if i+1 < len(t.spans) {
			end = t.spans[i+1].start
		}
		if s.style.pre || s.style.withheld || !whole && (!isCode(i) || isCode(i-1) || isCode(i+1)) {
			continue
		}
		analysis.EachSigns(block[s.start:end], func(signs []byte) {
			term := t.terms.number(signs, xxhash.Sum64(signs))
			known := slices.ContainsFunc(t.hits[before:], func(o occurrence) bool { return o.term == term })
			if !known && t.position <= vocab.MaxPosition {
				hit := vocab.MakeHit(t.position, s.style.kind, false, vocab.NormalSize)
				t.hits = append(t.hits, occurrence{term, hit})
				t.position++
			}
		})
	}
}

// addField adds the terms of a field other than the body. No phrase matches across two texts.
func (t *textCollector) addField(kind vocab.HitType, texts ...[]byte) {
	t.position = 0
	for _, text := range texts {
		t.spans = append(t.spans[:0], span{0, style{kind: kind}})
		t.eachTerm(text)
		t.position += blockGap
	}
}

// addLabels adds the terms of labels as names of parts.
func (t *textCollector) addLabels(all []vocab.Label) {
	for _, l := range all {
		term := []byte(l.Term())
		t.parts.addHeading(t.terms.number(term, xxhash.Sum64(term)))
	}
}

// addAccented adds the accented terms of a page in Vietnamese.
func (t *textCollector) addAccented() {
	t.accents.Each(func(term []byte, hit int) {
		t.hits = append(t.hits, occurrence{t.terms.number(term, xxhash.Sum64(term)), t.hits[hit].hit})
	})
}

// addParts adds the field of the names of the page's parts.
func (t *textCollector) addParts() {
	t.hits = t.parts.appendHits(t.hits, &t.terms, &t.tokenizer)
}

package vocab

import "fmt"

// A Hit is one occurrence of a term in a document (BP98 §4.2.5). The paper packs a hit into two bytes,
// 12 bits of them for the position, and clamps positions at 4,096. A position has 24 bits here, so that
// phrases match on long pages, and gap coding reduces a hit to about two bytes on disk.
//
//	bits 31..8  position   within the field, in terms from 0
//	bits  7..4  type       HitType
//	bit   3     capital    0; in older indexes whether the word begins with an upper-case letter
//	bits  2..0  size       anchors: log2 of the number of links with this text, at most 7; other
//	                       text: NormalSize; in older indexes the font size relative to the page
//
// Capitals and sizes of fonts did not help to find pages (doc/design/paper.md, §4.2.5). Text in a larger
// font is Emphasis.
//
// Hits sort as integers by position, then type. The hits of one document and term are sorted by field
// first: see [Hit.Before].
type Hit uint32

// Bounds of the field of anchors. The position of a term in it is
//
//	bits 23..10  text    number of the anchor text, the commonest is 0
//	bits  9..5   words   number of terms of the text, minus one
//	bits  4..0   index   of the term in the text
//
// So a hit has the length of its text, and no phrase matches across two texts.
const (
	MaxAnchorTexts = 1 << 14
	MaxAnchorWords = 32 // terms of one text; further ones are not indexed
)

// AnchorPosition returns the position of a term in the field of anchors. text is below MaxAnchorTexts,
// words from 1 to MaxAnchorWords, index below words.
func AnchorPosition(text, words, index int) uint32 {
	return uint32(text<<10 | (words-1)<<5 | index)
}

// AnchorText returns the arguments of [AnchorPosition] for a hit in the field of anchors.
func (h Hit) AnchorText() (text, words, index int) {
	p := int(h.Position())
	return p >> 10, p>>5&31 + 1, p & 31
}

// MaxPartWords is the maximum of terms in the name of a page's part: the target of a fragment, or a
// heading of one term. Longer names are not indexed. The position of a term in the field of parts is
//
//	bits 23..4  part    0 for all names of one term, from 1 for the others
//	bits  3..2  words   number of terms of the name, minus one
//	bits  1..0  index   of the term in the name
const MaxPartWords = 4

// PartPosition returns the position of a term in the field of parts. part is below 2^20, words from 1 to
// MaxPartWords, index below words.
func PartPosition(part, words, index int) uint32 { return uint32(part<<4 | (words-1)<<2 | index) }

// MaxPosition is the largest position of a Hit. Terms after it are not indexed.
const MaxPosition = 1<<24 - 1

// A HitType is the part of a document in which a term occurs.
type HitType uint8

// The hit types. The order is part of the formats on disk.
const (
	Plain    HitType = iota // running text
	Emphasis                // b, strong, em, i, mark, dfn and the like, larger fonts
	Heading1
	Heading2
	Heading3 // h3 to h6, and table captions
	Code     // code, kbd, samp, tt, pre
	Alt      // alt text of an image
	Menu     // navigation
	Title
	Meta      // meta description and keywords
	URLWord   // host and path of the URL
	Anchor    // text of a link from the same site
	AnchorOut // text of a link from another site
	Part      // name of a part of the page
	HitTypes  // number of hit types
)

var hitTypeNames = [HitTypes]string{
	"plain", "emphasis", "h1", "h2", "h3", "code", "alt", "menu", "title", "meta", "url", "anchor", "anchor-out", "part",
}

func (t HitType) String() string {
	if t < HitTypes {
		return hitTypeNames[t]
	}
	return fmt.Sprintf("type %d", uint8(t))
}

// IsHeading reports whether t is the type of a heading.
func (t HitType) IsHeading() bool { return t >= Heading1 && t <= Heading3 }

// A Field is a part of a document with positions of its own. A phrase matches within one field.
type Field uint8

// The fields. The body has every hit type up to Menu, in the order of the text. Anchors come from other
// pages and are last.
const (
	Body Field = iota
	TitleField
	MetaField
	URLField
	PartField
	AnchorField
	Fields // number of fields
)

// Field returns the field of hits of type t.
func (t HitType) Field() Field { return fieldOf[t&15] }

var fieldOf = [16]Field{
	Title: TitleField, Meta: MetaField, URLWord: URLField, Part: PartField, Anchor: AnchorField, AnchorOut: AnchorField,
}

// NormalSize is the size of plain text.
const NormalSize = 3

// MakeHit packs a hit. The position is at most MaxPosition, the size at most 7.
func MakeHit(position uint32, t HitType, capital bool, size uint8) Hit {
	h := Hit(position<<8) | Hit(t)<<4 | Hit(size&7)
	if capital {
		h |= 1 << 3
	}
	return h
}

// Position returns the position within the field.
func (h Hit) Position() uint32 { return uint32(h >> 8) }

// Type returns the hit type.
func (h Hit) Type() HitType { return HitType(h>>4) & 15 }

// Field returns the field.
func (h Hit) Field() Field { return h.Type().Field() }

// Capital reports whether the word begins with an upper-case letter, in an older index.
func (h Hit) Capital() bool { return h&(1<<3) != 0 }

// Size returns log2 of the number of links of anchor text. For other text it has no meaning.
func (h Hit) Size() uint8 { return uint8(h & 7) }

// Before reports whether h sorts before other in a posting: by field, then position, then type.
func (h Hit) Before(other Hit) bool {
	if f, g := h.Field(), other.Field(); f != g {
		return f < g
	}
	return h < other
}

// A FieldPosition is a field and a position in it. FieldPositions sort as integers by field, then
// position, so those of a posting ascend.
//
//	bits 26..24  field
//	bits 23..0   position
type FieldPosition uint32

// FieldPosition returns the hit's field and position.
func (h Hit) FieldPosition() FieldPosition { return MakeFieldPosition(h.Field(), h.Position()) }

// MakeFieldPosition packs a position in a field.
func MakeFieldPosition(f Field, position uint32) FieldPosition {
	return FieldPosition(f)<<24 | FieldPosition(position)
}

// Field returns the field.
func (p FieldPosition) Field() Field { return Field(p >> 24) }

// Position returns the position within the field.
func (p FieldPosition) Position() uint32 { return uint32(p) & MaxPosition }

func (h Hit) String() string {
	capital := ""
	if h.Capital() {
		capital = "^"
	}
	return fmt.Sprintf("%s%s@%d/%d", h.Type(), capital, h.Position(), h.Size())
}

package vocab

import "fmt"

// A Hit is one occurrence of a word in a document (BP98 §4.2.5). The paper packs 12 bits of
// position and 4 of the rest into two bytes and clamps positions at 4,096; ours has 24 bits, so
// that phrases stay true on long pages, and comes to about two bytes on disk by gap coding.
//
//	bits 31..8  position   within the field, counted in words from 0
//	bits  7..4  type       HitType
//	bit   3     capital    the word began with an upper-case letter
//	bits  2..0  size       plain text: font size relative to the page, 3 is its normal;
//	                       anchors: log2 of the number of links with this text, at most 7
//
// Hits sort as integers by position, then type. Hits of one document and word are kept sorted by
// field first: see [Hit.Field].
type Hit uint32

// Where a word of a link's text stands: texts of one document count from 0.
//
//	bits 23..10  text    its number, the commonest first
//	bits  9..5   words   how many the text has, less one
//	bits  4..0   index   of the word in the text
//
// So a hit tells how much of a text it is, and no phrase reaches from one text into the next.
const (
	MaxAnchorTexts = 1 << 14
	MaxAnchorWords = 32 // of one text; words past it are not indexed
)

// AnchorPosition is the position of a word in the field of anchors: text is below MaxAnchorTexts, words from 1 to
// MaxAnchorWords, index below words.
func AnchorPosition(text, words, index int) uint32 {
	return uint32(text<<10 | (words-1)<<5 | index)
}

// AnchorText gives the number of the text that a hit in the field of anchors is part of, how many words that has,
// and which of them it is.
func (h Hit) AnchorText() (text, words, index int) {
	p := int(h.Position())
	return p >> 10, p>>5&31 + 1, p & 31
}

// Where a word stands in the names of a page's parts, which are what a link may name behind a # (id, and name of a),
// and headings of one word. Part 0 is all names of one word, the others count from 1.
//
//	bits 23..4  part
//	bits  3..2  words   how many the name has, less one
//	bits  1..0  index   of the word in the name
const MaxPartWords = 4 // longer names are not indexed

// PartPosition is the position of a word in the field of parts: part is below 2^20, words from 1 to MaxPartWords, index
// below words.
func PartPosition(part, words, index int) uint32 { return uint32(part<<4 | (words-1)<<2 | index) }

// MaxPosition is the last position that a Hit can carry; words past it are not indexed.
const MaxPosition = 1<<24 - 1

// A HitType says what a word was part of.
type HitType uint8

// The hit types. The order is part of the formats on disk.
const (
	Plain    HitType = iota // running text
	Emphasis                // b, strong, em, i, mark, dfn and their kin, larger fonts
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
	HitTypes  // how many there are
)

var hitTypeNames = [HitTypes]string{"plain", "emphasis", "h1", "h2", "h3", "code", "alt", "menu", "title", "meta", "url", "anchor", "anchor-out", "part"}

func (t HitType) String() string {
	if t < HitTypes {
		return hitTypeNames[t]
	}
	return fmt.Sprintf("type %d", uint8(t))
}

// IsHeading says whether the word was part of a heading.
func (t HitType) IsHeading() bool { return t >= Heading1 && t <= Heading3 }

// A Field is a run of positions of its own: a phrase lies within one field.
type Field uint8

// The fields. The body holds every type up to Menu, in the order of the text. Anchors are the last, as they come from
// other pages.
const (
	Body Field = iota
	TitleField
	MetaField
	URLField
	PartField
	AnchorField
	Fields // how many there are
)

// Field is where hits of this type count their positions.
func (t HitType) Field() Field { return fieldOf[t&15] }

var fieldOf = [16]Field{Title: TitleField, Meta: MetaField, URLWord: URLField, Part: PartField, Anchor: AnchorField, AnchorOut: AnchorField}

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

// Position is the word's number in its field.
func (h Hit) Position() uint32 { return uint32(h >> 8) }

// Type is what the word was part of.
func (h Hit) Type() HitType { return HitType(h>>4) & 15 }

// Field is the field that the position counts in.
func (h Hit) Field() Field { return h.Type().Field() }

// Capital says whether the word began with an upper-case letter.
func (h Hit) Capital() bool { return h&(1<<3) != 0 }

// Size is the relative font size, or for anchors log2 of the number of links.
func (h Hit) Size() uint8 { return uint8(h & 7) }

// Before is the order of hits within a posting: by field, then position, then type.
func (h Hit) Before(other Hit) bool {
	if f, g := h.Field(), other.Field(); f != g {
		return f < g
	}
	return h < other
}

// A Spot is where a hit stands. Spots sort as integers by field, then position, so that those of a posting ascend.
//
//	bits 26..24  field
//	bits 23..0   position
type Spot uint32

// Spot is where the hit stands.
func (h Hit) Spot() Spot { return MakeSpot(h.Field(), h.Position()) }

// MakeSpot is a position in a field.
func MakeSpot(f Field, position uint32) Spot { return Spot(f)<<24 | Spot(position) }

// Field is the field that the position counts in.
func (s Spot) Field() Field { return Field(s >> 24) }

// Position is the word's number in its field.
func (s Spot) Position() uint32 { return uint32(s) & MaxPosition }

func (h Hit) String() string {
	capital := ""
	if h.Capital() {
		capital = "^"
	}
	return fmt.Sprintf("%s%s@%d/%d", h.Type(), capital, h.Position(), h.Size())
}

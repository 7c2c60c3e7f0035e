package vocab

import "strings"

// Levels of sections in [DocInfo.Text]. Headings h1 to h6 have levels 1 to 6; defined terms follow,
// by the nesting of their lists.
const (
	TermLevel = 7 // of a defined term in a list that is in no other
	MaxLevel  = 9
)

// MaxSectionID is the maximum length of the id of a section in bytes. Longer ids are not kept.
const MaxSectionID = 200

// A SectionMark is the prefix of a block of [DocInfo.Text] that is the heading of a section:
//
//	"\f" level, as a digit; id; "\f"
//
// So "\f2usage\fUsage" is a heading h2 that a link to #usage leads to. The id has no control
// characters and no spaces. It is empty if no link leads to the section.
type SectionMark struct {
	Level int // 1 to MaxLevel
	ID    string
}

// Append appends the mark to text.
func (m SectionMark) Append(text []byte) []byte {
	text = append(text, '\f', '0'+byte(m.Level))
	text = append(text, m.ID...)
	return append(text, '\f')
}

// CutSectionMark returns the mark at the start of a block, and the rest of the block. ok is false
// if there is none.
func CutSectionMark(block string) (m SectionMark, rest string, ok bool) {
	if len(block) < 3 || block[0] != '\f' || block[1] < '1' || block[1] > '0'+MaxLevel {
		return m, block, false
	}
	id, rest, ok := strings.Cut(block[2:], "\f")
	if !ok || len(id) > MaxSectionID {
		return m, block, false
	}
	return SectionMark{int(block[1] - '0'), id}, rest, true
}

// WithoutSectionMarks returns a [DocInfo.Text] without section marks.
func WithoutSectionMarks(text string) string {
	before, rest, found := strings.Cut(text, "\f")
	if !found {
		return text
	}
	var b strings.Builder
	b.Grow(len(text))
	for found {
		b.WriteString(before)
		_, rest, _ = strings.Cut(rest, "\f")
		before, rest, found = strings.Cut(rest, "\f")
	}
	b.WriteString(before)
	return b.String()
}

package vocab

import "strings"

// The levels of sections in [DocInfo.Text]. Headings h1 to h6 have levels 1 to 6; defined terms
// follow, by how deep their lists are nested.
const (
	TermLevel = 7 // of a defined term in a list that is in no other
	MaxLevel  = 9
)

// MaxSectionID is the maximum length of the id of a section in bytes. Longer ids are not kept.
const MaxSectionID = 200

// A SectionMark is what a block of [DocInfo.Text] begins with if it is the heading of a section:
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

// CutSectionMark returns the mark that a block begins with, and the rest of the block. ok is false
// if it begins with none.
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

// WithoutSectionMarks returns a [DocInfo.Text] without the marks of its sections.
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

// Package passages packs the best passages of results into the budget of a language model.
package passages

import (
	"context"
	"strings"
	"unicode"
	"unicode/utf8"

	"anatomy/searcher"
	"anatomy/web/internal/reader"
	"anatomy/web/internal/text"
)

// Bounds of a budget, in tokens as Tokens estimates them.
const (
	MinTokens = 100
	MaxTokens = 50_000
)

// share is the part of a budget that one passage may take, so that a long section leaves room for others.
const share = 4

// minFirst is the number of tokens that the first passage may always have.
const minFirst = 20

// Tokens estimates the tokens of a text: one for four bytes of ASCII, as tokenizers of English have it, and one
// for each other character. Text of few words of English, such as code and tables, may have up to twice as
// many.
func Tokens(s string) int {
	var n counter
	for _, r := range s {
		n.add(r)
	}
	return n.tokens()
}

// A counter counts characters for Tokens.
type counter struct{ ascii, others int }

func (n *counter) add(r rune) {
	if r < utf8.RuneSelf {
		n.ascii++
	} else {
		n.others++
	}
}

func (n *counter) tokens() int { return (n.ascii+3)/4 + n.others }

// Pack returns passages of the first results, one for each, that take at most budget tokens together with titles
// and URLs, and the sum of tokens. A passage is Markdown: the section that answers the query, cut
// between blocks or sentences at a quarter of the budget; the snippet of a page without a copy, "" for a page that
// is only known from links. Results that do not fit have none, but for the first one, whose passage has up to
// minFirst tokens even if its title and URL take the budget.
func Pack(ctx context.Context, r *reader.Reader, results []searcher.Result, budget int) (passages []string, tokens int) {
	for i := range results {
		result := &results[i]
		around := Tokens(result.Title) + Tokens(result.Link())
		room := min(budget/share, budget-tokens-around)
		if i == 0 {
			room = max(room, minFirst)
		}
		if room <= 0 {
			break
		}
		passage := cut(passageOf(ctx, r, result), room)
		passages = append(passages, passage)
		tokens += around + Tokens(passage)
	}
	return passages, tokens
}

// passageOf returns the section of a result, with what follows it, or its snippet.
func passageOf(ctx context.Context, r *reader.Reader, result *searcher.Result) string {
	snippet := text.Snippet(result)
	if !result.HasCopy() {
		return snippet
	}
	page, err := r.Page(ctx, result.Doc, "")
	if err != nil { // there is no copy, or its publisher wants none shown
		return snippet
	}
	markdown, err := page.Markdown()
	if err != nil {
		return snippet
	}
	if found := section(markdown.Text, result.Section.Heading); found != "" {
		return found
	}
	if found := from(markdown.Text, snippet); found != "" {
		return found
	}
	return snippet
}

// section returns the text of a section of a Markdown text, from its heading to the next one of at least its
// level, or "". Sections may begin with a line that is no heading of Markdown, as definitions do; an item of a
// list is likely to be of a table of contents.
func section(markdown, heading string) string {
	want := letters(heading)
	if want == "" {
		return ""
	}
	begin, level, likely := -1, 0, 0
	for at := 0; at < len(markdown); {
		line, _, _ := strings.Cut(markdown[at:], "\n")
		how := 2 // a line
		switch trimmed := strings.TrimSpace(line); {
		case strings.HasPrefix(line, "#"):
			how = 3
		case strings.HasPrefix(trimmed, "- "), strings.HasPrefix(trimmed, "| "):
			how = 1
		}
		if how > likely && letters(line) == want {
			begin, level, likely = at, depthOf(line), how
		}
		at += len(line) + 1
	}
	if begin < 0 {
		return ""
	}
	for at := begin; at < len(markdown); {
		line, _, _ := strings.Cut(markdown[at:], "\n")
		if depth := depthOf(line); at > begin && depth > 0 && (level == 0 || depth <= level) {
			return strings.TrimSpace(markdown[begin:at])
		}
		at += len(line) + 1
	}
	return strings.TrimSpace(markdown[begin:])
}

// depthOf returns the level of a heading of Markdown, or 0.
func depthOf(line string) int { return len(line) - len(strings.TrimLeft(line, "#")) }

// from returns a Markdown text from the line on with which a snippet begins, or "".
func from(markdown, snippet string) string {
	const enough = 30 // letters that identify a line
	want := letters(snippet)
	if runes := []rune(want); len(runes) > enough {
		want = string(runes[:enough])
	}
	if want == "" {
		return ""
	}
	for at := 0; at < len(markdown); {
		line, _, _ := strings.Cut(markdown[at:], "\n")
		if has := letters(line); has != "" && (strings.Contains(has, want) || len(has) >= enough/2 && strings.HasPrefix(want, has)) {
			return markdown[at:]
		}
		at += len(line) + 1
	}
	return ""
}

// letters returns the letters and digits of a text in lower case, without the addresses of links.
func letters(s string) string {
	var b strings.Builder
	for s != "" {
		label, rest, link := strings.Cut(s, "](")
		for _, r := range label {
			if unicode.IsLetter(r) || unicode.IsDigit(r) {
				b.WriteRune(unicode.ToLower(r))
			}
		}
		if _, after, ended := strings.Cut(rest, ")"); link && ended {
			rest = after
		}
		s = rest
	}
	return b.String()
}

// cut returns the longest beginning of a Markdown text of at most the given tokens that ends with a block, or
// else with a sentence, or else with a word.
func cut(markdown string, tokens int) string {
	if Tokens(markdown) <= tokens {
		return markdown
	}
	tokens -= (maxFence + 1 + 3) / 4 // for closed
	var n counter
	end := 0
	for at, r := range markdown {
		if n.add(r); n.tokens() > tokens {
			break
		}
		end = at + utf8.RuneLen(r)
	}
	fits := markdown[:end]
	for _, ends := range []string{"\n\n", ". ", "\n", "。", " "} {
		if at := strings.LastIndex(fits, ends); at >= len(fits)/2 {
			return closed(strings.TrimSpace(fits[:at+len(ends)]))
		}
	}
	return closed(strings.TrimSpace(fits))
}

// closed closes a block of code that a cut has left open, or removes the fence of one without content.
func closed(markdown string) string {
	begin, fence := openCode(markdown)
	if fence == "" || len(fence) > maxFence {
		return markdown
	}
	content := strings.TrimRight(markdown[begin+len(fence):], "`") // of the fence at its end, which may be cut
	if strings.TrimSpace(content) == "" {
		return strings.TrimSpace(markdown[:begin])
	}
	return markdown[:begin] + fence + strings.TrimRight(content, "\n") + "\n" + fence
}

// openCode returns where a block of code begins that does not end, and its fence, or "".
func openCode(markdown string) (begin int, fence string) {
	at := 0
	for line := range strings.Lines(markdown) {
		ticks := line[:len(line)-len(strings.TrimLeft(line, "`"))]
		switch {
		case fence == "" && len(ticks) >= 3:
			begin, fence = at, ticks
		case fence != "" && strings.TrimSpace(line) == fence:
			fence = ""
		}
		at += len(line)
	}
	return begin, fence
}

// maxFence bounds the fence that closed adds, in bytes.
const maxFence = 7

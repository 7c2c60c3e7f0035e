package servicetext

import (
	"bytes"
	"cmp"
	"fmt"
	"html"
	"regexp"
	"strings"

	"anatomy/vocab"
)

// The bounds of the output. Everything after maxHTML bytes is left out.
const (
	maxHTML        = 4 << 20
	maxDescription = 1000        // bytes of the page's description
	maxText        = 16384       // bytes of one documentation
	maxProse       = 2 * maxHTML // bytes of all documentation
	maxName        = 200         // bytes of a title, heading, name or type
	maxOperations  = 5000
	maxFields      = 100 // parameters of an operation, or properties of a body
	maxEntries     = 20_000
	maxSteps       = 500_000 // of references, properties and keys, of which a small input can repeat many
)

// A page is the HTML that is made of a definition or a list.
type page struct {
	url         string // of the document
	title       string
	description string
	list        bool // it is not to be indexed
	out         []byte
	ids         map[string]int
	operations  int // or entries of a list
	prosed      int // bytes of documentation that were read
	steps       int // of reading, by which the time is bounded
}

// full reports whether no more is read and written.
func (p *page) full() bool { return len(p.out) >= maxHTML || p.steps >= maxSteps }

// printf writes HTML. Its strings are escaped.
func (p *page) printf(format string, texts ...string) {
	if p.full() {
		return
	}
	escaped := make([]any, len(texts))
	for i, s := range texts {
		escaped[i] = html.EscapeString(s)
	}
	p.out = fmt.Appendf(p.out, format, escaped...)
}

// about writes a line with the name of a property and its value, if it has one.
func (p *page) about(name, value string) {
	if value = line(value); value != "" {
		p.printf("<p>%s: %s</p>\n", name, value)
	}
}

// prose writes documentation, in Markdown or HTML, as paragraphs without markup.
func (p *page) prose(text string) {
	for _, paragraph := range p.paragraphs(text) {
		p.printf("<p>%s</p>\n", paragraph)
	}
}

// operation begins the section of an operation.
func (p *page) operation(id, heading string) {
	p.operations++
	p.printf("<section id=\"%s\"><h2>%s</h2>\n", p.id(id), cmp.Or(line(heading), "Operation"))
}

// names writes the request line of an operation, and its name if it has one. Both are escaped.
func (p *page) names(request, name string) {
	p.printf("<p><code>%s</code>", request)
	if name != "" {
		p.printf(" <code>%s</code>", name)
	}
	p.printf("</p>\n")
}

func (p *page) endOperation() { p.printf("</section>\n") }

// id returns an id of the page that is made of a name. It is the same for the same definition.
func (p *page) id(name string) string {
	if p.ids == nil {
		p.ids = map[string]int{}
	}
	id := strings.Trim(notInID.ReplaceAllString(name, "-"), "-")
	id = "operation-" + id[:min(len(id), vocab.MaxSectionID-20)]
	if p.ids[id]++; p.ids[id] > 1 {
		id = fmt.Sprintf("%s-%d", id, p.ids[id])
	}
	return id
}

var notInID = regexp.MustCompile(`[^A-Za-z0-9_.]+`)

// A field is a parameter, or a property of a body.
type field struct{ name, kind, text string }

// fields writes a table of fields under a caption. It is marked as navigation: searches find its
// words, but these do not describe the service, nor count for the length of its text.
func (p *page) fields(caption string, all []field) {
	if len(all) == 0 {
		return
	}
	p.printf("<nav><p>%s</p>\n<table>\n", caption)
	for _, f := range all[:min(len(all), maxFields)] {
		p.printf("<tr><td><code>%s</code></td><td>%s</td><td>%s</td></tr>\n",
			line(f.name), line(f.kind), strings.Join(p.paragraphs(f.text), " "))
	}
	p.printf("</table></nav>\n")
}

// request writes a command line as an example.
func (p *page) request(words []string) {
	for i, word := range words {
		words[i] = quote(word)
	}
	p.example(strings.Join(words, " "))
}

// example writes a text that readers can copy. It is not indexed.
func (p *page) example(text string) {
	p.printf("<textarea readonly rows=\"3\" cols=\"78\">%s</textarea>\n", text)
}

// quote quotes a word for a POSIX shell. Control characters are dropped.
func quote(word string) string {
	word = strings.Map(func(r rune) rune {
		if r < ' ' || r == 0x7F {
			return -1
		}
		return r
	}, word)
	if word != "" && !strings.ContainsFunc(word, isQuoted) {
		return word
	}
	return "'" + strings.ReplaceAll(word, "'", `'\''`) + "'"
}

// isQuoted reports whether a character may mean something to a shell.
func isQuoted(r rune) bool {
	return !('a' <= r && r <= 'z' || 'A' <= r && r <= 'Z' || '0' <= r && r <= '9' || strings.ContainsRune("-_./:", r))
}

// entry writes a link of a list.
func (p *page) entry(url, text string) {
	if url != "" {
		p.operations++
		p.printf("<li><a href=\"%s\">%s</a></li>\n", url, line(text))
	}
}

// html returns the page.
func (p *page) html() []byte {
	b := fmt.Appendf(nil, "<!doctype html>\n<html><meta charset=utf-8><title>%s</title>\n", html.EscapeString(p.title))
	if p.description != "" {
		b = fmt.Appendf(b, "<meta name=description content=\"%s\">\n", html.EscapeString(p.description))
	}
	if p.list {
		b = append(b, "<meta name=robots content=noindex>\n"...)
	}
	b = fmt.Appendf(b, "<h1>%s</h1>\n", html.EscapeString(p.title))
	return append(bytes.ToValidUTF8(append(b, p.out...), []byte("\uFFFD")), "</html>\n"...)
}

// line returns text as one line of at most maxName bytes.
func line(text string) string {
	text = strings.Join(strings.Fields(text[:min(len(text), 4*maxName)]), " ")
	return strings.ToValidUTF8(text[:min(len(text), maxName)], "")
}

var (
	addresses = regexp.MustCompile(`<(https?://[^<>\s]+)>`) // a link in Markdown
	tags      = regexp.MustCompile(`<[^<>]*>`)
	images    = regexp.MustCompile(`!\[[^\]\[]*\]\([^()]*\)`)
	links     = regexp.MustCompile(`\[([^\]\[]*)\]\([^()]*\)`)
	marks     = regexp.MustCompile("[#*|>`]+|__+|--+|==+|~~+")
	emptyRow  = regexp.MustCompile(`\r?\n[ \t]*\r?\n|(?i:<br ?/?>|</?(?:p|div|li|ul|ol|h[1-6]|tr)>)`)
)

// paragraphs returns the paragraphs of Markdown or HTML without markup, nothing after maxProse bytes of
// the page.
func (p *page) paragraphs(text string) (all []string) {
	text = text[:min(len(text), maxText, maxProse-p.prosed)]
	p.prosed += len(text)
	text = strings.ToValidUTF8(text, "")
	for _, part := range emptyRow.Split(text, -1) {
		part = tags.ReplaceAllString(addresses.ReplaceAllString(part, "$1"), " ")
		part = links.ReplaceAllString(images.ReplaceAllString(part, " "), "$1")
		part = marks.ReplaceAllString(html.UnescapeString(part), " ")
		if words := strings.Fields(part); len(words) > 0 {
			all = append(all, strings.Join(words, " "))
		}
	}
	return all
}

package pages

import (
	"html/template"
	"strconv"
	"strings"
	"time"

	"anatomy/searcher"
	"anatomy/web/internal/frame"
	"anatomy/web/internal/messages"
	"anatomy/web/internal/text"
)

// A markup writes lists of results as HTML. html/template takes eleven times as
// long for a list of results (see doc/decisions/0062), because it inserts each of some fifty pieces
// per result by reflection. Everything except constants and numbers passes through text, which
// escapes it.
type markup struct {
	strings.Builder
	messages *messages.Printer
}

// raw writes a constant.
func (m *markup) raw(s string) { m.WriteString(s) }

// text writes an escaped text, or the value of an attribute in double quotes.
func (m *markup) text(s string) { m.WriteString(template.HTMLEscapeString(s)) }

// attr writes an attribute unless value is "".
func (m *markup) attr(name, value string) {
	if value != "" {
		m.raw(" " + name + `="`)
		m.text(value)
		m.raw(`"`)
	}
}

// element writes an element with a text unless the text is "".
func (m *markup) element(open, text, end string) {
	if text != "" {
		m.raw(open)
		m.text(text)
		m.raw(end)
	}
}

// link writes a link unless href is "".
func (m *markup) link(href, attributes, label string) {
	if href != "" {
		m.raw("<a")
		m.attr("href", href)
		m.raw(attributes + ">")
		m.text(label)
		m.raw("</a>")
	}
}

// resultList returns a list of results. With tab, links to pages open in a new tab.
func resultList(texts *messages.Printer, results []resultView, tab bool) template.HTML {
	m := markup{messages: texts}
	m.Grow(4096 * len(results))
	for i := range results {
		m.hit(&results[i], tab)
	}
	return template.HTML(m.String())
}

func (m *markup) hit(v *resultView, tab bool) {
	m.raw("<li class=\"hit\"")
	if v.Mark != "" {
		m.attr("id", "r"+strconv.Itoa(v.Number))
	}
	m.raw(">\n<p class=\"crumbs\" dir=\"ltr\">")
	if v.Icon != "" {
		m.raw(`<img class="icon" alt="" width="16" height="16" loading="lazy" decoding="async"`)
		m.attr("src", v.Icon)
		m.raw(">")
	}
	m.crumbs(v.Crumbs)
	m.raw("</p>\n<h2 dir=\"auto\"")
	m.attr("lang", v.Lang)
	m.raw(">")
	outside := ` rel="noreferrer"`
	if tab {
		outside += ` target="_blank"`
	}
	if v.URL == "" {
		m.fragments(v.Title)
	} else {
		m.raw("<a")
		m.attr("href", v.URL)
		m.raw(outside + ">")
		m.fragments(v.Title)
		m.raw("</a>")
	}
	m.raw("</h2>\n")
	m.element(`<p class="note pin" dir="auto">`, v.Note, "</p>\n")
	m.section(v, outside)
	m.snippet(v)
	m.further(v, outside)
	m.raw(`<div class="under">`)
	m.meta(v)
	m.missing(v.Missing)
	m.also(v.Also)
	m.raw("</div>\n")
	m.menu(v)
	m.raw("</li>\n")
}

func (m *markup) crumbs(crumbs []string) {
	for i, crumb := range crumbs {
		if i == 0 {
			m.element(`<span class="host">`, crumb, "</span>")
		} else {
			m.element(`<span class="sep" aria-hidden="true"> › </span><span>`, crumb, "</span>")
		}
	}
}

// section writes the headings that lead to the section of a result, as a second link to it: the keys go to
// the title alone.
func (m *markup) section(v *resultView, outside string) {
	if len(v.Section) == 0 {
		return
	}
	m.raw(`<p class="section" dir="auto"`)
	m.attr("lang", v.Lang)
	m.raw(">")
	if v.URL != "" {
		m.raw(`<a tabindex="-1"`)
		m.attr("href", v.URL)
		m.raw(outside + ">")
	}
	for i, heading := range v.Section {
		if i > 0 {
			m.raw(`<span class="sep" aria-hidden="true"> › </span>`)
		}
		m.element("<span>", heading, "</span>")
	}
	if v.URL != "" {
		m.raw("</a>")
	}
	m.raw("</p>\n")
}

// further writes links to further sections of a result, with the attributes of links to pages.
func (m *markup) further(v *resultView, outside string) {
	if len(v.Further) == 0 {
		return
	}
	m.raw(`<p class="further">`)
	m.element("<span>", m.messages.Text("More on this page:"), "</span> ")
	for _, s := range v.Further {
		m.link(s.Href, outside+` dir="auto"`, s.Heading)
		m.raw(" ")
	}
	m.raw("</p>\n")
}

func (m *markup) snippet(v *resultView) {
	if len(v.Snippet) == 0 {
		return
	}
	m.raw(`<p class="snippet" dir="auto"`)
	m.attr("lang", v.Lang)
	m.raw(">")
	m.fragments(v.Snippet)
	m.raw("</p>\n")
}

func (m *markup) fragments(fragments []searcher.Fragment) {
	for _, f := range fragments {
		if f.Mark {
			m.element("<mark>", f.Text, "</mark>")
		} else {
			m.text(f.Text)
		}
	}
}

func (m *markup) missing(v *missView) {
	if v == nil {
		return
	}
	m.raw(`<p class="note">`)
	m.text(m.messages.Text("Missing:"))
	m.raw(" ")
	for _, word := range v.Words {
		m.element("<s><bdi>", word, "</bdi></s> ")
	}
	for i, must := range v.Must {
		if i == 0 {
			m.raw("| ")
			m.text(m.messages.Text("Must include:"))
			m.raw(" ")
		}
		m.raw("<a")
		m.attr("href", must.Href)
		m.element("><bdi>", must.Label, "</bdi></a> ")
	}
	m.raw("</p>\n")
}

// also writes links to a page in other languages.
func (m *markup) also(versions []alsoView) {
	if len(versions) == 0 {
		return
	}
	m.raw(`<p class="note languages">`)
	m.text(m.messages.Text("also in"))
	m.raw(" ")
	for i, v := range versions {
		if i > 0 {
			m.text(m.messages.Comma)
		}
		m.raw(`<a rel="noreferrer alternate"`)
		m.attr("href", v.Href)
		m.attr("hreflang", v.Lang)
		m.attr("lang", v.Lang)
		m.element("><bdi>", v.Name, "</bdi></a>")
	}
	m.raw("</p>\n")
}

// meta writes the line below a result.
func (m *markup) meta(v *resultView) {
	m.raw(`<div class="meta">`)
	if v.Pinned {
		m.element(`<span class="tag">`, m.messages.Text("Pinned"), "</span>")
	}
	m.element(`<span class="tag">`, m.messages.Text(v.Liked), "</span>")
	m.element(`<span class="tag">`, m.marked(v), "</span>")
	m.element(`<span class="tag">`, v.Kind, "</span>")
	if !v.Date.IsZero() {
		m.time(v.Date, m.messages.Text("date of the page"))
	} else if !v.Fetched.IsZero() {
		m.time(v.Fetched, m.messages.Text("fetched"))
	}
	if !v.Crawled {
		m.raw(`<span`)
		m.attr("title", m.messages.Text("this page was never fetched"))
		m.element(">", m.messages.Text("known by links alone"), "</span>")
	}
	if !sameLanguage(v.Lang, m.messages.Tag) {
		m.raw("<span")
		m.attr("lang", v.Lang)
		m.element(">", text.LanguageName(v.Lang), "</span>")
	}
	if v.Similar != nil {
		m.link(v.Similar.Href, "", v.Similar.Label)
	}
	if v.More != nil {
		m.link(v.More.Href, ` dir="ltr"`, v.More.Label)
	}
	m.raw("</div>\n")
}

// sameLanguage reports whether a page, of a language with or without a region, is in that of the reader. A
// page without a known language is.
func sameLanguage(page, reader string) bool {
	page, _, _ = strings.Cut(page, "-")
	reader, _, _ = strings.Cut(reader, "-")
	return page == "" || page == reader
}

func (m *markup) time(t time.Time, what string) {
	m.raw("<time")
	m.attr("datetime", t.UTC().Format(time.DateOnly))
	m.attr("title", what)
	m.element(">", m.messages.Date(t), "</time>")
}

// menu writes the menu of a result: what is known of the page, its score, and preferences for its site.
func (m *markup) menu(v *resultView) {
	m.raw(`<details class="menu" name="menu"><summary`)
	m.attr("aria-label", m.messages.Text("more about result %d", v.Number))
	m.raw(`>⋮</summary><div class="card"><div class="entries">`)
	m.link(v.Cached, "", m.messages.Text("Cached page"))
	m.link(v.Links, "", m.messages.Text("Links"))
	m.link(v.Info, "", m.messages.Text("Page information"))
	m.link(v.Like, "", m.messages.Text("more like this"))
	m.raw("<a")
	m.attr("href", v.Why)
	m.element(">", m.messages.Text("Why this result"), ` <span class="score">`)
	m.text(m.messages.Text("score %s", v.Score))
	m.raw("</span></a></div>")
	m.site(v)
	m.judge(v)
	m.raw("</div></details>\n")
}

// site writes the preferences for the site of a result.
func (m *markup) site(v *resultView) {
	if v.Host == "" {
		return
	}
	m.raw(`<div class="choices" role="group"`)
	m.attr("aria-label", v.Host)
	m.raw("><p>")
	host := template.HTML("<bdi>" + template.HTMLEscapeString(v.Host) + "</bdi>")
	if v.Explore != "" {
		host = frame.Quote(v.Explore, v.Host)
	}
	m.raw(string(m.messages.HTML("Pages of %s in your results", host)) + "</p>")
	for _, c := range v.Choices {
		m.raw(`<button form="like" name="set"`)
		m.attr("value", c.Set)
		m.element(">", c.Label, "</button>")
	}
	m.raw("</div>")
}

package web

import (
	"html/template"
	"strconv"
	"strings"
	"time"

	"anatomy/searcher"
)

// A markup writes lists of results, pages and sites as HTML. A template takes two microseconds for each piece that it
// puts in, by reflection, and a result has fifty: half of what a page of results cost beside its search. Whatever is not
// a constant or a number here passes through text.
type markup struct{ strings.Builder }

// raw writes constants.
func (m *markup) raw(s string) { m.WriteString(s) }

// text writes a text, or the value of an attribute in double quotes.
func (m *markup) text(s string) { m.WriteString(template.HTMLEscapeString(s)) }

// attr writes an attribute, none for "".
func (m *markup) attr(name, value string) {
	if value != "" {
		m.raw(" " + name + `="`)
		m.text(value)
		m.raw(`"`)
	}
}

// element writes an element that holds a text, none for "".
func (m *markup) element(open, text, end string) {
	if text != "" {
		m.raw(open)
		m.text(text)
		m.raw(end)
	}
}

// link writes a link, none for an address of "".
func (m *markup) link(href, attributes, label string) {
	if href != "" {
		m.raw("<a")
		m.attr("href", href)
		m.raw(attributes + ">")
		m.text(label)
		m.raw("</a>")
	}
}

// resultList writes results, for a page whose links open in a new tab if so asked.
func resultList(results []resultView, tab bool) template.HTML {
	m := markup{}
	m.Grow(4096 * len(results))
	for i := range results {
		m.hit(&results[i], tab)
	}
	return template.HTML(m.String())
}

// pager writes the links to other pages of results, none where there are none.
func pager(prev, next string, pages []pageLink) template.HTML {
	if prev == "" && next == "" {
		return ""
	}
	m := markup{}
	m.raw("<nav class=\"pager\" aria-label=\"Pages of results\">\n")
	m.link(prev, ` class="step" rel="prev"`, "← Previous")
	if len(pages) > 0 {
		m.raw("<ol>")
		for _, p := range pages {
			number, attributes := strconv.Itoa(p.Number), ` aria-current="page"`
			if !p.Current {
				attributes = ` aria-label="Page ` + number + `"`
			}
			m.raw("<li>")
			m.link(p.Href, attributes, number)
			m.raw("</li>")
		}
		m.raw("</ol>")
	}
	m.link(next, ` class="step" rel="next"`, "Next →")
	m.raw("\n</nav>")
	return template.HTML(m.String())
}

// sites writes the hosts of the results shown.
func sites(all []siteView) template.HTML {
	if len(all) == 0 {
		return ""
	}
	m := markup{}
	m.raw("<section><h2>Sites on this page</h2><ul>")
	for _, site := range all {
		m.raw("<li>")
		m.link(site.Href, ` dir="ltr"`, site.Host)
		m.raw(` <span class="n">` + strconv.Itoa(site.Count) + "</span></li>")
	}
	m.raw("</ul></section>")
	return template.HTML(m.String())
}

// tabs writes the kinds of results.
func tabs(all []tabView) template.HTML {
	if len(all) == 0 {
		return ""
	}
	m := markup{}
	m.raw(`<nav class="kinds" aria-label="Kinds of results">`)
	for _, kind := range all {
		attributes := ""
		if kind.Current {
			attributes = ` aria-current="page"`
		}
		m.link(kind.Href, attributes, kind.Label)
	}
	m.raw("</nav>")
	return template.HTML(m.String())
}

func (m *markup) hit(v *resultView, tab bool) {
	m.raw("<li class=\"hit\">\n<p class=\"crumbs\" dir=\"ltr\">")
	m.crumbs(v.Crumbs)
	m.raw("</p>\n<h2 dir=\"auto\"")
	m.attr("lang", v.Lang)
	m.raw(">")
	switch {
	case v.URL == "":
		m.text(v.Title)
	case tab:
		m.link(v.URL, ` rel="noreferrer" target="_blank"`, v.Title)
	default:
		m.link(v.URL, ` rel="noreferrer"`, v.Title)
	}
	m.raw("</h2>\n")
	m.snippet(v)
	m.missing(v.Missing)
	m.meta(v)
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
	m.raw(`<p class="note">Missing: `)
	for _, word := range v.Words {
		m.element("<s><bdi>", word, "</bdi></s> ")
	}
	for i, must := range v.Must {
		if i == 0 {
			m.raw("| Must include: ")
		}
		m.raw("<a")
		m.attr("href", must.Href)
		m.element("><bdi>", must.Label, "</bdi></a> ")
	}
	m.raw("</p>\n")
}

// meta is the line below a result.
func (m *markup) meta(v *resultView) {
	m.raw(`<div class="meta">`)
	m.element(`<span class="tag">`, v.Liked, "</span>")
	m.element(`<span class="tag">`, v.Kind, "</span>")
	if !v.Date.IsZero() {
		m.time(v.Date, "date of the page")
	} else if !v.Fetched.IsZero() {
		m.time(v.Fetched, "fetched")
	}
	if !v.Crawled {
		m.raw(`<span title="this page was never fetched">known by links alone</span>`)
	}
	m.element(`<span class="lang" title="language">`, v.Lang, "</span>")
	m.link(v.Cached, "", "cached")
	m.link(v.Links, "", "links")
	m.link(v.Info, "", "info")
	if v.Similar != nil {
		m.link(v.Similar.Href, "", v.Similar.Label)
	}
	if v.More != nil {
		m.link(v.More.Href, ` dir="ltr"`, v.More.Label)
	}
	m.raw(`<span class="score"><svg width="40" height="5" aria-hidden="true" focusable="false"><rect class="rail" width="40" height="5" rx="1"/><svg width="` + strconv.Itoa(v.Bar) + `%" height="5"><rect class="bar" width="40" height="5" rx="1"/></svg></svg>`)
	m.text(v.Score)
	m.raw("</span>")
	m.link(v.Why, ` aria-label="why? The score of number `+strconv.Itoa(v.Number)+`"`, "why?")
	m.menu(v)
	m.raw("</div>\n")
}

func (m *markup) time(t time.Time, what string) {
	m.raw("<time")
	m.attr("datetime", t.UTC().Format(time.DateOnly))
	m.attr("title", what)
	m.element(">", date(t), "</time>")
}

// menu tells of the site of a result, and what may be thought of it.
func (m *markup) menu(v *resultView) {
	if v.Host == "" {
		return
	}
	m.raw(`<details class="menu"><summary`)
	m.attr("aria-label", "site "+v.Host+": raise, lower, pin, block")
	m.raw(`>site</summary><span class="choices" role="group"`)
	m.attr("aria-label", v.Host)
	m.raw(">")
	if v.Explore == "" {
		m.element("<bdi>", v.Host, "</bdi>")
	}
	m.link(v.Explore, ` dir="ltr"`, v.Host)
	for _, c := range v.Choices {
		m.raw(`<button form="like" name="set"`)
		m.attr("value", c.Set)
		m.element(">", c.Label, "</button>")
	}
	m.raw("</span></details>")
}

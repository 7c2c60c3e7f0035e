package indexer

import (
	"bytes"
	"strings"

	"anatomy/vocab"
)

// relation takes a link that a page states beside its text, in a link element or in a Link field:
// where it belongs, what comes before and after, and other forms of it, feeds among them. These are
// followed, but are no citations. All else that such links name is not for readers.
func (p *parser) relation(rel, ref, media []byte) {
	follow, canonical := false, false
	for token := range bytes.FieldsSeq(rel) {
		switch strings.ToLower(string(token)) {
		case "canonical":
			canonical = true
		case "next", "prev":
			follow = true
		case "alternate":
			follow = len(media) == 0 || vocab.MediumOf(string(media)) != vocab.Unread
		case "stylesheet", "nofollow":
			return
		}
	}
	if !follow && !canonical || len(p.related) >= maxRelated {
		return
	}
	target, err := p.base.Join(string(ref))
	if err != nil {
		return
	}
	to := target.String()
	if canonical {
		p.setCanonical(to, p.leavesSite(&target))
	}
	if to != p.page.String() {
		p.related = append(p.related, to)
	}
}

// maxRelated is how many relations are kept of a page; one in every language of the world fits.
const maxRelated = 256

// relations are those that may be followed.
func (p *parser) relations() []string {
	if p.noFollow {
		return nil
	}
	return p.related
}

// setCanonical takes what the page says is its URL (RFC 6596). It is heeded within the site alone,
// and a page that names two names none: both happen by mistake or in order to harm.
func (p *parser) setCanonical(to string, offSite bool) {
	switch {
	case p.canonical == "" && !offSite:
		p.canonical = to
	case p.canonical != to:
		p.canonical = p.page.String()
	}
}

// linkElement reads a link element.
func (p *parser) linkElement() {
	rel, _ := p.tags.attr("rel")
	ref, ok := p.tags.attr("href")
	if !ok || len(rel) == 0 {
		return
	}
	media, _ := p.tags.attr("type")
	p.relation(rel, ref, media)
}

// linkHeader reads Link fields joined by commas: <URL>; rel="next"; type=text/html, … (RFC 8288 §3).
func (p *parser) linkHeader(fields string) {
	for {
		_, rest, ok := strings.Cut(fields, "<")
		ref, rest, closed := strings.Cut(rest, ">")
		if !ok || !closed {
			return
		}
		var rel, media, anchor string
		for fields = rest; ; {
			var name, value string
			name, value, fields = parameter(fields)
			switch name {
			case "":
				if anchor == "" { // else it is about another page
					p.relation([]byte(rel), []byte(strings.TrimSpace(ref)), []byte(media))
				}
			case "rel":
				rel = value
			case "type":
				media = value
			case "anchor":
				anchor = value
			}
			if name == "" {
				break
			}
		}
	}
}

// parameter reads `; name="value"` from the front of s. Name is empty where none is left of this link.
func parameter(s string) (name, value, rest string) {
	s = strings.TrimLeft(s, " \t")
	if !strings.HasPrefix(s, ";") {
		return "", "", s
	}
	s = strings.TrimLeft(s, "; \t")
	end := strings.IndexAny(s, "=;,")
	if end < 0 {
		end = len(s)
	}
	name, s = strings.ToLower(strings.TrimSpace(s[:end])), s[end:]
	if !strings.HasPrefix(s, "=") {
		return name, "", s
	}
	if s = strings.TrimLeft(s[1:], " \t"); strings.HasPrefix(s, `"`) {
		value, s, _ = strings.Cut(s[1:], `"`)
		return name, value, s
	}
	end = strings.IndexAny(s, ";,")
	if end < 0 {
		end = len(s)
	}
	return name, strings.TrimSpace(s[:end]), s[end:]
}

// embeds takes what object and embed show within the page, where it is said to be of a kind that we
// read.
func (p *parser) embeds(key string) {
	if media, _ := p.tags.attr("type"); vocab.MediumOf(string(media)) != vocab.Unread {
		p.addLink(key, vocab.Embedded, nil)
	}
}

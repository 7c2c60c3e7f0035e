package indexer

import (
	"bytes"
	"strings"

	"anatomy/indexer/internal/htmltoken"
	"anatomy/vocab"
)

// maxRelated bounds the related URLs of a page. One for every language of the world fits.
const maxRelated = 256

// relations are the URLs that a page states beside its text, in link elements or Link header
// fields: its canonical form, the previous and next page, alternate forms such as feeds, and the
// definition of its service (RFC 8631). The crawler follows them; they do not count as citations. The
// icon of its site is fetched separately. Other link types are ignored.
type relations struct {
	canonical string   // the page's own URL if it states two; "" if it states none
	related   []string // canonical URLs
	icon      string   // canonical URL of an icon that is not SVG; "" if it states none
}

// add adds the URL ref with the link types rel and the media type media. It is resolved by links.
func (r *relations) add(links *linkCollector, rel, ref, media []byte) {
	follow, canonical, icon := false, false, false
	for token := range bytes.FieldsSeq(rel) {
		switch strings.ToLower(string(token)) {
		case "canonical":
			canonical = true
		case "next", "prev", "service-desc", "service-doc", "api-catalog", "inspection":
			follow = true
		case "alternate":
			m := vocab.MediumOf(string(media))
			follow = len(media) == 0 || m != vocab.OtherMedium && !m.Data()
		case "icon":
			icon = r.icon == "" && !bytes.Contains(media, []byte("svg"))
		case "stylesheet", "nofollow":
			return
		}
	}
	if !follow && !canonical && !icon || len(r.related) >= maxRelated {
		return
	}
	target, err := links.base.Join(string(ref))
	if err != nil {
		return
	}
	to, own := target.String(), links.page.String()
	if icon {
		r.icon = to
	}
	if canonical {
		r.setCanonical(to, own, links.leavesSite(&target))
	}
	if to != own && (follow || canonical) {
		r.related = append(r.related, to)
	}
}

// setCanonical handles the declaration of to as the page's URL (RFC 6596). It counts only within
// the site. A page that declares two URLs has none: both cases are mistakes or attacks.
func (r *relations) setCanonical(to, own string, offSite bool) {
	switch {
	case r.canonical == "" && !offSite:
		r.canonical = to
	case r.canonical != to:
		r.canonical = own
	}
}

// followed returns the related URLs to follow: none if noFollow is set.
func (r *relations) followed(noFollow bool) []string {
	if noFollow {
		return nil
	}
	return r.related
}

// addElement handles a link element.
func (r *relations) addElement(links *linkCollector, tags *htmltoken.Tokenizer) {
	rel, _ := tags.Attr("rel")
	ref, ok := tags.Attr("href")
	if !ok || len(rel) == 0 {
		return
	}
	media, _ := tags.Attr("type")
	r.add(links, rel, ref, media)
}

// addHeader handles Link fields joined by commas: <URL>; rel="next"; type=text/html, … (RFC 8288 §3).
func (r *relations) addHeader(links *linkCollector, fields string) {
	for {
		_, rest, ok := strings.Cut(fields, "<")
		ref, rest, closed := strings.Cut(rest, ">")
		if !ok || !closed {
			return
		}
		params := map[string]string{}
		name, value, rest := cutParameter(rest)
		for ; name != ""; name, value, rest = cutParameter(rest) {
			params[name] = value
		}
		switch {
		case params["anchor"] != "": // the field is about another page
		case params["rel"] == vocab.RefreshRelation:
			links.refresh([]byte(params["content"]))
		default:
			r.add(links, []byte(params["rel"]), []byte(strings.TrimSpace(ref)), []byte(params["type"]))
		}
		fields = rest
	}
}

// cutParameter cuts `; name="value"` off the front of s. name is empty if the link has no parameter
// left.
func cutParameter(s string) (name, value, rest string) {
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

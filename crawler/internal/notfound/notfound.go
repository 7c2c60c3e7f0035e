// Package notfound recognizes error pages that are sent with the status of a success ("soft 404").
//
// A message such as "page not found" is not sufficient evidence, because a page may be about such
// pages. The host must also answer a made-up URL with nearly the same page.
package notfound

import (
	"bytes"
	"fmt"
	"hash/fnv"
	"maps"
	"path"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/net/html"
)

const (
	// MaxRead is how much of a body is read, in bytes.
	MaxRead = 64 << 10

	maxHeadline = 300 // bytes of a title or heading, and of one heading's markup
	maxWords    = 500
	minWords    = 3  // of a page that can be compared
	maxOwn      = 5  // words of an error page that the page of a made-up URL does not have
	similar     = 90 // percent of the words of two pages that are in both
)

// headlines are the elements that are searched for a message.
var headlines = [][]byte{[]byte("title"), []byte("h1"), []byte("h2")}

// phrases are those of such pages, in lower case. A false match costs one request.
var phrases = []string{
	"404", "not found", "not be found", "cannot find", "can't find", "can’t find", "couldn't find", "couldn’t find",
	"does not exist", "doesn't exist", "doesn’t exist", "no longer available", "no longer exists", "page missing",
	"nicht gefunden", "existiert nicht", "introuvable", "n'existe pas", "n’existe pas", "non trouvée",
	"no encontrad", "no existe", "não encontrad", "não existe", "non trovat", "non esiste", "niet gevonden",
	"bestaat niet", "nie znaleziono", "nie istnieje", "hittades inte", "ikke fundet", "ikke funnet", "nenalezen",
	"bulunamadı", "не найден", "не существует", "не знайдено", "見つかりません", "存在しません", "找不到", "未找到",
	"不存在", "찾을 수 없",
}

// HasMessage reports whether the title or a heading of a page has one of the phrases.
func HasMessage(body []byte) bool {
	body = body[:min(len(body), MaxRead)]
	for {
		at := bytes.IndexByte(body, '<')
		if at < 0 {
			return false
		}
		if body = body[at+1:]; len(body) == 0 || body[0]|0x20 != 't' && body[0]|0x20 != 'h' {
			continue // most tags
		}
		for _, name := range headlines {
			if len(body) <= len(name) || !bytes.EqualFold(body[:len(name)], name) || isNamePart(body[len(name)]) {
				continue
			}
			if hasPhrase(headline(body, name)) {
				return true
			}
		}
	}
}

func isNamePart(c byte) bool {
	return c != '>' && c != ' ' && c != '\t' && c != '\n' && c != '\r' && c != '/'
}

// headline returns the text of the element that body begins with, without the < of its tag.
func headline(body, name []byte) string {
	text := body[:min(len(body), 2*maxHeadline)]
	if end := bytes.Index(bytes.ToLower(text), append([]byte("</"), name...)); end >= 0 {
		text = text[:end]
	}
	var b strings.Builder
	for len(text) > 0 { // at the beginning and after each <
		_, text, _ = bytes.Cut(text, []byte(">"))
		piece, rest, _ := bytes.Cut(text, []byte("<"))
		b.WriteString(" " + html.UnescapeString(string(piece)))
		text = rest
	}
	return b.String()
}

// hasPhrase reports whether a headline has one of the phrases. "404" is a word of its own.
func hasPhrase(headline string) bool {
	if len(headline) > maxHeadline {
		return false
	}
	folded := strings.ToLower(strings.Join(strings.Fields(headline), " "))
	for _, phrase := range phrases {
		before, after, ok := strings.Cut(folded, phrase)
		if ok && (phrase != "404" || !endsInDigit(before) && !beginsWithDigit(after)) {
			return true
		}
	}
	return false
}

func endsInDigit(s string) bool {
	return s != "" && strings.ContainsRune("0123456789.,", rune(s[len(s)-1]))
}

func beginsWithDigit(s string) bool { return s != "" && s[0] >= '0' && s[0] <= '9' }

// A Text is the hashes of the words of a page, without order. Numbers are left out: times, and names of
// requests.
type Text []uint64

// TextOf returns the text of the body of a page.
func TextOf(body []byte) Text {
	found := map[uint64]bool{}
	hidden := 0
	z := html.NewTokenizer(bytes.NewReader(body[:min(len(body), MaxRead)]))
	for len(found) < maxWords {
		kind := z.Next()
		if kind == html.ErrorToken {
			break
		}
		switch kind {
		case html.StartTagToken, html.EndTagToken:
			name, _ := z.TagName()
			if isHidden := string(name) == "script" || string(name) == "style"; isHidden && kind == html.StartTagToken {
				hidden++
			} else if isHidden {
				hidden = max(hidden-1, 0)
			}
		case html.TextToken:
			if hidden > 0 {
				continue
			}
			addWords(found, html.UnescapeString(string(z.Raw())))
		}
	}
	return slices.Sorted(maps.Keys(found))
}

// addWords adds the runs of letters in s.
func addWords(to map[uint64]bool, s string) {
	for word := range strings.FieldsFuncSeq(strings.ToLower(s), func(c rune) bool { return !unicode.IsLetter(c) }) {
		h := fnv.New64a()
		h.Write([]byte(word))
		if to[h.Sum64()] = true; len(to) >= maxWords {
			return
		}
	}
}

// IsLike reports whether a page has nearly the same words as that of a made-up URL. Words of the URLs of
// both do not count, as many pages repeat the URL that was not found. Pages of hardly a word are not
// compared: a page that a script fills is the same at every URL.
func (t Text) IsLike(o Text, urls ...string) bool {
	ofURLs := map[uint64]bool{}
	for _, url := range urls {
		addWords(ofURLs, url)
	}
	isOfURL := func(h uint64) bool { return ofURLs[h] }
	t, o = slices.DeleteFunc(slices.Clone(t), isOfURL), slices.DeleteFunc(slices.Clone(o), isOfURL)
	if len(t) < minWords || len(o) < minWords {
		return false
	}
	both := 0
	for _, h := range t {
		if _, ok := slices.BinarySearch(o, h); ok {
			both++
		}
	}
	return len(t)-both <= maxOwn && 100*both >= similar*(len(t)+len(o)-both)
}

// MadeUp returns a path that nobody has published, at the root of a host, with the extension of the
// path of a page: servers may handle each extension in its own way. It is not beside the page and has
// none of its parameters, because many servers ignore a parameter or the last part of a path, and
// would answer with the page itself.
func MadeUp(host, pagePath string) string {
	h := fnv.New64a()
	h.Write([]byte(host))
	extension := path.Ext(pagePath)
	if len(extension) > 6 || !utf8.ValidString(extension) {
		extension = ""
	}
	return fmt.Sprintf("/no-such-page-%012x", h.Sum64()>>16) + extension
}

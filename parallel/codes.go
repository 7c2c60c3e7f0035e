package parallel

import (
	"strings"

	"anatomy/weburl"
)

// codes are the languages of ISO 639-1, with two of 639-2 that sites use.
const codes = " aa ab af ak am an ar as av ay az ba be bg bi bm bn bo br bs ca ce ch co cr cs cu cv cy da de " +
	"dv dz ee el en eo es et eu fa ff fi fj fo fr fy ga gd gl gn gu gv ha he hi ho hr ht hu hy hz ia id ie ig ii " +
	"ik io is it iu ja jv ka kg ki kj kk kl km kn ko kr ks ku kv kw ky la lb lg li ln lo lt lu lv mg mh mi mk ml " +
	"mn mr ms mt my na nb nd ne ng nl nn no nr nv ny oc oj om or os pa pi pl ps pt qu rm rn ro ru rw sa sc sd se " +
	"sg si sk sl sm sn so sq sr ss st su sv sw ta te tg th ti tk tl tn to tr ts tt tw ty ug uk ur uz ve vi vo wa " +
	"wo xh yi yo za zh zu ast fil "

// names are languages as some sites name them, with their codes.
var names = map[string]string{
	"english": "en", "german": "de", "deutsch": "de", "french": "fr", "francais": "fr", "spanish": "es", "espanol": "es",
	"italian": "it", "italiano": "it", "portuguese": "pt", "portugues": "pt", "dutch": "nl", "nederlands": "nl",
	"russian": "ru", "japanese": "ja", "chinese": "zh", "korean": "ko", "polish": "pl", "polski": "pl", "czech": "cs",
	"cesky": "cs", "turkish": "tr", "swedish": "sv", "svenska": "sv", "danish": "da", "finnish": "fi", "suomi": "fi",
	"norwegian": "no", "hungarian": "hu", "greek": "el", "arabic": "ar", "hebrew": "he", "ukrainian": "uk",
	"brazilian": "pt-br", "eng": "en", "deu": "de", "ger": "de", "fra": "fr", "fre": "fr", "spa": "es", "ita": "it",
	"jpn": "ja", "rus": "ru", "por": "pt", "zho": "zh", "chi": "zh", "kor": "ko", "jp": "ja", "cn": "zh", "cz": "cs",
}

// maxCode is the length of the longest name of a language in URLs, in bytes.
const maxCode = 12

// languageOf returns the language tag that s spells, or "": "de", "pt-br" of "pt_BR", "zh-hans".
func languageOf(s string) string {
	if len(s) < 2 || len(s) > maxCode {
		return ""
	}
	s = strings.ReplaceAll(strings.ToLower(s), "_", "-")
	first, rest, region := strings.Cut(s, "-")
	if !isCode(first) {
		return names[s]
	}
	if region && !isRegion(rest) {
		return ""
	}
	return s
}

// isRegion reports whether s may be the region or the script of a language.
func isRegion(s string) bool {
	switch s {
	case "hans", "hant", "latn", "cyrl":
		return true
	}
	return len(s) == 2 && strings.Trim(s, "abcdefghijklmnopqrstuvwxyz") == ""
}

func isCode(s string) bool {
	return (len(s) == 2 || len(s) == 3) && !strings.Contains(s, " ") && strings.Contains(codes, " "+s+" ")
}

// A slot is the position of a language in the URLs of a site: "host", "path 0", "file" or "query
// hl".
type slot string

// A variant reads a URL as the URL of a page in a language.
type variant struct {
	slot slot
	lang string
	key  string // the URL without the language
}

// keyOf returns the key of a page whose URL has no language.
func keyOf(u *weburl.URL) string {
	if q := u.Query(); q != "" {
		return u.Host() + u.Path() + "?" + q
	}
	return u.Host() + u.Path()
}

// maxVariants bounds the readings of one URL.
const maxVariants = 6

// variantsOf returns the readings of a URL. Those of versions in two languages have the same key, which
// is the URL itself for a version that names none.
func variantsOf(u *weburl.URL) (all []variant) {
	host, path, query := u.Host(), u.Path(), u.Query()
	add := func(s slot, lang, key string) {
		if lang != "" && len(all) < maxVariants {
			all = append(all, variant{s, lang, key})
		}
	}
	tail := path
	if query != "" {
		tail += "?" + query
	}
	for i, label := range strings.Split(host, ".") {
		if i == 0 || i == 1 {
			rest, lang := cutLanguage(label)
			labels := strings.Split(host, ".")
			if labels[i] = rest; rest == "" {
				labels = append(labels[:i], labels[i+1:]...)
			}
			if len(labels) > 1 {
				add("host", lang, strings.Join(labels, ".")+tail)
			}
		}
	}
	segments := strings.Split(path, "/")
	for i := 1; i < len(segments); i++ {
		if i < len(segments)-1 {
			rest := strings.Join(segments[:i], "/") + "/" + strings.Join(segments[i+1:], "/")
			add(slot("path "+string(rune('0'+min(i, 9)))), languageOf(segments[i]), host+rest+tail[len(path):])
			continue
		}
		for _, name := range cutFile(segments[i]) {
			key := host + strings.Join(segments[:i], "/") + "/" + name.key + tail[len(path):]
			add("file", name.lang, key)
		}
	}
	for part := range strings.SplitSeq(query, "&") {
		name, value, _ := strings.Cut(part, "=")
		if lang := languageOf(value); lang != "" {
			rest := strings.Trim(strings.Replace("&"+query+"&", "&"+part+"&", "&", 1), "&")
			if rest != "" {
				rest = "?" + rest
			}
			add(slot("query "+name), lang, host+path+rest)
		}
	}
	return all
}

// cutLanguage removes a language from a label of a host: "de", "handbook-de", "de-handbook".
func cutLanguage(label string) (rest, lang string) {
	if lang = languageOf(label); lang != "" {
		return "", lang
	}
	if i := strings.LastIndexByte(label, '-'); i > 0 {
		if lang = languageOf(label[i+1:]); lang != "" {
			return label[:i], lang
		}
	}
	if before, after, ok := strings.Cut(label, "-"); ok {
		return after, languageOf(before)
	}
	return label, ""
}

type fileName struct{ key, lang string }

// cutFile removes a language from a file name: page.de.html, page_de.html, page-de.html,
// page.html.de, de.html.
func cutFile(name string) (all []fileName) {
	base, extension := name, ""
	if i := strings.LastIndexByte(name, '.'); i >= 0 {
		if lang := languageOf(name[i+1:]); lang != "" && i > 0 {
			all = append(all, fileName{name[:i], lang})
		}
		base, extension = name[:i], name[i:]
	}
	if lang := languageOf(base); lang != "" {
		all = append(all, fileName{extension, lang})
	}
	for i := max(1, len(base)-maxCode-1); i < len(base); i++ { // zh-cn before cn
		if c := base[i]; c == '.' || c == '_' || c == '-' {
			if lang := languageOf(base[i+1:]); lang != "" {
				return append(all, fileName{base[:i] + extension, lang})
			}
		}
	}
	return all
}

// skeleton returns the site of a host without languages: "handbook.test" of de.handbook.test and
// handbook-de.test.
func skeleton(hostname string) string {
	site := weburl.SiteOf(hostname)
	label, rest, ok := strings.Cut(site, ".")
	if !ok {
		return site
	}
	if name, lang := cutLanguage(label); lang != "" && name != "" {
		return name + "." + rest
	}
	return site
}

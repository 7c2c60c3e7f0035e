// Command charsets measures how well the encoding of pages that declare none is guessed. It writes
// pages in each encoding that fits their language, without their declarations, and decodes them again.
//
//	go run ./lab/charsets [--most 150] FOLDER…
//
// The pages are the HTML files below the folders that are in UTF-8. A folder or part of a file's name
// names the language: de, zh_CN, el-GR, libreoffice-help-ru, page.ja.html. Pages with fewer than 20
// letters outside ASCII are left out: mostly English ones. A page is right if its text is the same.
package main

import (
	"bytes"
	"flag"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/net/html/charset"
	"golang.org/x/text/encoding"

	"anatomy/indexer"
	"anatomy/lab/rig"
	"anatomy/vocab"
)

// encodings are those of each language.
var encodings = map[string][]string{
	"ru": {"windows-1251", "koi8-r", "ibm866", "iso-8859-5"}, "bg": {"windows-1251", "iso-8859-5"},
	"uk": {"windows-1251", "koi8-u"},
	"el": {"windows-1253", "iso-8859-7"}, "he": {"windows-1255"}, "ar": {"windows-1256", "iso-8859-6"},
	"ja": {"shift_jis", "euc-jp"}, "ko": {"euc-kr"}, "zh-cn": {"gb18030"}, "zh-tw": {"big5"},
	"pl": {"windows-1250", "iso-8859-2"}, "cs": {"windows-1250", "iso-8859-2"},
	"hu": {"windows-1250", "iso-8859-2"},
	"tr": {"windows-1254"}, "lt": {"windows-1257"}, "lv": {"windows-1257"},
	"de": {"windows-1252"}, "fr": {"windows-1252"}, "es": {"windows-1252"}, "it": {"windows-1252"},
	"pt": {"windows-1252"}, "nl": {"windows-1252"}, "sv": {"windows-1252"}, "da": {"windows-1252"},
	"nb": {"windows-1252"}, "fi": {"windows-1252"},
}

func main() {
	most := flag.Int("most", 150, "at most `N` pages of a language and an encoding")
	flag.Parse()
	if flag.NArg() == 0 {
		fmt.Fprintln(os.Stderr, "usage: charsets [--most N] FOLDER…")
		os.Exit(2)
	}
	if err := run(os.Stdout, flag.Args(), *most); err != nil {
		fmt.Fprintln(os.Stderr, "charsets:", err)
		os.Exit(1)
	}
}

// A row is a language and an encoding.
type row struct{ language, encoding string }

type score struct{ right, pages int }

// A tally has the scores of the pages that were read.
type tally struct {
	w      io.Writer // for pages that are wrong
	most   int
	scores map[row]score
}

func run(w io.Writer, folders []string, most int) error {
	t := tally{w, most, map[row]score{}}
	if err := rig.EachHTMLFile(folders, t.add); err != nil {
		return err
	}
	byRow := func(a, b row) int { return strings.Compare(a.encoding+" "+a.language, b.encoding+" "+b.language) }
	all := score{}
	for _, r := range slices.SortedFunc(maps.Keys(t.scores), byRow) {
		s := t.scores[r]
		all.right, all.pages = all.right+s.right, all.pages+s.pages
		fmt.Fprintf(w, "%-14s %-6s %5d of %5d\n", r.encoding, r.language, s.right, s.pages)
	}
	fmt.Fprintf(w, "%-21s %5d of %5d, %.2f %%\n", "all", all.right, all.pages, 100*float64(all.right)/float64(max(all.pages, 1)))
	return nil
}

// add reads a page in the encodings of its language that lack pages.
func (t *tally) add(path string) error {
	name := language(path)
	wanted := slices.DeleteFunc(slices.Clone(encodings[name]), func(e string) bool {
		return t.scores[row{name, e}].pages >= t.most
	})
	if len(wanted) == 0 {
		return nil
	}
	body, err := os.ReadFile(path)
	if err != nil || !utf8.Valid(body) || len(body) > 1<<20 || foreignLetters(body) < 20 {
		return err
	}
	for _, e := range wanted {
		ok, err := survives(body, e)
		if err != nil {
			return fmt.Errorf("%s in %s: %w", path, e, err)
		}
		s := t.scores[row{name, e}]
		if s.pages++; ok {
			s.right++
		} else {
			fmt.Fprintf(t.w, "wrong: %s in %s\n", path, e)
		}
		t.scores[row{name, e}] = s
	}
	return nil
}

var tag = regexp.MustCompile(`(?:^|[-./])([a-z]{2})(?:[-_]([A-Za-z]{2}))?(?:\.html)?$`)

// language returns the language that the innermost part of a path names: zh-cn, zh-tw, or two letters.
func language(path string) string {
	parts := strings.Split(filepath.ToSlash(path), "/")
	for _, part := range slices.Backward(parts) {
		m := tag.FindStringSubmatch(part)
		if m == nil {
			continue
		}
		for _, name := range []string{m[1] + "-" + strings.ToLower(m[2]), m[1]} {
			if encodings[name] != nil {
				return name
			}
		}
	}
	return ""
}

func foreignLetters(body []byte) int {
	n := 0
	for _, r := range string(body) {
		if r >= utf8.RuneSelf && unicode.IsLetter(r) {
			n++
		}
	}
	return n
}

var declaration = regexp.MustCompile(`(?i)<meta[^>]*charset[^>]*>|^\s*<\?xml[^>]*\?>`)

// survives reports whether a page that is written in an encoding, and does not declare it, is read as
// the same text.
func survives(body []byte, name string) (bool, error) {
	e, _ := charset.Lookup(name)
	body = declaration.ReplaceAll(body, nil)
	written, err := encoding.HTMLEscapeUnsupported(e.NewEncoder()).Bytes(body)
	if err != nil {
		return false, err
	}
	want, err := e.NewDecoder().Bytes(written)
	if err != nil {
		return false, err
	}
	got, _ := indexer.DecodeUndeclared(&vocab.Page{ContentType: "text/html", Body: written})
	return bytes.Equal(got, want), nil
}

// Command languages measures how well the language of pages that declare none is recognised. It takes
// their declarations from pages that have one.
//
//	go run ./lab/languages [--most 300] FOLDER…
//
// The pages are the HTML files below the folders. The attribute lang of the element html tells the language;
// without it, the name of a folder does, if that is one of twelve, such as de, zh_CN or gimp-help-fr. It prints for each language how many pages were recognised, how many were
// taken for English, as untranslated pages of a translation should be, how many for a third language, and
// how many were left without. The first forty of a third language are named.
package main

import (
	"flag"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"anatomy/indexer"
	"anatomy/lab/rig"
	"anatomy/vocab"
)

func main() {
	most := flag.Int("most", 300, "at most `N` pages of a folder")
	flag.Parse()
	if flag.NArg() == 0 {
		fmt.Fprintln(os.Stderr, "usage: languages [--most N] FOLDER…")
		os.Exit(2)
	}
	if err := run(os.Stdout, flag.Args(), *most); err != nil {
		fmt.Fprintln(os.Stderr, "languages:", err)
		os.Exit(1)
	}
}

type score struct{ right, english, wrong, none int }

// A tally has the scores of the pages that were read.
type tally struct {
	w      io.Writer // for pages that are wrong
	most   int
	inDir  map[string]int    // pages read of each folder
	scores map[string]*score // by language
	buf    indexer.Buffer
	wrong  int
}

func run(w io.Writer, folders []string, most int) error {
	t := tally{w: w, most: most, inDir: map[string]int{}, scores: map[string]*score{}}
	if err := rig.EachHTMLFile(folders, t.add); err != nil {
		return err
	}
	all := score{}
	line := func(name string, s *score) {
		n := s.right + s.english + s.wrong + s.none
		fmt.Fprintf(w, "%-5s %6d pages: %5.1f %% recognised, %4.1f %% taken for English, %4.2f %% for a third language, %4.1f %% left\n",
			name, n, percent(s.right, n), percent(s.english, n), percent(s.wrong, n), percent(s.none, n))
	}
	for _, lang := range slices.Sorted(maps.Keys(t.scores)) {
		s := t.scores[lang]
		all = score{all.right + s.right, all.english + s.english, all.wrong + s.wrong, all.none + s.none}
		line(lang, s)
	}
	line("all", &all)
	return nil
}

func percent(n, of int) float64 { return 100 * float64(n) / float64(max(of, 1)) }

var (
	tag         = regexp.MustCompile(`(?:^|[-.])(de|el|es|fr|it|ja|ko|nl|pt|ru|sv|tr|zh)(?:[-_][A-Za-z]{2,4})?$`)
	declared    = regexp.MustCompile(`(?i)<html[^>]*?\slang=["']?([a-z]{2})\b`)
	declaration = regexp.MustCompile(`(?i)\s(?:xml:)?lang=("[^"]*"|'[^']*'|[^\s>]*)|<meta[^>]*(?:content-language|og:locale)[^>]*>`)
)

// add reads a page without its declarations of a language.
func (t *tally) add(path string) error {
	dir := filepath.Dir(path)
	if t.inDir[dir] >= t.most {
		return nil
	}
	body, err := os.ReadFile(path)
	if err != nil || len(body) > 4<<20 {
		return err
	}
	want := ""
	if m := declared.FindSubmatch(body); m != nil {
		if want = strings.ToLower(string(m[1])); want == "nb" || want == "nn" {
			want = "no"
		}
	}
	for part := range strings.SplitSeq(filepath.ToSlash(dir), "/") {
		if m := tag.FindStringSubmatch(part); m != nil && want == "" {
			want = m[1]
		}
	}
	if want == "" {
		return nil
	}
	t.inDir[dir]++
	page := &vocab.Page{URL: "http://test/" + strings.TrimLeft(filepath.ToSlash(path), "/"), ContentType: "text/html", Body: declaration.ReplaceAll(body, nil)}
	document, err := indexer.Parse(page, &t.buf)
	if err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	if t.scores[want] == nil {
		t.scores[want] = &score{}
	}
	s := t.scores[want]
	switch got := vocab.PrimaryLanguage(document.Info.Lang); got {
	case want:
		s.right++
	case "":
		s.none++
	case "en":
		s.english++
	default:
		s.wrong++
		if t.wrong++; t.wrong <= 40 {
			fmt.Fprintf(t.w, "%s is in %s, taken for %s\n", path, want, got)
		}
	}
	return nil
}

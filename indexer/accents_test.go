package indexer

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"golang.org/x/text/unicode/norm"

	"anatomy/analysis"
	"anatomy/vocab"
)

// accentedHits shows the accented terms of a page with their hits, sorted.
func accentedHits(d *Document) string {
	var all []string
	for term, hit := range d.Hits() {
		if analysis.IsAccented(term) {
			all = append(all, norm.NFC.String(fmt.Sprintf("%s %s", term, hit)))
		}
	}
	slices.Sort(all)
	return strings.Join(all, ", ")
}

func TestAccentedTerms(t *testing.T) {
	for body, want := range map[string]string{
		"<title>Sữa</title><p>trà sữa và sua":                                                          "^sưã plain@1/3, ^sưã title@0/3, ^trà plain@0/3, ^và plain@2/3",
		"<nav><a href=/>Sữa</a> <a href=/>Trà</a> <a href=/>Cơm</a> <a href=/>Phở</a></nav><p>a b c d": "^cơm menu@2/3, ^phở menu@3/3, ^sưã menu@0/3, ^trà menu@1/3",
		"<p>là né où été à Nguyễn":                                                                     "",
		"<p>hà là gì":                                                                                  "",
		"<p>tra sua":                                                                                   "",
	} {
		d := parseHTML(t, body)
		if got := accentedHits(d); got != norm.NFC.String(want) {
			t.Errorf("%s\ngot  %s\nwant %s", body, got, want)
		}
		decomposed := parseHTML(t, norm.NFD.String(body))
		if got := accentedHits(decomposed); got != norm.NFC.String(want) {
			t.Errorf("%s, decomposed: %s", body, got)
		}
		if plain := parseHTML(t, unaccent(body)); plain.Info.Words != d.Info.Words || accentedHits(plain) != "" {
			t.Errorf("%s: %d words, without accents %d and %q", body, d.Info.Words, plain.Info.Words, accentedHits(plain))
		}
	}
}

// unaccent returns a text without accents.
func unaccent(s string) string {
	return strings.Map(func(r rune) rune {
		if r >= 0x300 && r <= 0x36F {
			return -1
		}
		return r
	}, norm.NFD.String(s))
}

// TestAccentedTermsAreBesideWords checks that a page has each accented term where it has the word.
func TestAccentedTermsAreBesideWords(t *testing.T) {
	d := parseHTML(t, "<title>Trận đấu</title><h1>Đội thủ</h1><p>Ai là thủ quân lớn tuổi nhất chơi trong một trận?<img alt='Đội bóng'>")
	words := map[vocab.Hit]string{}
	for term, hit := range d.Hits() {
		if !analysis.IsAccented(term) && hit.Type() != vocab.Part {
			words[hit] = string(term)
		}
	}
	n := 0
	for term, hit := range d.Hits() {
		if !analysis.IsAccented(term) {
			continue
		}
		if got := analysis.PhraseTerms(string(term)); len(got) != 1 || got[0] != words[hit] {
			t.Errorf("%s is at %s, where the page has %q", term, hit, words[hit])
		}
		n++
	}
	if n < 10 {
		t.Errorf("%d accented terms", n)
	}
}

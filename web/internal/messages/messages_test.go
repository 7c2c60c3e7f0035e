package messages

import (
	"strings"
	"testing"
	"time"
)

func TestFor(t *testing.T) {
	for accept, want := range map[string]string{
		"":                          "en",
		"de":                        "de",
		"de-AT,en;q=0.5":            "de",
		"nl,fr-CH;q=0.8,en;q=0.5":   "fr",
		"pt-BR":                     "pt",
		"zh-CN,zh;q=0.9":            "zh-Hans",
		"ja":                        "ja",
		"ko":                        "en",
		"ko,es;q=0.3":               "es",
		"*":                         "en",
		"x;;;":                      "en",
		strings.Repeat("de,", 1000): "en",
	} {
		if got := For(accept).Tag; got != want {
			t.Errorf("%.40q: %s, want %s", accept, got, want)
		}
	}
}

func TestNumbersAndDates(t *testing.T) {
	day := time.Date(2026, 3, 5, 7, 8, 9, 0, time.UTC)
	for tag, want := range map[string]string{
		"en":    "1,234,567 | 5 Mar 2026 | 5 Mar 2026, 07:08 UTC | 0.84\u00a0ms | 12\u00a0ms | 1.3\u00a0s | 12.5\u00a0% | −27\u00a0%",
		"de":    "1.234.567 | 5. März 2026 | 5. März 2026, 07:08 UTC | 0,84\u00a0ms | 12\u00a0ms | 1,3\u00a0s | 12,5\u00a0% | −27\u00a0%",
		"pt":    "1.234.567 | 5 de mar. de 2026 | 5 de mar. de 2026, 07:08 UTC | 0,84\u00a0ms | 12\u00a0ms | 1,3\u00a0s | 12,5% | −27%",
		"ja":    "1,234,567 | 2026年3月5日 | 2026年3月5日 07:08 UTC | 0.84\u00a0ms | 12\u00a0ms | 1.3\u00a0s | 12.5% | −27%",
		"zh-CN": "1,234,567 | 2026年3月5日 | 2026年3月5日 07:08 UTC | 0.84\u00a0ms | 12\u00a0ms | 1.3\u00a0s | 12.5% | −27%",
	} {
		p := For(tag)
		got := strings.Join([]string{p.Count(1234567), p.Date(day), p.Moment(day),
			p.Duration(840 * time.Microsecond), p.Duration(12 * time.Millisecond), p.Duration(1300 * time.Millisecond), p.Percent(.125), p.WholePercent(-.273)}, " | ")
		if got != want {
			t.Errorf("%s: %s, want %s", tag, got, want)
		}
	}
}

// TestHTML: texts among the arguments are escaped, elements are not.
func TestHTML(t *testing.T) {
	if got := For("de").HTML("Showing results for %s.", "<b>"); got != "Ergebnisse für &lt;b&gt;." {
		t.Error(got)
	}
}

func BenchmarkText(b *testing.B) {
	p := For("de")
	b.ReportAllocs()
	for b.Loop() {
		p.Text("Cached page")
	}
}

func BenchmarkSmallNumber(b *testing.B) {
	p := For("de")
	b.ReportAllocs()
	for b.Loop() {
		p.Text("more about result %d", 7)
	}
}

func BenchmarkPlural(b *testing.B) {
	p := For("de")
	b.ReportAllocs()
	for b.Loop() {
		p.Text("%d pages", 1234)
	}
}

package text

import (
	"cmp"
	"fmt"
	"net/url"
	"path"
	"slices"
	"strings"
	"time"
	"unicode"

	"anatomy/searcher"
)

// Points returns a score with six decimals, so that a column of scores adds up as shown.
func Points(s searcher.Score) string {
	sign := ""
	if s < 0 {
		sign, s = "−", -s
	}
	return fmt.Sprintf("%s%d.%06d", sign, s/1e6, s%1e6)
}

// Long returns the time of a crawl: 850 ms, 4.2 s, 12 min, 3 h 20 min.
func Long(d time.Duration) string {
	switch {
	case d < time.Second:
		return fmt.Sprintf("%d ms", d.Milliseconds())
	case d < 10*time.Second:
		return fmt.Sprintf("%.1f s", d.Seconds())
	case d < 2*time.Minute:
		return fmt.Sprintf("%d s", int(d.Seconds()))
	case d < 2*time.Hour:
		return fmt.Sprintf("%d min", int(d.Minutes()))
	case d < 48*time.Hour:
		return fmt.Sprintf("%d h %d min", int(d.Hours()), int(d.Minutes())%60)
	}
	return fmt.Sprintf("%d days", int(d.Hours()/24))
}

// Snippet returns the snippet without marks.
func Snippet(r *searcher.Result) string {
	var b strings.Builder
	for _, f := range r.Snippet {
		b.WriteString(f.Text)
	}
	return b.String()
}

// ImageText returns the text that best describes an image.
func ImageText(m *searcher.ImageResult) string {
	return cmp.Or(m.Alt, m.Caption, m.Title, fileOf(m.URL), m.Named)
}

// fileOf returns the file name in an address.
func fileOf(address string) string {
	u, err := url.Parse(address)
	if err != nil || strings.HasSuffix(u.Path, "/") {
		return ""
	}
	return path.Base(u.Path)
}

// Clean replaces control characters and invalid UTF-8 by blanks and trims the ends.
func Clean(v string) string {
	clean := func(r rune) rune {
		if r == unicode.ReplacementChar || unicode.IsControl(r) {
			return ' '
		}
		return r
	}
	return strings.TrimSpace(strings.Map(clean, v))
}

// maxQuotations limits the anchor texts shown of one page.
const maxQuotations = 4

// Quotations returns anchor texts in the quotes of a format: “%s”.
func Quotations(texts []string, quoted string) string {
	shown := slices.Clone(texts[:min(len(texts), maxQuotations)])
	for i, text := range shown {
		shown[i] = fmt.Sprintf(quoted, Shorten(text, 80))
	}
	if len(texts) > maxQuotations {
		shown = append(shown, "…")
	}
	return strings.Join(shown, " ")
}

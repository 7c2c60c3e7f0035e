package weburl

import (
	"cmp"
	"strings"
)

// Plainer reports whether the URL a is a better name for a page than the URL b: it has fewer path
// segments or, among equals, is shorter, or is first in byte order. Schemes and "www." are compared
// only if all else is equal.
func Plainer(a, b string) bool {
	bareA, bareB := bare(a), bare(b)
	return cmp.Or(
		cmp.Compare(segments(bareA), segments(bareB)),
		cmp.Compare(len(bareA), len(bareB)),
		strings.Compare(bareA, bareB),
		strings.Compare(a, b),
	) < 0
}

// bare returns a URL without its scheme and "www.".
func bare(url string) string {
	_, rest, _ := strings.Cut(url, "://")
	return strings.TrimPrefix(rest, "www.")
}

func segments(bare string) int {
	path, _, _ := strings.Cut(bare, "?")
	return strings.Count(path, "/")
}

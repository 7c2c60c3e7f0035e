package visitor

import (
	"net/http"
	"slices"
	"strings"

	"anatomy/web/internal/params"
)

// The cookie of lenses.
const (
	LensesCookie = "anatomy_lenses" // encoded lenses with "|" between
	MaxLenses    = 3500             // bytes of that
)

// Lenses returns the lenses in the cookie, by name. It ignores what is not a lens, which the
// visitor could not correct.
func Lenses(r *http.Request) (all []*params.Lens) {
	cookie, err := r.Cookie(LensesCookie)
	if err != nil || len(cookie.Value) > MaxLenses {
		return nil
	}
	return DecodeLenses(cookie.Value)
}

// DecodeLenses returns the lenses of a list, by name.
func DecodeLenses(list string) (all []*params.Lens) {
	for encoded := range strings.SplitSeq(list, "|") {
		l, err := params.DecodeLens(encoded)
		if err == nil && l.Name != "" && !slices.ContainsFunc(all, Named(l.Name)) {
			all = append(all, l)
		}
	}
	slices.SortFunc(all, func(a, b *params.Lens) int { return strings.Compare(a.Name, b.Name) })
	return all
}

// EncodeLenses returns the list of some lenses, for the cookie.
func EncodeLenses(all []*params.Lens) string {
	encoded := make([]string, len(all))
	for i, l := range all {
		encoded[i] = l.Encode()
	}
	return strings.Join(encoded, "|")
}

// WithLenses returns some lenses and those of others that have other names.
func WithLenses(some, others []*params.Lens) []*params.Lens {
	all := slices.Clone(some)
	for _, l := range others {
		if !slices.ContainsFunc(some, Named(l.Name)) {
			all = append(all, l)
		}
	}
	return all
}

// Named returns a function that reports whether a lens has a name.
func Named(name string) func(*params.Lens) bool {
	return func(l *params.Lens) bool { return l.Name == name }
}

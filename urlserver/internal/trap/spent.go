package trap

import (
	"fmt"

	"anatomy/disk/docindex"
	"anatomy/weburl"
)

// Spent is the set of a host's spent shapes.
type Spent map[string]docindex.Trap

// ReadSpent returns the spent shapes of a host according to the written counts.
func (y *Yields) ReadSpent(host string) (s Spent, err error) {
	err = y.db.EachYield(host, func(shape string, v docindex.Yield) error {
		if t := y.judge(shape, v); t != 0 {
			s, _ = s.Apply(Verdict{shape, t})
		}
		return nil
	})
	return s, err
}

// Apply puts a verdict into a set, which may be nil, and returns the set and whether it changed.
func (s Spent) Apply(v Verdict) (set Spent, changed bool) {
	if s[v.Shape] == v.Trap {
		return s, false
	}
	if s == nil {
		s = Spent{}
	}
	if v.Trap == 0 {
		delete(s, v.Shape)
	} else {
		s[v.Shape] = v.Trap
	}
	return s, true
}

// Find returns the spent shape for which u is refused, with its trap, or the zero Verdict. bred reports
// that u was found only on pages that repeat.
func (y *Yields) Find(
	host string, s Spent, u *weburl.URL, bred bool,
) (refusal Verdict, err error) {
	if y.Disabled() {
		return refusal, nil
	}
	if extension := extensionOf(u); extension != "" && (s[extension] != 0 || media[extension[1:]]) {
		v, err := y.get(shapeKey{host, extension})
		if t := y.judge(extension, v); t != 0 || err != nil {
			return Verdict{extension, t}, err
		}
	}
	if len(s) == 0 {
		return refusal, nil
	}
	for _, shape := range append(parametersOf(u), numberedOf(u)) {
		if t := s[shape]; t != 0 {
			return Verdict{shape, t}, nil
		}
	}
	for _, shape := range shapesOf(u) {
		t := s[shape]
		if t == docindex.SpentQuery && !bred {
			v, err := y.get(shapeKey{host, shape})
			if err != nil || !y.isHopeless(v) {
				return refusal, err
			}
			return Verdict{shape, t}, nil
		}
		if t == docindex.NoPages || t != 0 && bred {
			return Verdict{shape, t}, nil
		}
	}
	return refusal, nil
}

// Matches reports whether u has a shape that is spent because its pages repeat.
func (s Spent) Matches(u *weburl.URL) bool {
	for _, shape := range shapesOf(u) {
		if t := s[shape]; t != 0 && t != docindex.NoPages {
			return true
		}
	}
	return false
}

// Without returns u without the parameter that is a spent shape.
func Without(u *weburl.URL, parameter string) (weburl.URL, error) {
	rest := without(u.Query(), parameter[1:])
	if rest != "" {
		rest = "?" + rest
	}
	return weburl.Parse(u.Origin() + u.Path() + rest)
}

// A Yielder returns the yield of a shape, as a document index does.
type Yielder interface {
	Yield(host, shape string) (docindex.Yield, error)
}

// Why explains, as text for display, why a document is trapped, with the figures of its shape.
func Why(db Yielder, r *docindex.Record) (string, error) {
	why := r.Trap.String()
	if !r.Trap.IsOfShape() {
		return why, nil
	}
	u, err := weburl.Parse(r.URL)
	if err != nil {
		return "", err
	}
	var worst docindex.Yield
	shapes := append(shapesOf(&u), parametersOf(&u)...)
	if numbered := numberedOf(&u); numbered != "" {
		shapes = append(shapes, numbered)
	}
	if extension := extensionOf(&u); extension != "" {
		shapes = append(shapes, extension)
	}
	for _, shape := range shapes {
		v, err := db.Yield(u.Host(), shape)
		if err != nil {
			return "", err
		}
		fits := trapOf(shape) == r.Trap || r.Trap == docindex.NoPages && v.New+v.Repeated == 0
		if fits && v.Refused > worst.Refused {
			worst, why = v, Explain(u.Host(), Verdict{shape, r.Trap}, v)
		}
	}
	return why, nil
}

// Explain returns, as text for display, why URLs of a shape are refused.
func Explain(host string, refusal Verdict, v docindex.Yield) string {
	s := refusal.Shape
	switch refusal.Trap {
	case docindex.NoPages:
		if s[0] == '*' {
			s = "/" + s
		}
		if v.New+v.Repeated+v.Missing == 0 {
			return fmt.Sprintf("%s%s are not requested: files of this type are not pages", host, s)
		}
		return fmt.Sprintf("%s%s leads to no pages: %d of the %d requests for such URLs brought one",
			host, s, v.New+v.Repeated, v.New+v.Repeated+v.Missing)
	case docindex.SpentParameter:
		return fmt.Sprintf("the parameter %s of %s has no effect: "+
			"%d pages with it repeat known text and lead to new URLs with it", s[1:], host, v.Breeding)
	}
	return fmt.Sprintf("%s%s repeats itself: %d of its %d pages show nothing new and lead to new URLs",
		host, s, v.Breeding, v.New+v.Repeated)
}

package trap

import (
	"math/bits"
	"slices"

	"github.com/cespare/xxhash/v2"

	"anatomy/disk/docindex"
	"anatomy/urlserver/seen"
	"anatomy/vocab"
	"anatomy/weburl"
)

// Yields counts, for every shape of a host's URLs, the results of its URLs, and determines which
// shapes are spent: their other URLs are refused.
//
// A page repeats if each of its lines was shown before by pages of its folder, of its path with
// other queries, or of the parent folder. Real pages repeat, too: pages that scripts fill, stubs
// under a full menu. But their number is finite, and so is the number of URLs on them. So a page is
// evidence only if it repeats and breeds, that is, new URLs of the shape are found on it. A shape
// is spent when
//
//	breeding > maxRepeated + new, and at least half of its repeating pages breed
//
// Then its URLs that were found only on pages that repeat are refused. URLs in a sitemap, and URLs
// linked by other hosts or by pages with new text, are still fetched. A parameter is spent if it
// has no effect on the pages of several paths; then the URL without it is used.
//
// Two more rules avoid requests that cannot yield a page: a folder or an extension is spent if its
// first URLs do not exist or are not pages. Extensions of media are spent from the start.
//
// A verdict is a function of the counts, and some refused URLs are fetched as samples: if they show
// that the verdict is wrong, it is reversed.
//
// Counts since the last Write are in changed; Write puts them in a batch. cache has counts that
// are on disk or in changed. To save writes, a shape with only new pages is written each time its
// count doubles: a crash may lose half of the count.
//
// The caller serializes all calls.
type Yields struct {
	db          *docindex.DB
	maxRepeated int
	cache       *seen.Cache[docindex.Yield] // by host and shape
	changed     map[shapeKey]docindex.Yield // to be written
	shown       shown
}

type shapeKey struct {
	host  string
	shape shape
}

const (
	cachedYields = 1 << 16

	// queryShare is the divisor of maxRepeated for the pages of one path with a query.
	queryShare = 5

	// maxVotes is the maximum number of pages of one path that count against a parameter.
	maxVotes = 4

	// maxMissing is the number of URLs without a page, of a folder, an extension or a numbered
	// shape, at which further URLs are refused. With 10 instead of 20, a crawl of 281,638 pages
	// would have saved 2,588 requests instead of 1,747 by folders, and lost no page with either;
	// with 4 it would have lost one.
	maxMissing = 10

	// missingForPage is the number of URLs without a page that one page with the extension offsets.
	missingForPage = 50
)

// NewYields returns the yields in db. No shape is ever spent if maxRepeated is negative.
func NewYields(db *docindex.DB, maxRepeated int) *Yields {
	return &Yields{
		db: db, maxRepeated: maxRepeated,
		cache: seen.New[docindex.Yield](cachedYields), changed: map[shapeKey]docindex.Yield{},
	}
}

// Disabled reports whether no shape is ever spent.
func (y *Yields) Disabled() bool { return y.maxRepeated < 0 }

// A Verdict is the current judgement of a shape.
type Verdict struct {
	Shape shape
	Trap  docindex.Trap // 0 if the shape is not spent
}

// A Finding is the evidence of a page.
type Finding struct {
	Repeats bool    // nothing new in its folder
	Breeds  []shape // shapes that it is evidence against if it has new URLs of them
}

// AddPage counts a page.
func (y *Yields) AddPage(
	host string, u *weburl.URL, text *vocab.TextSample,
) (f Finding, verdicts []Verdict, err error) {
	if y.Disabled() {
		return f, nil, nil
	}
	f.Repeats = y.repeats(host, u, text)
	shapes := shapesOf(u)
	for _, s := range shapes {
		err = y.count(&verdicts, host, s, func(v *docindex.Yield) {
			if f.Repeats {
				v.Repeated++
			} else {
				v.New++
			}
		})
		if err != nil {
			return f, nil, err
		}
	}
	if f.Repeats {
		f.Breeds = shapes
	}
	if extension := extensionOf(u); extension != "" {
		err = y.count(&verdicts, host, extension, func(v *docindex.Yield) { v.New++ })
		if err != nil {
			return f, nil, err
		}
	}
	if err := y.addNumbered(&verdicts, host, u); err != nil {
		return f, nil, err
	}
	return f, verdicts, y.addParameters(&f, &verdicts, host, u, text)
}

// addNumbered counts a page for its numbered shape if some URLs of the shape led to no page. For
// other shapes, which are most, nothing is written.
func (y *Yields) addNumbered(verdicts *[]Verdict, host string, u *weburl.URL) error {
	s := numberedOf(u)
	if s == "" {
		return nil
	}
	y.shown.add(groupOf(host, s), visited)
	v, err := y.get(shapeKey{host, s})
	if err != nil || v.Missing == 0 {
		return err
	}
	return y.count(verdicts, host, s, func(v *docindex.Yield) { v.New++ })
}

// repeats reports whether a page repeats, and records its lines. Lines of the parent folder count
// as known, because some traps have one page per folder.
func (y *Yields) repeats(host string, u *weburl.URL, text *vocab.TextSample) bool {
	path := u.Path()
	folder := container(path)
	name, around := folder, container(folder)
	if u.Query() != "" {
		name, around = path+"?", folder
	}
	repeats := y.shown.repeats(groupOf(host, name), groupOf(host, around), text)
	if name != path && path[len(path)-1] == '/' && u.Query() == "" {
		own := groupOf(host, path)
		y.shown.repeats(own, own, text)
	}
	return repeats
}

// addParameters counts a page for and against each of its parameters, by whether it differs from a
// page with another value of the parameter, or without it, that is otherwise equal.
func (y *Yields) addParameters(
	f *Finding, verdicts *[]Verdict, host string, u *weburl.URL, text *vocab.TextSample,
) error {
	path, query := u.Path(), u.Query()
	if query == "" {
		group := rest(host, u, "")
		y.shown.isVisited(group)
		y.shown.repeats(group, group, text)
		return nil
	}
	for _, s := range parametersOf(u) {
		group := rest(host, u, s[1:])
		known := y.shown.isVisited(group)
		repeats := y.shown.repeats(group, group, text)
		switch {
		case !known:
		case !repeats:
			err := y.count(verdicts, host, s, func(v *docindex.Yield) { v.New++ })
			if err != nil {
				return err
			}
		case y.vote(groupOf(host, path+s)):
			err := y.count(verdicts, host, s, func(v *docindex.Yield) { v.Repeated++ })
			if err != nil {
				return err
			}
			f.Breeds = append(f.Breeds, s)
		}
	}
	return nil
}

// rest returns the group of the pages whose URLs equal u except for a parameter.
func rest(host string, u *weburl.URL, name string) uint64 {
	query := u.Query()
	if query != "" {
		query = without(query, name)
	}
	return groupOf(host, u.Path()+"\x00"+query)
}

// HasShown reports whether a page was counted whose URL equals u except for a parameter.
func (y *Yields) HasShown(host string, u *weburl.URL, parameter shape) bool {
	return y.shown.has(rest(host, u, parameter[1:]), visited)
}

// suspectMissing is the number of URLs without a page in a folder at which others become doubtful.
const suspectMissing = 4

// IsSuspect reports whether a folder of u, or its numbered shape, had several URLs, none of which
// led to a page.
func (y *Yields) IsSuspect(host string, u *weburl.URL) (bool, error) {
	for _, s := range missingShapesOf(u) {
		v, err := y.get(shapeKey{host, s})
		if err != nil || v.Missing >= suspectMissing && v.New+v.Repeated == 0 {
			return err == nil, err
		}
	}
	return false, nil
}

// IsDoubtful reports whether u, which is about to be requested, has a suspect folder, or a
// parameter that had no effect so far while a page that equals u except for it was requested.
func (y *Yields) IsDoubtful(host string, u *weburl.URL) (doubtful bool, err error) {
	if doubtful, err = y.IsSuspect(host, u); err != nil {
		return false, err
	}
	for _, s := range parametersOf(u) {
		if !y.shown.add(rest(host, u, s[1:]), requested) && !y.HasShown(host, u, s) {
			continue
		}
		v, err := y.get(shapeKey{host, s})
		if err != nil {
			return false, err
		}
		doubtful = doubtful || v.New == 0
	}
	return doubtful, nil
}

// vote reports whether one more page of a path counts against a parameter.
func (y *Yields) vote(group uint64) bool {
	for n := range uint64(maxVotes) {
		if !y.shown.add(group, n) {
			return true
		}
	}
	return false
}

// AddBred counts a new URL found on a page with finding f, and removes the shapes that both have
// from f.
func (y *Yields) AddBred(
	host string, u *weburl.URL, f *Finding,
) (verdicts []Verdict, err error) {
	if len(f.Breeds) == 0 {
		return nil, nil
	}
	of := append(shapesOf(u), parametersOf(u)...)
	f.Breeds = slices.DeleteFunc(f.Breeds, func(s shape) bool {
		if err != nil || !slices.Contains(of, s) {
			return false
		}
		err = y.count(&verdicts, host, s, func(v *docindex.Yield) { v.Breeding++ })
		return true
	})
	return verdicts, err
}

// AddMissing counts a URL that led to no page.
func (y *Yields) AddMissing(host string, u *weburl.URL) (verdicts []Verdict, err error) {
	if y.Disabled() {
		return nil, nil
	}
	shapes := missingShapesOf(u)
	if extension := extensionOf(u); extension != "" {
		shapes = append(shapes, extension)
	}
	for _, s := range shapes {
		if isNumbered(s) && y.shown.has(groupOf(host, s), visited) {
			continue
		}
		err := y.count(&verdicts, host, s, func(v *docindex.Yield) { v.Missing++ })
		if err != nil {
			return nil, err
		}
	}
	return verdicts, nil
}

// Refuse counts a refused URL of a shape, and reports whether it is fetched as a sample instead.
func (y *Yields) Refuse(host string, refusal Verdict) (sample bool, err error) {
	s, t := refusal.Shape, refusal.Trap
	var n uint64
	err = y.count(nil, host, s, func(v *docindex.Yield) {
		v.Refused++
		n = v.Refused
	})
	switch {
	case s[0] == '*' && media[s[1:]]: // 1, 8, 64, …
		sample = n&(n-1) == 0 && bits.TrailingZeros64(n)%3 == 0
	case t == docindex.NoPages: // 4, 8, 16, 32, 48, …, 256, 320, …
		sample = n == 4 || n == 8 || n%16 == 0 && n <= 256 || n%64 == 0
	case t == docindex.SpentParameter: // 4, 16, 64, …
		sample = n > 1 && n&(n-1) == 0 && bits.TrailingZeros64(n)%2 == 0
	default: // 2, 4, 8, …
		sample = n > 1 && n&(n-1) == 0
	}
	return sample, err
}

// count changes the yield of a shape, and appends its current judgement to verdicts.
func (y *Yields) count(
	verdicts *[]Verdict, host string, s shape, change func(*docindex.Yield),
) error {
	k := shapeKey{host, s}
	v, err := y.get(k)
	if err != nil {
		return err
	}
	before := v
	change(&v)
	y.cache.Put(k.hash(), v)
	_, changed := y.changed[k]
	sameNew := bits.Len64(v.New) == bits.Len64(before.New)
	if before.New = v.New; changed || v != before || !sameNew {
		y.changed[k] = v
	}
	if verdicts != nil {
		*verdicts = append(*verdicts, Verdict{s, y.judge(s, v)})
	}
	return nil
}

func (y *Yields) get(k shapeKey) (v docindex.Yield, err error) {
	v, ok := y.changed[k]
	if !ok {
		v, ok = y.cache.Get(k.hash())
	}
	if ok {
		return v, nil
	}
	return y.db.Yield(k.host, k.shape)
}

func (k shapeKey) hash() vocab.Fingerprint {
	return vocab.Fingerprint(xxhash.Sum64String(k.host + "\x00" + k.shape))
}

// judge returns the trap of a shape with these counts, or 0.
func (y *Yields) judge(s shape, v docindex.Yield) docindex.Trap {
	kind := trapOf(s)
	most := uint64(max(0, y.maxRepeated))
	switch kind {
	case docindex.NoPages:
		if most = maxMissing; isNumbered(s) && v.New > 0 {
			return 0
		}
		if media[s[1:]] {
			most = 0
		}
		if y.Disabled() || v.Missing < most || v.Missing <= missingForPage*v.New && v.New > 0 {
			return 0
		}
		return kind
	case docindex.SpentFolder:
		if !y.Disabled() && v.Missing >= maxMissing && v.New+v.Repeated == 0 {
			return docindex.NoPages
		}
	default:
		most /= queryShare
	}
	if y.Disabled() || v.Breeding <= most+v.New || 2*v.Breeding < v.Repeated {
		return 0
	}
	return kind
}

// isHopeless reports whether pages with a query breed so much more than they show new text that
// even URLs linked by pages with new text are refused: filters of a list show the same items in
// ever new selections.
func (y *Yields) isHopeless(v docindex.Yield) bool {
	return v.Breeding > 2*(uint64(max(0, y.maxRepeated))/queryShare+v.New)
}

// Write puts the counts since the last Write into b.
func (y *Yields) Write(b *docindex.Batch) {
	for k, v := range y.changed {
		b.PutYield(k.host, k.shape, v)
	}
	clear(y.changed)
}

// Unwritten returns the yield of a shape if it was counted since the last Write.
func (y *Yields) Unwritten(host, s string) (docindex.Yield, bool) {
	v, ok := y.changed[shapeKey{host, s}]
	return v, ok
}

// Current returns the yield of a shape.
func (y *Yields) Current(host, s string) (docindex.Yield, error) { return y.get(shapeKey{host, s}) }

package parallel

import (
	"cmp"
	"context"
	"errors"
	"io/fs"
	"maps"
	"slices"

	"anatomy/disk/datadir"
	"anatomy/disk/linkdb"
	"anatomy/disk/repository"
	"anatomy/disk/segment"
	"anatomy/disk/shards"
	"anatomy/disk/translations"
	"anatomy/indexer/structure"
	"anatomy/vocab"
	"anatomy/weburl"
)

// Compute finds the versions of pages in the data folder dir, or in each shard, and publishes them.
// It takes no lock: it reads immutable files, and publishes a table that readers of the folder find
// through the next manifest.
func Compute(ctx context.Context, dir string) error {
	dirs, err := shards.Folders(dir)
	if err != nil {
		return err
	}
	for _, dir := range dirs {
		if err := computeFolder(ctx, dir); err != nil {
			return err
		}
	}
	return nil
}

func computeFolder(ctx context.Context, dir string) error {
	var groups []translations.Group
	err := datadir.ReadFiles(dir, func(m datadir.Manifest) (err error) {
		groups, err = findIn(ctx, dir, m)
		return err
	})
	if err != nil {
		return err
	}
	if old, err := translations.Read(dir); err == nil && (old == nil && len(groups) == 0 || old != nil && equal(old.Groups, groups)) {
		return nil
	}
	return translations.Publish(dir, groups)
}

func equal(a, b []translations.Group) bool {
	return slices.EqualFunc(a, b, func(x, y translations.Group) bool { return slices.Equal(x, y) })
}

// A source is a page that may have versions.
type source struct {
	doc     vocab.DocID
	url     weburl.URL
	address vocab.Address
	lang    segment.Language
}

// findIn returns the groups of a data folder.
func findIn(ctx context.Context, dir string, m datadir.Manifest) (all []translations.Group, err error) {
	bySite, err := sourcesOf(dir, m)
	if err != nil {
		return nil, err
	}
	repo, err := repository.OpenReader(datadir.Repository(dir))
	if err != nil {
		if errors.Is(err, fs.ErrNotExist) {
			err = nil // an index of texts
		}
		return nil, err
	}
	defer func() { err = errors.Join(err, repo.Close()) }()
	wanted := map[vocab.Address]*Page{}
	sites := map[string][]*Page{}
	names := make([]string, 0, len(bySite))
	for name, sources := range bySite {
		some := candidates(sources)
		if len(some) == 0 && declares(repo, sources) {
			some = sources
		}
		if len(some) == 0 {
			continue
		}
		names = append(names, name)
		for _, s := range some {
			p := &Page{Doc: s.doc, URL: s.url, Lang: s.lang.String()}
			wanted[s.address] = p
			sites[name] = append(sites[name], p)
		}
	}
	if len(wanted) == 0 {
		return nil, nil
	}
	if err := readPages(ctx, repo, wanted); err != nil {
		return nil, err
	}
	if err := readLinks(dir, m, wanted); err != nil {
		return nil, err
	}
	slices.Sort(names)
	for _, name := range names {
		var pages []Page
		for _, p := range sites[name] {
			if p.Page != nil {
				pages = append(pages, *p)
			}
		}
		all = append(all, Find(ctx, pages)...)
	}
	slices.SortFunc(all, func(a, b translations.Group) int { return int(int64(a[0].Doc) - int64(b[0].Doc)) })
	return all, ctx.Err()
}

// sourcesOf returns the pages of a data folder by site.
func sourcesOf(dir string, m datadir.Manifest) (map[string][]source, error) {
	bySite := map[string][]source{}
	host, site := "", ""
	err := eachPage(dir, m, func(s *segment.Segment, ord vocab.Ordinal, info vocab.DocInfo) {
		u, err := weburl.Parse(info.URL)
		if err != nil {
			return
		}
		if h := u.Hostname(); h != host {
			host, site = h, skeleton(h)
		}
		bySite[site] = append(bySite[site], source{info.Doc, u, info.Address, s.Language(ord)})
	})
	return bySite, err
}

// eachPage calls fn with the pages of HTML of a data folder. The texts of info are valid until fn returns.
func eachPage(
	dir string, m datadir.Manifest, fn func(*segment.Segment, vocab.Ordinal, vocab.DocInfo),
) error {
	cache, err := segment.NewCache(segment.CacheOptions{})
	if err != nil {
		return err
	}
	defer cache.Close()
	newer := map[vocab.DocID]bool{}
	for i, name := range slices.Backward(m.Segments) {
		s, err := segment.Open(datadir.Segment(dir, name), cache)
		if err != nil {
			return err
		}
		err = s.EachBare(func(ord vocab.Ordinal, info vocab.DocInfo) error {
			if newer[info.Doc] {
				return nil
			}
			if i > 0 {
				newer[info.Doc] = true
			}
			if info.Crawled && info.Medium == vocab.HTML && info.Address != 0 {
				fn(s, ord, info)
			}
			return nil
		})
		for _, doc := range s.Tombstones() {
			newer[doc] = true
		}
		if err := errors.Join(err, s.Close()); err != nil {
			return err
		}
	}
	return nil
}

// Minimum shares of the pages of a site for its pages to be read.
const (
	ofDeclared = 0.05 // in each of two languages, by what the index has
	ofNamed    = 0.3  // whose URLs name one of two languages in one slot
	ofVersions = 0.02 // with a URL that differs from another's in a language
)

// candidates returns the pages of a site that may have versions, by their URLs or by their
// languages in the index. It returns none if all pages are in one language.
func candidates(sources []source) (some []source) {
	declared := map[segment.Language]int{}
	named := map[slot]map[string]int{}
	keys := make(map[string]int, len(sources))
	variants := make([][]variant, len(sources))
	for i := range sources {
		declared[sources[i].lang]++
		variants[i] = variantsOf(&sources[i].url)
		keys[keyOf(&sources[i].url)]++
		for _, v := range variants[i] {
			if named[v.slot] == nil {
				named[v.slot] = map[string]int{}
			}
			named[v.slot][v.lang]++
			keys[v.key]++
		}
	}
	delete(declared, 0)
	total, languages := float64(len(sources)), 0
	for _, n := range declared {
		if n >= leastPages && float64(n) >= ofDeclared*total {
			languages++
		}
	}
	slots := map[slot]bool{}
	for slot, byLanguage := range named {
		sum, many := 0, 0
		for _, n := range byLanguage {
			if sum += n; n >= leastPages {
				many++
			}
		}
		slots[slot] = many > 1 && float64(sum) >= ofNamed*total
	}
	versions := 0
	for i := range sources {
		isTwin, inSlot := keys[keyOf(&sources[i].url)] > 1, false
		for _, v := range variants[i] {
			isTwin, inSlot = isTwin || keys[v.key] > 1, inSlot || slots[v.slot]
		}
		if isTwin {
			versions++
		}
		if isTwin || inSlot || languages > 1 && sources[i].lang != 0 {
			some = append(some, sources[i])
		}
	}
	if languages > 1 || slices.Contains(slices.Collect(maps.Values(slots)), true) ||
		versions >= 2*leastPages && float64(versions) >= ofVersions*total {
		return some
	}
	return nil
}

// sampled is the number of pages of a site that are read to check whether they declare versions.
const sampled = 2

// declares reports whether a page among the first of a site declares a version.
func declares(repo *repository.Reader, sources []source) bool {
	for _, s := range sources[:min(len(sources), sampled)] {
		record, err := repo.Read(s.address)
		if err == nil && len(structure.Parse(record.Page.Body).Alternates) > 1 {
			return true
		}
	}
	return false
}

// readPages reads pages from the repository by their addresses. A page that cannot be read has no
// structure.
func readPages(ctx context.Context, repo *repository.Reader, wanted map[vocab.Address]*Page) error {
	addresses := make([]vocab.Address, 0, len(wanted))
	for address := range wanted {
		addresses = append(addresses, address)
	}
	slices.SortFunc(addresses, func(a, b vocab.Address) int { // the last of a block first: it decodes the others
		return cmp.Or(cmp.Compare(a.File(), b.File()), cmp.Compare(a.Offset(), b.Offset()), cmp.Compare(b.Slot(), a.Slot()))
	})
	for _, address := range addresses {
		if err := ctx.Err(); err != nil {
			return err
		}
		record, err := repo.Read(address)
		if err != nil || record.Kind != repository.PageRecord || record.Page.Doc != wanted[address].Doc {
			continue
		}
		p := wanted[address]
		p.Page = structure.Parse(record.Page.Body)
		p.AddLinks(record.Page.Links)
	}
	return nil
}

// readLinks sets the links of pages to each other.
func readLinks(dir string, m datadir.Manifest, wanted map[vocab.Address]*Page) (err error) {
	byDoc := make(map[vocab.DocID]*Page, len(wanted))
	for _, p := range wanted {
		byDoc[p.Doc] = p
	}
	set, err := linkdb.OpenSet(linkdb.Paths(dir, m.Links))
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, set.Close()) }()
	for from, err := range set.Links() {
		if err != nil {
			return err
		}
		p := byDoc[from.Doc]
		if p == nil {
			continue
		}
		for _, to := range from.Targets {
			if byDoc[to.Doc] != nil {
				p.Links = append(p.Links, to.Doc)
			}
		}
	}
	return nil
}

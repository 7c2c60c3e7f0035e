// Package labels finds the products and versions of pages by patterns of their URLs:
//
//	https://docs.example.org/{product}/{version}/
//	https://db.example.org/*/{version}/ product:acme-db
//	https://legacy.example.org/manual/ product:acme-db version:1.0
//
// A pattern is for the pages below a folder. {product} and {version} stand for the name of a folder, * for a
// folder of any name; what follows the URL is said of all of its pages.
package labels

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"anatomy/disk/segment"
	"anatomy/searcher/reload"
	"anatomy/vocab"
	"anatomy/weburl"
)

// Bounds of patterns.
const (
	MaxPatterns = 100
	maxLabels   = 500  // of all patterns; further ones are ignored
	maxSites    = 100  // of a label; further ones are ignored
	maxReads    = 5000 // URLs that are read for a pattern in a segment; further folders are ignored
)

// A File is a file with patterns that may be edited while it is in use.
type File = reload.File[*Patterns]

// Patterns are the patterns of a collection. Nil has none.
type Patterns struct{ all []pattern }

type pattern struct {
	host    string // as in keys
	folders []string
	labels  []vocab.Label
}

// Parse parses patterns. The error names all wrong ones.
func Parse(texts []string) (*Patterns, error) {
	if len(texts) == 0 {
		return nil, nil
	}
	if len(texts) > MaxPatterns {
		return nil, fmt.Errorf("there are %d patterns, at most %d are possible", len(texts), MaxPatterns)
	}
	all := &Patterns{}
	var wrong []string
	for _, text := range texts {
		p, err := parse(text)
		if err != nil {
			wrong = append(wrong, err.Error())
		}
		all.all = append(all.all, p)
	}
	if len(wrong) > 0 {
		return nil, errors.New(strings.Join(wrong, "; "))
	}
	return all, nil
}

func parse(text string) (p pattern, err error) {
	url, stated, _ := strings.Cut(strings.TrimSpace(text), " ")
	_, rest, ok := strings.Cut(url, "://")
	host, path, _ := strings.Cut(rest, "/")
	u, err := weburl.Parse(url[:len(url)-len(rest)] + host + "/")
	if !ok || err != nil || strings.ContainsAny(path, "?#") {
		return p, fmt.Errorf("%q is not a URL such as https://docs.example.org/{product}/{version}/", url)
	}
	p.host = strings.TrimSuffix(u.Key(), "/")
	kinds := map[vocab.LabelKind]int{}
	for _, folder := range strings.FieldsFunc(path, func(r rune) bool { return r == '/' }) {
		switch kind, _ := strings.CutPrefix(strings.TrimSuffix(folder, "}"), "{"); {
		case folder == "{product}", folder == "{version}":
			kinds[vocab.LabelKind(kind)]++
		case folder == "*":
		case strings.ContainsAny(folder, "*{}"):
			return p, fmt.Errorf("the folder %q in %q is neither a name nor {product}, {version} or *", folder, url)
		default:
			u, err := weburl.Parse("http://a/" + folder)
			if err != nil {
				return p, fmt.Errorf("the folder %q in %q cannot be in a URL", folder, url)
			}
			folder = strings.TrimPrefix(u.Key(), "a/")
		}
		p.folders = append(p.folders, folder)
	}
	for word := range strings.FieldsSeq(stated) {
		kind, value, _ := strings.Cut(word, ":")
		l, ok := vocab.NewLabel(vocab.LabelKind(kind), value)
		if !ok || l.Kind != vocab.Product && l.Kind != vocab.Version {
			return p, fmt.Errorf("%q is not a product or version such as product:acme-db or version:1.0", word)
		}
		kinds[l.Kind]++
		p.labels = append(p.labels, l)
	}
	if len(kinds) == 0 {
		return p, fmt.Errorf("%q names neither a product nor a version: use {product} and {version}, or add version:1.0", text)
	}
	if max(kinds[vocab.Product], kinds[vocab.Version]) > 1 {
		return p, fmt.Errorf("%q names a product or a version twice", text)
	}
	return p, nil
}

// Sites are the sites of each label, as in site:.
type Sites map[vocab.Label][]string

// Add adds the sites in a segment that patterns name.
func (s Sites) Add(all *Patterns, seg *segment.Segment) error {
	for i := range all.all {
		p := &all.all[i]
		w := walk{pattern: p, seg: seg, sites: s, left: maxReads}
		if err := w.folder(p.host, 0, p.labels); err != nil {
			return err
		}
	}
	return nil
}

// A walk finds the sites of a pattern in a segment.
type walk struct {
	*pattern
	seg   *segment.Segment
	sites Sites
	left  int // URLs that may be read
}

// folder finds the sites in the folder with a key, which the first depth folders of the pattern match.
func (w *walk) folder(key string, depth int, found []vocab.Label) error {
	from, to, err := w.seg.Range(key+"/", key+"0")
	if err != nil || from == to {
		return err
	}
	if depth == len(w.folders) {
		w.add(key, found)
		return nil
	}
	name := w.folders[depth]
	if name != "*" && name[0] != '{' {
		return w.folder(key+"/"+name, depth+1, found)
	}
	for ; from < to && w.left > 0; w.left-- {
		info, err := w.seg.Record(from)
		if err != nil {
			return err
		}
		u, err := weburl.Parse(info.URL)
		if err != nil {
			return err
		}
		folder, _, isFolder := strings.Cut(strings.TrimPrefix(u.Key(), key+"/"), "/")
		if from++; !isFolder || folder == "" || strings.Contains(folder, "?") {
			continue
		}
		of := found
		if l, ok := vocab.NewLabel(vocab.LabelKind(strings.Trim(name, "{}")), folder); name != "*" && ok {
			of = append(slices.Clip(found), l)
		}
		if name == "*" || len(of) > len(found) {
			if err := w.folder(key+"/"+folder, depth+1, of); err != nil {
				return err
			}
		}
		_, end, err := w.seg.Range(key+"/"+folder+"/", key+"/"+folder+"0")
		if err != nil {
			return err
		}
		from = max(from, end)
	}
	return nil
}

// add adds a site with the labels that were found.
func (w *walk) add(key string, found []vocab.Label) {
	site := weburl.HostOfKey(w.host) + strings.TrimPrefix(key, w.host)
	for _, l := range found {
		sites, known := w.sites[l]
		if (known || len(w.sites) < maxLabels) && len(sites) < maxSites && !slices.Contains(sites, site) {
			w.sites[l] = append(sites, site)
		}
	}
}

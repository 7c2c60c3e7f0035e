package main

import (
	"bytes"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"anatomy/indexer"
	"anatomy/vocab"
)

// Sites are the pages of each site: names of files, folder by folder.
type sites [][]string

func readSites(dir string) (all sites, err error) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil, err
	}
	for _, e := range entries {
		site, err := filesIn(filepath.Join(dir, e.Name()))
		if err != nil {
			return nil, err
		}
		if len(site) > 1 {
			all = append(all, site)
		}
	}
	if len(all) == 0 {
		return nil, fmt.Errorf("%s: no folder with pages", dir)
	}
	return all, nil
}

func filesIn(dir string) (files []string, err error) {
	if dir, err = filepath.EvalSymlinks(dir); err != nil {
		return nil, err
	}
	err = filepath.WalkDir(dir, func(name string, d fs.DirEntry, err error) error {
		if err == nil && d.Type().IsRegular() && strings.Contains(filepath.Ext(name), "htm") {
			files = append(files, name)
		}
		return err
	})
	return files, err
}

func (s sites) pages() (n int) {
	for _, site := range s {
		n += len(site)
	}
	return n
}

// any chooses a site, each as likely, and a page of it that has another behind it.
func (s sites) any(r *rand.Rand) (site []string, page int) {
	site = s[r.IntN(len(s))]
	return site, r.IntN(len(site) - 1)
}

// others are two pages of one site, and two next to each other in a folder.
func (s sites) others(r *rand.Rand, n int) ([]kind, error) {
	strangers, neighbours := kind{name: "of one site"}, kind{name: "neighbours"}
	for try := 0; try < 100*n && len(neighbours.pairs) < n; try++ {
		site, i := s.any(r)
		if len(strangers.pairs) < n {
			if err := strangers.addFiles(site[i], site[r.IntN(len(site))]); err != nil {
				return nil, err
			}
		}
		if filepath.Dir(site[i]) == filepath.Dir(site[i+1]) {
			if err := neighbours.addFiles(site[i], site[i+1]); err != nil {
				return nil, err
			}
		}
	}
	return []kind{strangers, neighbours}, nil
}

// releasePairs are pages of the same path and title in one release and the next, by how much of their
// text they share.
func releasePairs(r *rand.Rand, dirs []string, n int) (kinds []kind, err error) {
	for i := 1; i < len(dirs); i++ {
		before, err := filesIn(dirs[i-1])
		if err != nil {
			return nil, err
		}
		after, err := filesIn(dirs[i])
		if err != nil {
			return nil, err
		}
		byPath := map[string]string{}
		for _, name := range after {
			byPath[pathIn(name)] = name
		}
		of := filepath.Base(dirs[i])
		bands := []kind{{name: of + ", < 0.8 shared"}, {name: of + ", 0.8 to 0.9"}, {name: of + ", 0.9 to 1", same: true}}
		r.Shuffle(len(before), func(i, j int) { before[i], before[j] = before[j], before[i] })
		for _, name := range before[:min(n, len(before))] {
			if err := addRelease(bands, name, byPath[pathIn(name)]); err != nil {
				return nil, err
			}
		}
		kinds = append(kinds, bands...)
	}
	return kinds, nil
}

func addRelease(bands []kind, before, after string) error {
	if after == "" {
		return nil
	}
	var k kind
	if err := k.addFiles(before, after); err != nil {
		return err
	}
	for _, p := range k.pairs {
		if p[0].title != p[1].title {
			continue // the names of generated pages say nothing: other pages have them in the next release
		}
		band := 0
		if share := shared(p[0].words, p[1].words); share >= 0.9 {
			band = 2
		} else if share >= 0.8 {
			band = 1
		}
		bands[band].pairs = append(bands[band].pairs, p)
	}
	return nil
}

// pathIn is the path of a page within its release: …/usr/share/doc/PACKAGE-VERSION/path.
func pathIn(name string) string {
	if _, path, ok := strings.Cut(name, "/usr/share/doc/"); ok {
		_, path, _ = strings.Cut(path, "/")
		return path
	}
	return name
}

// shared is the share of pairs of neighbouring words that two texts have in common.
func shared(a, b []string) float64 {
	in := map[string]int{}
	for text, words := range [][]string{a, b} {
		for i := 1; i < len(words); i++ {
			in[words[i-1]+" "+words[i]] |= 1 << text
		}
	}
	both := 0
	for _, texts := range in {
		if texts == 3 {
			both++
		}
	}
	return float64(both) / float64(max(len(in), 1))
}

// A text is what is compared of a page.
type text struct {
	title  string
	words  []string // of the body
	sketch vocab.Sketch
}

// minWords leaves out pages of so little text that no change is a small one.
const minWords = 30

// add adds a pair of pages that differ and have words enough.
func (k *kind) add(a, b []byte) {
	if bytes.Equal(a, b) {
		return
	}
	if x, y := textOf(a), textOf(b); len(x.words) >= minWords && len(y.words) >= minWords {
		k.pairs = append(k.pairs, pair{x, y})
	}
}

func (k *kind) addFiles(a, b string) error {
	x, err := os.ReadFile(a)
	if err != nil {
		return err
	}
	y, err := os.ReadFile(b)
	if err == nil {
		k.add(x, y)
	}
	return err
}

// textOf is the text of a page, none where it cannot be read.
func textOf(body []byte) (t text) {
	var buf indexer.Buffer
	d, err := indexer.Parse(&vocab.Page{Doc: 1, URL: "http://a.test/", ContentType: "text/html", Body: body}, &buf)
	if err != nil {
		return t
	}
	for w, hit := range d.Hits() {
		if hit.Field() == vocab.Body {
			t.words = append(t.words, string(w))
		}
	}
	t.title, t.sketch, t.words = d.Info.Title, d.Info.Sketch, slices.Clip(t.words)
	return t
}

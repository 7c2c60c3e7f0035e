package demo

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"embed"
	"encoding/hex"
	"encoding/xml"
	"fmt"
	"io/fs"
	"maps"
	"net/http"
	"path"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"

	"anatomy"
)

//go:embed site
var files embed.FS

const (
	documentsHost = "source.test" // serves the project's own documents
	sitemapPath   = "/sitemap.xml"
)

// A site is all hosts of the web, rendered. It is read-only except for its counters.
type site struct {
	hosts                map[string]*host
	requests, trespasses atomic.Int64
}

// A host is one name of the web.
type host struct {
	name    string
	home    string             // title of its start page, to which all its pages link
	answers map[string]*answer // by path
}

// An answer is the response for a path.
type answer struct {
	status      int
	location    string // of a redirect
	contentType string
	body        []byte
	compressed  []byte // the body in gzip, or nil
	etag        string
	page        *meta // nil for redirects, robots.txt and sitemaps
	again       bool  // the second path of a page
}

// load renders the embedded pages and documents.
func load() (*site, error) {
	tree, err := fs.Sub(files, "site")
	if err != nil {
		return nil, fmt.Errorf("demo: %w", err)
	}
	return newSite(tree, anatomy.Docs)
}

// newSite builds the web from a tree of documents and one of HOST/PATH.md, HOST/PATH.svg,
// HOST/answers.txt and HOST/robots.txt.
func newSite(pages, documents fs.FS) (*site, error) {
	s := &site{hosts: make(map[string]*host)}
	names, err := fs.ReadDir(pages, ".")
	if err != nil {
		return nil, fmt.Errorf("demo: %w", err)
	}
	for _, name := range names {
		if s.hosts[name.Name()], err = newHost(pages, name.Name()); err != nil {
			return nil, fmt.Errorf("demo: %s: %w", name.Name(), err)
		}
	}
	if err := s.hosts[documentsHost].addDocuments(documents); err != nil {
		return nil, fmt.Errorf("demo: %s: %w", documentsHost, err)
	}
	for _, h := range s.hosts {
		if err := h.addSitemap(); err != nil {
			return nil, fmt.Errorf("demo: %s: %w", h.name, err)
		}
	}
	return s, nil
}

// Hosts returns the names of all hosts, sorted.
func (s *site) Hosts() []string { return slices.Sorted(maps.Keys(s.hosts)) }

// Pages returns the number of pages that a crawler stores: see [Web.Pages].
func (s *site) Pages() (n int) {
	for _, h := range s.hosts {
		for _, a := range h.answers {
			if a.page != nil && !a.page.Forbidden && !a.again {
				n++
			}
		}
	}
	return n
}

func newHost(pages fs.FS, name string) (*host, error) {
	h := &host{name: name, answers: make(map[string]*answer)}
	tree, err := fs.Sub(pages, name)
	if err != nil {
		return nil, err
	}
	start, err := fs.ReadFile(tree, "index.md")
	if err != nil {
		return nil, err
	}
	m, _, err := readMeta(string(start))
	if err != nil {
		return nil, fmt.Errorf("index.md: %w", err)
	}
	h.home = m.Title
	err = fs.WalkDir(tree, ".", func(file string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		source, err := fs.ReadFile(tree, file)
		if err == nil {
			err = h.addFile(file, source)
		}
		if err != nil {
			return fmt.Errorf("%s: %w", file, err)
		}
		return nil
	})
	return h, err
}

func (h *host) addFile(file string, source []byte) error {
	switch {
	case file == "answers.txt":
		return h.readAnswers(source)
	case file == "robots.txt":
		return h.add("/robots.txt", &answer{status: http.StatusOK, contentType: "text/plain; charset=utf-8", body: source})
	case path.Ext(file) == ".svg":
		return h.add("/"+file, &answer{status: http.StatusOK, contentType: "image/svg+xml", body: source})
	case path.Ext(file) == ".md":
		return h.addPage("/"+pagePath(file), source)
	}
	return fmt.Errorf("not a page, a figure, answers.txt or robots.txt")
}

// pagePath returns "dir/name" for "dir/name.md" and "dir/" for "dir/index.md".
func pagePath(file string) string {
	name := strings.TrimSuffix(file, ".md")
	if path.Base(name) == "index" {
		return strings.TrimSuffix(name, "index")
	}
	return name
}

func (h *host) addPage(at string, source []byte) error {
	m, text, err := readMeta(string(source))
	if err != nil {
		return err
	}
	body, err := newMarkdown().page(text)
	if err != nil {
		return err
	}
	page, err := m.render(body, h.home)
	if err != nil {
		return err
	}
	return h.addRendered(at, &m, page)
}

func (h *host) addRendered(at string, m *meta, page []byte) error {
	a := &answer{status: http.StatusOK, contentType: m.contentType(), body: page, etag: etag(page), page: m}
	if m.Gzip {
		a.compressed = compress(page)
	}
	if m.Also != "" {
		again := *a
		again.again = true
		if err := h.add(m.Also, &again); err != nil {
			return err
		}
	}
	return h.add(at, a)
}

func (h *host) add(at string, a *answer) error {
	if h.answers[at] != nil {
		return fmt.Errorf("two answers for %s", at)
	}
	h.answers[at] = a
	return nil
}

// readAnswers reads the lines of answers.txt: a status, a path, and the target of a redirect.
//
//	301 /old /new
//	410 /demolished
func (h *host) readAnswers(source []byte) error {
	lines := bufio.NewScanner(bytes.NewReader(source))
	for lines.Scan() {
		fields := strings.Fields(lines.Text())
		if len(fields) < 2 {
			return fmt.Errorf("bad line %q", lines.Text())
		}
		status, err := strconv.Atoi(fields[0])
		if err != nil || (status/100 == 3) != (len(fields) == 3) {
			return fmt.Errorf("bad line %q", lines.Text())
		}
		a := &answer{status: status}
		if len(fields) == 3 {
			a.location = fields[2]
		}
		if err := h.add(fields[1], a); err != nil {
			return err
		}
	}
	return lines.Err()
}

// addDocuments adds a page for each document: /readme for README.md, /doc/paper for doc/paper.md.
func (h *host) addDocuments(documents fs.FS) error {
	names, err := documentNames(documents)
	if err != nil {
		return err
	}
	pageOf := func(file string) (string, bool) { return documentPath(file), slices.Contains(names, file) }
	for _, name := range names {
		source, err := fs.ReadFile(documents, name)
		if err != nil {
			return err
		}
		title, body, err := newMarkdown().document(string(source), name, pageOf)
		if err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
		m := &meta{Title: title, Lang: "en"}
		page, err := m.render(body, h.home)
		if err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
		if err := h.addRendered(documentPath(name), m, page); err != nil {
			return err
		}
	}
	return nil
}

func documentNames(documents fs.FS) (names []string, err error) {
	err = fs.WalkDir(documents, ".", func(name string, entry fs.DirEntry, err error) error {
		if err == nil && !entry.IsDir() {
			names = append(names, name)
		}
		return err
	})
	return names, err
}

func documentPath(file string) string {
	return "/" + strings.ToLower(strings.TrimSuffix(file, ".md"))
}

// addSitemap adds the sitemap of a host whose robots.txt has one (sitemaps.org 0.9). It lists all pages
// except forbidden ones and second paths.
func (h *host) addSitemap() error {
	robots, line := h.answers["/robots.txt"], "\nSitemap: http://"+h.name+sitemapPath+"\n"
	if robots == nil || !bytes.Contains(robots.body, []byte(line)) {
		return nil
	}
	type entry struct {
		Loc string `xml:"loc"`
	}
	list := struct {
		XMLName xml.Name `xml:"http://www.sitemaps.org/schemas/sitemap/0.9 urlset"`
		URLs    []entry  `xml:"url"`
	}{}
	for _, at := range slices.Sorted(maps.Keys(h.answers)) {
		if a := h.answers[at]; a.page != nil && !a.page.Forbidden && !a.again {
			list.URLs = append(list.URLs, entry{"http://" + h.name + at})
		}
	}
	body, err := xml.MarshalIndent(list, "", " ")
	if err != nil {
		return err
	}
	return h.add(sitemapPath, &answer{
		status:      http.StatusOK,
		contentType: "application/xml; charset=utf-8",
		body:        append([]byte(xml.Header), body...),
	})
}

func etag(body []byte) string {
	sum := sha256.Sum256(body)
	return `"` + hex.EncodeToString(sum[:8]) + `"`
}

// compress returns body in gzip. It cannot fail, since it writes to memory.
func compress(body []byte) []byte {
	var out bytes.Buffer
	w := gzip.NewWriter(&out)
	_, _ = w.Write(body)
	_ = w.Close()
	return out.Bytes()
}

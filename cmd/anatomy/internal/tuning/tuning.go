// Package tuning changes the files of a data folder that decide what searches find.
package tuning

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"

	"anatomy/cmd/anatomy/internal/quality"
	"anatomy/cmd/anatomy/internal/rules"
	"anatomy/config"
	"anatomy/disk/durable"
	"anatomy/searcher"
	"anatomy/web/admin"
)

// Files are those of a data folder. Searchers read synonyms and pins again when they change. Files
// implements admin.Tuning and web.SearchStore.
type Files struct {
	dir string
	mu  sync.Mutex // one change at a time

	learning sync.Mutex // guards all below
	proposal *proposal  // nil for none
	count    int        // of proposals
}

// A proposal is weights that were learnt, with what the admin page shows of them.
type proposal struct {
	weights searcher.Weights
	view    *admin.Proposal
}

// New returns the files of a data folder.
func New(dir string) *Files { return &Files{dir: dir} }

// searches is the name of the file of the counts of searches, which web/internal/recent writes.
const searches = "searches.json"

// ReadSearches returns the counts of searches, or nil without a file.
func (t *Files) ReadSearches() ([]byte, error) {
	content, err := os.ReadFile(filepath.Join(t.dir, searches))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	return content, err
}

// WriteSearches replaces the counts of searches. Only the owner of the file can read it.
func (t *Files) WriteSearches(content []byte) error {
	return durable.WritePrivate(durable.OS, filepath.Join(t.dir, searches), content)
}

// AddSynonyms adds a line to the file of synonyms.
func (t *Files) AddSynonyms(line string) (string, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	file, err := rules.AddSynonyms(t.dir, line)
	if err != nil {
		return "", err
	}
	return strings.Join(strings.Fields(line), " ") + ": added to " + file, nil
}

// AddPin adds a pin to anatomy.toml.
func (t *Files) AddPin(query, url, title, note string) (string, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	pin := config.Pin{
		Queries: []string{strings.TrimSpace(query)}, URL: strings.TrimSpace(url),
		Title: strings.TrimSpace(title), Note: strings.TrimSpace(note),
	}
	if err := rules.AddPin(t.dir, pin); err != nil {
		return "", err
	}
	return pin.Queries[0] + ": pinned to " + pin.URL + ", in " + config.Path(t.dir), nil
}

// SetMark marks a page of a query as right or wrong for it, or takes its mark back.
func (t *Files) SetMark(query, url string, mark admin.Mark) (string, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	to := map[admin.Mark]quality.Mark{admin.Right: quality.Right, admin.Wrong: quality.Wrong, admin.None: quality.Unjudged}
	file, err := quality.SetMark(t.dir, query, url, to[mark])
	if err != nil {
		return "", err
	}
	said := map[admin.Mark]string{
		admin.Right: "marked as right", admin.Wrong: "marked as wrong", admin.None: "the mark is taken back",
	}[mark]
	return strings.TrimSpace(query) + ": " + said + ", in " + file + ". To measure: anatomy eval " + file, nil
}

// DropJudged takes back all marks of a query.
func (t *Files) DropJudged(query string) (string, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	file, err := quality.DropQuery(t.dir, query)
	if err != nil {
		return "", err
	}
	return strings.TrimSpace(query) + ": removed from " + file, nil
}

// Judged returns the judged queries, in the order of their first marks.
func (t *Files) Judged() ([]admin.Judged, error) {
	lines, err := quality.ReadMarks(t.dir)
	all := make([]admin.Judged, len(lines))
	for i, line := range lines {
		all[i] = admin.Judged(line)
	}
	return all, err
}

// Marks returns the marks of pages of a query.
func (t *Files) Marks(query string, urls []string) ([]admin.Mark, error) {
	lines, err := quality.ReadMarks(t.dir)
	if err != nil {
		return nil, err
	}
	all := make([]admin.Mark, len(urls))
	for i := range all {
		all[i] = admin.None
	}
	for i := range lines {
		if !quality.SameQuery(lines[i].Query, query) {
			continue
		}
		for n, url := range urls {
			all[n] = markOf(lines[i].MarkOf(url))
		}
	}
	return all, nil
}

func markOf(m quality.Mark) admin.Mark {
	switch m {
	case quality.Right:
		return admin.Right
	case quality.Wrong:
		return admin.Wrong
	}
	return admin.None
}

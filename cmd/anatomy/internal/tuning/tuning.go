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
)

// Files are those of a data folder. Searchers read synonyms and pins again when they change. Files
// implements admin.Tuning and web.SearchStore.
type Files struct {
	dir string
	mu  sync.Mutex // one change at a time
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

// AddJudged adds a line to the judged queries, or a page to one.
func (t *Files) AddJudged(query, url string) (string, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	file, err := quality.AddJudged(t.dir, query, url)
	if err != nil {
		return "", err
	}
	return strings.TrimSpace(query) + ": judged, in " + file + ". To measure: anatomy eval " + file, nil
}

package rig

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"anatomy/disk/docindex"
	"anatomy/disk/shards"
	"anatomy/vocab"
)

// Pages maps each URL that has a page, without its scheme, to the content. Http and https of a host
// are one identity, and which of them a page is fetched by is that of the link that was seen first.
type Pages map[string]vocab.ContentID

// ReadPages reads the pages of a data folder.
func ReadPages(data string) (Pages, error) {
	dirs, err := shards.Folders(data)
	if err != nil {
		return nil, err
	}
	found := Pages{}
	for _, dir := range dirs {
		if _, err := os.Stat(filepath.Join(dir, "docindex")); err != nil && len(dirs) > 1 {
			continue // a shard that has nothing yet
		}
		if err := found.read(dir); err != nil {
			return nil, err
		}
	}
	return found, nil
}

func (p Pages) read(dir string) error {
	docs, err := docindex.OpenReadOnly(filepath.Join(dir, "docindex"))
	if err != nil {
		return err
	}
	defer docs.Close()
	return docs.Each(1, func(r docindex.Record) error {
		if r.Fetch != nil && r.Fetch.Outcome == vocab.Fetched {
			_, rest, _ := strings.Cut(r.URL, "://")
			p[rest] = r.Fetch.Content
		}
		return nil
	})
}

// Same prints what differs from the pages that are wanted, and fails if something does.
func (p Pages) Same(want Pages) error {
	differ := 0
	for url, content := range want {
		if p[url] != content {
			differ++
			fmt.Println("differs:", url)
		}
	}
	for url := range p {
		if _, ok := want[url]; !ok {
			differ++
			fmt.Println("more:", url)
		}
	}
	if differ > 0 {
		return fmt.Errorf("%d URLs differ", differ)
	}
	return nil
}

package collection

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"

	"anatomy/disk/datadir"
	"anatomy/disk/segment"
	"anatomy/disk/shards"
	"anatomy/vocab"
	"anatomy/weburl"
)

// Scripted counts the pages without text unless JavaScript runs, see [vocab.Scripted].
type Scripted struct {
	Pages int           `json:"pages"`
	Hosts []HostedPages `json:"hosts"` // by descending number of such pages, at most maxScriptedHosts
}

// HostedPages is a host with a number of pages.
type HostedPages struct {
	Host  string `json:"host"`
	Pages int    `json:"pages"`
}

const maxScriptedHosts = 20

// CountScripted counts the pages without text in the data folder dir, or in all shards of a folder.
func CountScripted(dir string) (*Scripted, error) {
	dirs, err := shards.Folders(dir)
	if err != nil {
		return nil, err
	}
	byHost := map[string]int{}
	for _, dir := range dirs {
		m, err := datadir.ReadManifest(dir)
		if err != nil {
			return nil, err
		}
		for _, name := range m.Segments {
			s, err := segment.Open(datadir.Segment(dir, name), nil)
			if err != nil {
				return nil, err
			}
			if err := errors.Join(addScripted(byHost, s), s.Close()); err != nil {
				return nil, err
			}
		}
	}
	return newScripted(byHost), nil
}

func newScripted(byHost map[string]int) *Scripted {
	all := &Scripted{Hosts: []HostedPages{}}
	for host, n := range byHost {
		all.Pages += n
		all.Hosts = append(all.Hosts, HostedPages{host, n})
	}
	slices.SortFunc(all.Hosts, func(a, b HostedPages) int {
		return cmp.Or(b.Pages-a.Pages, strings.Compare(a.Host, b.Host))
	})
	all.Hosts = all.Hosts[:min(len(all.Hosts), maxScriptedHosts)]
	return all
}

// addScripted adds the pages of a segment. The pages of a host are contiguous, and the URL of the
// first names the host.
func addScripted(byHost map[string]int, s *segment.Segment) error {
	run, name := "", ""
	for ord := range vocab.Ordinal(s.Docs()) {
		if s.Genre(ord) != vocab.Scripted {
			continue
		}
		if host := s.Host(ord); host != run {
			info, err := s.Record(ord)
			if err != nil {
				return err
			}
			u, err := weburl.Parse(info.URL)
			if err != nil {
				return err
			}
			run, name = host, u.Host()
		}
		byHost[name]++
	}
	return nil
}

// namedHosts is the number of hosts in the text.
const namedHosts = 5

// String returns "3 pages have no text without JavaScript: www.example.org 2, …", and "" if
// there are none.
func (s *Scripted) String() string {
	if s.Pages == 0 {
		return ""
	}
	var hosts []string
	for _, h := range s.Hosts[:min(len(s.Hosts), namedHosts)] {
		hosts = append(hosts, fmt.Sprintf("%s %d", h.Host, h.Pages))
	}
	if len(s.Hosts) > namedHosts {
		hosts = append(hosts, "and others")
	}
	what := "pages have"
	if s.Pages == 1 {
		what = "page has"
	}
	return fmt.Sprintf("%d %s no text without JavaScript: %s", s.Pages, what, strings.Join(hosts, ", "))
}

// Package shards defines the layout of a collection in several data folders, its shards, below one
// folder:
//
//	DIR/
//	  SHARDS            map of sites to shards, and the ID of each data folder; see below
//	  shard-0/ …        ordinary data folders
//	  shard-0.foreign … documents of other shards that it mentions, see [Foreign]; in a divided
//	                    collection, shard-0/foreign
//	  REPAIR            only until a repair has been completed
//	  translations      versions of pages over all shards, if the collection was split; see package translations
//	  parcels/ …        parcels between shards filled by a crawl, see package parcel; in a divided
//	                    collection, shard-0/parcels/ has the parcels that shard 0 sends
//
// A shard has the documents of its sites. It also mentions documents of other shards: targets and
// sources of links, targets of redirects. They have docIDs there, after those of its own documents,
// names and links, and are outside the scope of its crawl.
//
// # SHARDS, version 1
//
// Lines of text. Sites are divided by hash; those with a line "hosts" are divided by host. The last
// line has the xxhash64 of all before it.
//
//	anatomy shards 1
//	suffixes publicsuffix.org's public_suffix_list.dat, git revision … (…)
//	hosts example.org
//	folder 0f1e2d3c4b5a69788796a5b4c3d2e1f0
//	folder 00112233445566778899aabbccddeeff
//	sum 0123456789abcdef
package shards

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/cespare/xxhash/v2"

	"anatomy/disk/datadir"
	"anatomy/disk/durable"
	"anatomy/weburl"
)

// Max is the maximum number of shards of a collection.
const Max = 256

// A Map assigns sites to shards.
type Map struct {
	Hosts    []string // sites that are divided by host
	Suffixes string   // version of the public suffix list that determines sites; see [weburl.Suffixes]
	Folders  []string // IDs of the data folders, by shard
}

// Of returns the shard of a URL.
func (m *Map) Of(u *weburl.URL) int {
	site := u.Site()
	if slices.Contains(m.Hosts, site) {
		return m.shard(u.Host())
	}
	return m.shard(site)
}

// HasSite reports whether a shard may have URLs of a site.
func (m *Map) HasSite(shard int, site string) bool {
	return m.shard(site) == shard || slices.Contains(m.Hosts, site)
}

// HasHost reports whether a shard has the URLs of a host.
func (m *Map) HasHost(shard int, host string) bool {
	u, err := weburl.Parse("http://" + host + "/")
	return err == nil && m.Of(&u) == shard
}

func (m *Map) shard(name string) int {
	return int(xxhash.Sum64String(name) % uint64(len(m.Folders)))
}

const firstLine = "anatomy shards 1\n"

// encode returns the content of SHARDS.
func (m *Map) encode() []byte {
	var b strings.Builder
	b.WriteString(firstLine)
	fmt.Fprintf(&b, "suffixes %s\n", m.Suffixes)
	for _, site := range m.Hosts {
		fmt.Fprintf(&b, "hosts %s\n", site)
	}
	for _, id := range m.Folders {
		fmt.Fprintf(&b, "folder %s\n", id)
	}
	return fmt.Appendf(nil, "%ssum %016x\n", b.String(), xxhash.Sum64String(b.String()))
}

// FileName is the name of the file SHARDS.
const FileName = "SHARDS"

// Decode parses the content of a file SHARDS.
func Decode(b []byte) (*Map, error) {
	text := string(b)
	if !strings.HasPrefix(text, firstLine) {
		line, _, _ := strings.Cut(text, "\n")
		return nil, fmt.Errorf("it begins with %.40q, and this program reads %.16q", line, firstLine)
	}
	at := strings.LastIndex(strings.TrimSuffix(text, "\n"), "\n") + 1
	if text[at:] != fmt.Sprintf("sum %016x\n", xxhash.Sum64String(text[:at])) {
		return nil, errors.New("the checksum is wrong")
	}
	m := &Map{}
	for line := range strings.Lines(text[len(firstLine):at]) {
		key, value, _ := strings.Cut(strings.TrimSuffix(line, "\n"), " ")
		switch key {
		case "suffixes":
			m.Suffixes = value
		case "hosts":
			m.Hosts = append(m.Hosts, value)
		case "folder":
			m.Folders = append(m.Folders, value)
		default:
			return nil, fmt.Errorf("line %.40q is unknown", line)
		}
	}
	if n := len(m.Folders); n == 0 || n > Max {
		return nil, fmt.Errorf("it names %d shards", n)
	}
	return m, nil
}

// again is the hint in errors about a damaged file.
const again = "make the folder again with \"anatomy split\""

// Write makes dir, which has the shards, a folder of shards. It is the last step of creating one.
func (m *Map) Write(dir string) error {
	if err := durable.WriteFile(durable.OS, datadir.Shards(dir), m.encode()); err != nil {
		return fmt.Errorf("shards: %w", err)
	}
	return nil
}

// Read returns the Map of a folder of shards, or nil if dir is not such a folder.
func Read(dir string) (*Map, error) {
	b, err := os.ReadFile(datadir.Shards(dir))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("shards: %w", err)
	}
	m, err := Decode(b)
	if err != nil {
		return nil, fmt.Errorf("%s is damaged: %w; %s", datadir.Shards(dir), err, again)
	}
	return m, nil
}

// Check returns nil for a folder of shards, and for a data folder of a format that this program
// reads. Otherwise the error is that of [Folders] or of [datadir.CheckVersion].
func Check(dir string) error {
	dirs, err := Folders(dir)
	for _, dir := range dirs {
		err = errors.Join(err, datadir.CheckVersion(dir))
	}
	return err
}

// Folders returns the data folders of a collection: dir itself, or its shards. The error is that of
// [Read], or means that a shard is missing or is not the folder that SHARDS names.
func Folders(dir string) ([]string, error) {
	dirs, missing, err := find(dir)
	if err == nil && len(missing) > 0 {
		err = fmt.Errorf("shard %d of %d: %s: %w", missing[0], len(dirs), dirs[missing[0]], datadir.ErrNone)
	}
	if err != nil {
		return nil, err
	}
	return dirs, nil
}

// find returns the data folders of a collection, and the numbers of those that do not exist.
func find(dir string) (dirs []string, missing []int, err error) {
	m, err := Read(dir)
	if err != nil {
		return nil, nil, err
	}
	if m == nil {
		return []string{dir}, nil, nil
	}
	dirs = make([]string, len(m.Folders))
	for i, id := range m.Folders {
		dirs[i] = Folder(dir, i)
		switch found, err := datadir.ReadID(dirs[i]); {
		case errors.Is(err, datadir.ErrNone):
			missing = append(missing, i)
		case err != nil:
			return nil, nil, fmt.Errorf("shard %d of %d: %w", i, len(dirs), err)
		case found != id:
			return nil, nil, fmt.Errorf("shard %d of %d: %s is another data folder than %s names",
				i, len(dirs), dirs[i], datadir.Shards(dir))
		}
	}
	return dirs, missing, nil
}

// Parcels returns the folder of the parcels between the shards of a crawl.
func Parcels(dir string) string { return filepath.Join(dir, "parcels") }

// Folder returns the path of a shard.
func Folder(dir string, shard int) string {
	return filepath.Join(dir, fmt.Sprintf("shard-%d", shard))
}

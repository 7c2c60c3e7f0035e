// Package translations stores which pages of a data folder are versions of one page in several
// languages: groups of documents, each with its language and the evidence for it.
//
// The table is one file, computed offline from the pages and replaced as a whole. DocIDs are
// permanent, so a table stays valid when segments are merged; later pages are in no group.
// Searching works without it. Shards into which a folder was split have one table together, with DocIDs of
// the collection, because versions may be in several shards. Shards of a crawl have one each.
//
//	OFFSET  SIZE  MEANING (little endian)
//	0       8     magic "anattrns"
//	8       4     version, 1
//	12      4     f, the length of the ID of the data folder
//	16      8     generation of the manifest that it was computed from
//	24      f     ID of the data folder
//	24+f    …     groups, each: number of versions, and per version: gap of its docID from the one
//	              before in the group, flags, confidence, length of the language, language; numbers are
//	              varints but for flags and confidence, a byte each
//	end-8   8     xxhash64 of all before
//
// Flags are [Evidence] in the lower seven bits; the highest marks a copy. Example: documents 5, in
// English, and 9, in German by its path at confidence 97, is the group 02 05 00 64 02 "en" 04 02 61
// 02 "de". A group takes about 6 bytes per version.
//
// Versions: 1, November 2026.
package translations

import (
	"encoding/binary"
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
	"anatomy/vocab"
)

// Evidence is the set of reasons why a version belongs to its group.
type Evidence uint8

// The kinds of evidence.
const (
	Hreflang  Evidence = 1 << iota // a version names another as its alternate in a language
	URL                            // the URLs differ only in the name of a language
	Links                          // versions link to each other, or to versions of the same pages
	Structure                      // tags, lengths of texts, pictures and identifiers are alike
	Content                        // numbers, names and code are alike
	all       = Hreflang | URL | Links | Structure | Content
)

var evidenceNames = []string{"hreflang", "url", "links", "structure", "content"}

// String returns the names of the set, joined by "+".
func (e Evidence) String() string {
	var names []string
	for i, name := range evidenceNames {
		if e>>i&1 != 0 {
			names = append(names, name)
		}
	}
	return strings.Join(names, "+")
}

// A Version is one page of a group.
type Version struct {
	Doc        vocab.DocID
	Lang       string   // BCP 47, lower case: "de", "pt-br"
	Evidence   Evidence // evidence that it belongs to the group; 0 for the version that others were compared with
	Confidence uint8    // percent
	Copy       bool     // most of its text equals that of another version: it is untranslated
}

// A Group has the versions of one page, ascending by Doc, at most MaxVersions.
type Group []Version

// MaxVersions bounds a group. It exceeds the number of languages of the world's largest sites.
const MaxVersions = 256

// maxLanguage is the length of the longest valid language tag (RFC 5646 §4.4.1).
const maxLanguage = 35

// A Table has all groups of a data folder. Each document is in at most one group.
type Table struct {
	Folder     string // ID of the data folder
	Generation uint64 // of the manifest that it was computed from
	Groups     []Group

	groupOf map[vocab.DocID]int32
}

// Of returns the group of a document, or nil. A nil table has no groups.
func (t *Table) Of(doc vocab.DocID) Group {
	if t == nil {
		return nil
	}
	if i, ok := t.groupOf[doc]; ok {
		return t.Groups[i]
	}
	return nil
}

// Version returns the version with a document, or nil.
func (g Group) Version(doc vocab.DocID) *Version {
	if i := slices.IndexFunc(g, func(v Version) bool { return v.Doc == doc }); i >= 0 {
		return &g[i]
	}
	return nil
}

// Versions returns the number of pages in all groups, including copies.
func (t *Table) Versions() (versions int) {
	for _, g := range t.Groups {
		versions += len(g)
	}
	return versions
}

// A Pair is two pages that are translations of each other.
type Pair struct {
	A, B       Version
	Evidence   Evidence
	Confidence uint8 // percent
}

// Pairs calls fn with the pairs of a group. Copies are in no pair.
func (g Group) Pairs(fn func(Pair)) {
	for i, a := range g {
		for _, b := range g[i+1:] {
			if !a.Copy && !b.Copy {
				c := int(a.Confidence) * int(b.Confidence) / 100
				fn(Pair{a, b, a.Evidence | b.Evidence, uint8(c)})
			}
		}
	}
}

const (
	magic      = "anattrns"
	version    = 1
	headerSize = 24
	sumSize    = 8
	copyFlag   = 0x80
	name       = "translations"
)

// Path is the file of the table in a data folder.
func Path(dir string) string { return filepath.Join(dir, name) }

// Read returns the table of the data folder dir, or nil if it has none.
func Read(dir string) (*Table, error) { return new(Cache).Read(dir) }

// A Cache caches the table of a data folder, which is replaced less often than the manifest. It is
// not safe for concurrent use.
type Cache struct {
	table *Table
	file  fs.FileInfo // file that table was read from; nil at first
}

// Read is [Read], but decodes the table only if its file has changed.
func (c *Cache) Read(dir string) (*Table, error) {
	file, err := os.Stat(Path(dir))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err == nil && !c.has(file) {
		c.table, err = readFile(Path(dir))
		c.file = file
	}
	if err != nil {
		*c = Cache{}
		return nil, fmt.Errorf("translations: %s: %w; \"anatomy index\" computes them again", Path(dir), err)
	}
	id, err := datadir.ReadID(dir)
	if err != nil || c.table.Folder != id {
		return nil, err // it was copied with another folder
	}
	return c.table, nil
}

// has reports whether the table was read from a file.
func (c *Cache) has(file fs.FileInfo) bool {
	return c.file != nil && os.SameFile(file, c.file) &&
		file.Size() == c.file.Size() && file.ModTime().Equal(c.file.ModTime())
}

// ReadSplit returns the table of the shards that a data folder was split into, or nil if there is none. Its
// DocIDs are those in the collection, so a group may have pages of several shards. It is beside the shards,
// and has the ID of the first of them.
func ReadSplit(shards []string) (*Table, error) {
	path := Path(filepath.Dir(shards[0]))
	t, err := readFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("translations: %s: %w; make the folder again with \"anatomy split\"", path, err)
	}
	if first, err := datadir.ReadID(shards[0]); err != nil || t.Folder != first {
		return nil, err // it was copied with another folder
	}
	return t, nil
}

// WriteSplit writes the table that ReadSplit reads to the folder dir of the shards. first is the ID of the first
// one.
func WriteSplit(dir, first string, groups []Group) error {
	if err := checkAll(groups); err != nil {
		return err
	}
	t := &Table{Folder: first, Groups: groups}
	if err := durable.WriteFile(durable.OS, Path(dir), t.encode()); err != nil {
		return fmt.Errorf("translations: %w", err)
	}
	return nil
}

func readFile(path string) (*Table, error) {
	b, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	return decode(b)
}

// Publish durably makes a table current in the data folder dir. On an error the previous one stays.
// Searchers read it with the next manifest, which Publish publishes.
func Publish(dir string, groups []Group) error {
	if err := checkAll(groups); err != nil {
		return err
	}
	err := datadir.PublishFile(dir, func(m datadir.Manifest) error {
		t := &Table{Folder: m.Folder, Generation: m.Generation, Groups: groups}
		return durable.WriteFile(durable.OS, Path(dir), t.encode())
	})
	if err != nil {
		return fmt.Errorf("translations: %w", err)
	}
	return nil
}

func (t *Table) encode() []byte {
	le := binary.LittleEndian
	b := append([]byte(nil), magic...)
	b = le.AppendUint32(b, version)
	b = le.AppendUint32(b, uint32(len(t.Folder)))
	b = le.AppendUint64(b, t.Generation)
	b = append(b, t.Folder...)
	for _, g := range t.Groups {
		b = binary.AppendUvarint(b, uint64(len(g)))
		before := vocab.DocID(0)
		for _, v := range g {
			b = binary.AppendUvarint(b, uint64(v.Doc-before))
			flags := byte(v.Evidence)
			if v.Copy {
				flags |= copyFlag
			}
			b = append(b, flags, v.Confidence)
			b = append(binary.AppendUvarint(b, uint64(len(v.Lang))), v.Lang...)
			before = v.Doc
		}
	}
	return le.AppendUint64(b, xxhash.Sum64(b))
}

// decode verifies the checksum and all properties that the methods of Table rely on.
func decode(b []byte) (*Table, error) {
	le := binary.LittleEndian
	if len(b) < headerSize+sumSize || string(b[:8]) != magic {
		return nil, errors.New("it is not a table of translations")
	}
	if v := le.Uint32(b[8:]); v != version {
		return nil, fmt.Errorf("it has format %d, this program reads %d", v, version)
	}
	body := b[:len(b)-sumSize]
	if le.Uint64(b[len(body):]) != xxhash.Sum64(body) {
		return nil, errors.New("the checksum is wrong")
	}
	folder := uint64(le.Uint32(b[12:]))
	if folder > uint64(len(body)-headerSize) {
		return nil, errDamaged
	}
	t := &Table{Generation: le.Uint64(b[16:]), groupOf: map[vocab.DocID]int32{}}
	t.Folder = string(body[headerSize : headerSize+folder])
	d := decoder{b: body[headerSize+folder:]}
	for len(d.b) > 0 {
		g := d.group()
		if d.err == nil {
			d.err = check(g)
		}
		for _, v := range g {
			if _, ok := t.groupOf[v.Doc]; ok {
				d.err = fmt.Errorf("document %d is in two groups", v.Doc)
			}
			t.groupOf[v.Doc] = int32(len(t.Groups))
		}
		if d.err != nil {
			return nil, d.err
		}
		t.Groups = append(t.Groups, g)
	}
	return t, nil
}

var errDamaged = errors.New("it is damaged")

// check returns an error if a group is not valid in a table.
func check(g Group) error {
	if len(g) < 2 || len(g) > MaxVersions {
		return fmt.Errorf("a group of %d versions", len(g))
	}
	for i, v := range g {
		switch {
		case v.Doc == 0 || i > 0 && v.Doc <= g[i-1].Doc:
			return fmt.Errorf("document %d is out of order", v.Doc)
		case v.Confidence > 100 || v.Evidence&^all != 0 || !ValidTag(v.Lang):
			return fmt.Errorf("document %d has language %.40q and confidence %d", v.Doc, v.Lang, v.Confidence)
		}
	}
	return nil
}

// checkAll returns an error if a group is not valid in a table.
func checkAll(groups []Group) error {
	for _, g := range groups {
		if err := check(g); err != nil {
			return fmt.Errorf("translations: %w", err)
		}
	}
	return nil
}

// ValidTag reports whether s looks like a lower-case language tag, or is empty.
func ValidTag(s string) bool {
	return len(s) <= maxLanguage && strings.Trim(s, "abcdefghijklmnopqrstuvwxyz0123456789-") == ""
}

// A decoder reads varints. After an error it returns zeros.
type decoder struct {
	b   []byte
	err error
}

func (d *decoder) group() (g Group) {
	n := d.number()
	if n > MaxVersions {
		d.err = errDamaged
	}
	doc := vocab.DocID(0)
	for ; n > 0 && d.err == nil; n-- {
		doc += vocab.DocID(d.number())
		head := d.bytes(2)
		if d.err != nil {
			break
		}
		v := Version{Doc: doc, Evidence: Evidence(head[0] &^ copyFlag), Copy: head[0]&copyFlag != 0, Confidence: head[1]}
		v.Lang = string(d.bytes(d.number()))
		g = append(g, v)
	}
	return g
}

func (d *decoder) number() uint64 {
	v, n := binary.Uvarint(d.b)
	if n <= 0 {
		d.b, d.err = nil, errDamaged
		return 0
	}
	d.b = d.b[n:]
	return v
}

func (d *decoder) bytes(n uint64) (b []byte) {
	if n > uint64(len(d.b)) {
		d.b, d.err = nil, errDamaged
		return nil
	}
	b, d.b = d.b[:n], d.b[n:]
	return b
}

package shards

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"os"

	"github.com/cespare/xxhash/v2"

	"anatomy/disk/durable"
	"anatomy/vocab"
)

// A Mention maps a document of one shard to the same document in another one.
type Mention struct {
	From   int         // the other shard
	Theirs vocab.DocID // its docID there
	Mine   vocab.DocID // its docID in the shard that writes the mention
	Own    bool        // the document is the writing shard's own, and the other shard mentions it
}

// The file of a shard filled by a crawl, version 2, is a header and appended groups:
//
//	OFFSET  SIZE  MEANING (little endian)
//	0       8     magic "anatforn"
//	8       4     version, 2
//	12      4     0
//	…       4     n, the number of mentions of a group
//	        20n   per mention: shard, 4 bytes, with 1<<31 for Own; docID there; docID here
//	        8     xxhash64 of n and the mentions
//
// A shard learns both docIDs from the parcels that it applies. So the docIDs of the documents that
// it mentions are in the files of the other shards, and the docIDs under which others mention its
// documents are in its own file. An incomplete group at the end was left by a crash.
const (
	logVersion  = 2
	logHeader   = 16
	mentionSize = 20
	ownBit      = 1 << 31
)

func isLog(b []byte) bool {
	return len(b) >= logHeader && string(b[:8]) == magic && binary.LittleEndian.Uint32(b[8:]) == logVersion
}

// ForeignOf returns the result of [ReadForeign]. In a single data folder all documents are its own.
func ForeignOf(dir string, n int) ([]*Foreign, error) {
	if n == 1 {
		return []*Foreign{{Own: math.MaxUint64}}, nil
	}
	return ReadForeign(dir, n)
}

// ReadForeign reads the files of all shards of a folder with n shards.
func ReadForeign(dir string, n int) ([]*Foreign, error) {
	all := make([]*Foreign, n)
	grown := &mentions{foreign: all}
	for shard := range n {
		path := foreignPath(dir, shard)
		b, err := os.ReadFile(path)
		if err != nil {
			return nil, fmt.Errorf("shards: %w", err)
		}
		if isLog(b) {
			if !grown.read(b, shard) {
				return nil, fmt.Errorf("%s is damaged; %s", path, again)
			}
		} else if all[shard] = decodeForeign(b); all[shard] == nil {
			return nil, fmt.Errorf("%s is damaged or has another version; %s", path, again)
		}
	}
	for shard, f := range all {
		if f == nil {
			all[shard] = &Foreign{}
		}
	}
	return all, nil
}

// IsLive reports whether the shards of a folder may be written to: shards made by a split are
// read-only.
func IsLive(dir string) bool {
	if _, err := os.Stat(Parcels(dir)); err == nil {
		return true // regardless of its other files
	}
	f, err := os.Open(foreignPath(dir, 0))
	if err != nil {
		return false
	}
	defer f.Close()
	var b [logHeader]byte
	n, err := f.Read(b[:])
	return err == nil && isLog(b[:n])
}

// ForgetMentions recreates the file of a shard without mentions. Parcels with the names of all
// documents of other shards restore them.
func ForgetMentions(dir string, shard int) error {
	if err := durable.WriteFile(durable.OS, foreignPath(dir, shard), newLog()); err != nil {
		return fmt.Errorf("shards: %w", err)
	}
	return nil
}

// MakeOwnMentions creates the file of a new shard within its data folder, so that copies of the
// data folder include it.
func MakeOwnMentions(dir string, shard int) error {
	if err := durable.WriteFile(durable.OS, ownPath(dir, shard), newLog()); err != nil {
		return fmt.Errorf("shards: %w", err)
	}
	return nil
}

func newLog() []byte {
	return append(binary.LittleEndian.AppendUint32([]byte(magic), logVersion), 0, 0, 0, 0)
}

// OpenMentions opens the file of a shard, creating it if needed, truncates an incomplete group left
// by a crash, and calls visit with all mentions.
func OpenMentions(dir string, shard int, visit func(Mention)) error {
	path := foreignPath(dir, shard)
	b, err := os.ReadFile(path)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("shards: %w", err)
	}
	if err == nil && !isLog(b) {
		return fmt.Errorf("%s is damaged or has another version", path)
	}
	whole := logHeader
	if err == nil {
		for {
			group, size := nextGroup(b[whole:])
			if size == 0 {
				break
			}
			for m := range eachMention(group) {
				visit(m)
			}
			whole += size
		}
		if whole == len(b) {
			return nil
		}
	} else {
		b = newLog()
	}
	if err := durable.WriteFile(durable.OS, path, b[:whole]); err != nil {
		return fmt.Errorf("shards: %w", err)
	}
	return nil
}

// AppendMentions durably adds a group to the file of a shard. A group may be added twice.
func AppendMentions(dir string, shard int, all []Mention) error {
	if len(all) == 0 {
		return nil
	}
	le := binary.LittleEndian
	b := le.AppendUint32(make([]byte, 0, 4+mentionSize*len(all)+8), uint32(len(all)))
	for _, m := range all {
		from := uint32(m.From)
		if m.Own {
			from |= ownBit
		}
		b = le.AppendUint32(b, from)
		b = le.AppendUint64(le.AppendUint64(b, uint64(m.Theirs)), uint64(m.Mine))
	}
	b = le.AppendUint64(b, xxhash.Sum64(b))
	if err := durable.Append(durable.OS, foreignPath(dir, shard), b); err != nil {
		return fmt.Errorf("shards: %w", err)
	}
	return nil
}

// SizeOfMentions returns the size of the file of a shard, in bytes.
func SizeOfMentions(dir string, shard int) (int64, error) {
	info, err := os.Stat(foreignPath(dir, shard))
	if err != nil {
		return 0, fmt.Errorf("shards: %w", err)
	}
	return info.Size(), nil
}

// nextGroup returns the mentions of the first group of b and its size, or 0 if it is incomplete.
func nextGroup(b []byte) (group []byte, size int) {
	le := binary.LittleEndian
	if len(b) < 4 {
		return nil, 0
	}
	body := 4 + mentionSize*int(le.Uint32(b))
	if len(b) < body+8 || le.Uint64(b[body:]) != xxhash.Sum64(b[:body]) {
		return nil, 0
	}
	return b[4:body], body + 8
}

func eachMention(group []byte) func(func(Mention) bool) {
	return func(yield func(Mention) bool) {
		le := binary.LittleEndian
		for ; len(group) > 0; group = group[mentionSize:] {
			from := le.Uint32(group)
			if !yield(Mention{
				From: int(from &^ ownBit), Own: from&ownBit != 0,
				Theirs: vocab.DocID(le.Uint64(group[4:])), Mine: vocab.DocID(le.Uint64(group[12:])),
			}) {
				return
			}
		}
	}
}

// mentions collects the files of shards filled by a crawl.
type mentions struct{ foreign []*Foreign }

// read adds the mentions in the file of a shard. It returns false if one refers to a shard that
// does not exist.
func (c *mentions) read(b []byte, shard int) (ok bool) {
	for b = b[logHeader:]; ; {
		group, size := nextGroup(b)
		if size == 0 {
			return true
		}
		b = b[size:]
		for m := range eachMention(group) {
			if m.From >= len(c.foreign) {
				return false
			}
			if m.Own {
				c.add(m.From, m.Theirs, vocab.Outer(shard, m.Mine))
			} else {
				c.add(shard, m.Mine, vocab.Outer(m.From, m.Theirs))
			}
		}
	}
}

// add records that a shard mentions a document as doc. A damaged docID is ignored.
func (c *mentions) add(shard int, doc, outer vocab.DocID) {
	const most = 1 << 32 // maximum documents of a shard
	if doc == 0 || doc >= most {
		return
	}
	if c.foreign[shard] == nil {
		c.foreign[shard] = &Foreign{}
	}
	f := c.foreign[shard]
	if missing := int(doc) - len(f.Docs); missing > 0 {
		f.Docs = append(f.Docs, make([]vocab.DocID, missing)...)
	}
	f.Docs[doc-1] = outer
}

// JoinMentions moves the file made by MakeOwnMentions to its location in an undivided collection.
func JoinMentions(dir string, shard int) error {
	if !hasOwnMentions(dir, shard) {
		return nil
	}
	if err := durable.Rename(durable.OS, ownPath(dir, shard), Folder(dir, shard)+".foreign"); err != nil {
		return fmt.Errorf("shards: %w", err)
	}
	return nil
}

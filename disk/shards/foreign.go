package shards

import (
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/cespare/xxhash/v2"

	"anatomy/disk/durable"
	"anatomy/vocab"
)

// Foreign maps the documents of other shards that a shard mentions to their DocIDs in the
// collection.
//
// In shards made by a split, the shard's own documents come first. The file, version 1, is
//
//	OFFSET  SIZE  MEANING (little endian)
//	0       8     magic "anatforn"
//	8       4     version, 1
//	12      4     0
//	16      8     number of the shard's own documents, which have the docIDs up to it
//	24      8n    DocIDs in the collection of the other documents, in the order of their docIDs here
//	24+8n   8     xxhash64 of all before
//
// In shards filled by a crawl, documents get docIDs in the order of discovery, and the file grows;
// see [AppendMentions].
type Foreign struct {
	Own  vocab.DocID   // documents up to this one are the shard's own
	Docs []vocab.DocID // DocIDs in the collection of those after it; 0 for one of the shard's own
}

// IsOwn reports whether a document is the shard's own, or belongs to a shard that does not have it
// yet.
func (f *Foreign) IsOwn(doc vocab.DocID) bool {
	i := doc - f.Own - 1
	return doc <= f.Own || i >= vocab.DocID(len(f.Docs)) || f.Docs[i] == 0
}

// Last returns the last of the shard's own documents up to known.
func (f *Foreign) Last(known vocab.DocID) vocab.DocID {
	for known > 0 && !f.IsOwn(known) {
		known--
	}
	return known
}

// Outer returns the DocID in the collection of a document that a shard has or mentions.
func (f *Foreign) Outer(shard int, doc vocab.DocID) vocab.DocID {
	if f.IsOwn(doc) {
		return vocab.Outer(shard, doc)
	}
	return f.Docs[doc-f.Own-1]
}

// maxAliases bounds a chain of aliases through several shards.
const maxAliases = 16

// Canonical follows aliases from shard to shard. It returns the canonical document of doc, both as
// DocIDs in the collection, or false if that was not found. inShard returns the canonical document
// of a document that a shard has or mentions, both as DocIDs in the shard.
func Canonical(
	all []*Foreign, doc vocab.DocID,
	inShard func(shard int, doc vocab.DocID) (of vocab.DocID, found bool),
) (vocab.DocID, bool) {
	for range maxAliases {
		shard, inner := doc.Shard()
		of, found := inShard(shard, inner)
		if !found {
			return 0, false
		}
		if doc = all[shard].Outer(shard, of); all[shard].IsOwn(of) {
			return doc, true
		}
	}
	return 0, false
}

const (
	magic      = "anatforn"
	version    = 1
	headerSize = 24
)

// Write writes the file of a shard.
func (f *Foreign) Write(dir string, shard int) error {
	le := binary.LittleEndian
	b := make([]byte, 0, headerSize+8*len(f.Docs)+8)
	b = le.AppendUint32(append(b, magic...), version)
	b = le.AppendUint64(le.AppendUint32(b, 0), uint64(f.Own))
	for _, doc := range f.Docs {
		b = le.AppendUint64(b, uint64(doc))
	}
	b = le.AppendUint64(b, xxhash.Sum64(b))
	if err := durable.WriteFile(durable.OS, foreignPath(dir, shard), b); err != nil {
		return fmt.Errorf("shards: %w", err)
	}
	return nil
}

// decodeForeign decodes the content written by Write, or returns nil.
func decodeForeign(b []byte) *Foreign {
	le := binary.LittleEndian
	body := max(0, len(b)-8)
	if body < headerSize || body%8 != 0 || string(b[:8]) != magic || le.Uint32(b[8:]) != version {
		return nil
	}
	if le.Uint64(b[body:]) != xxhash.Sum64(b[:body]) {
		return nil
	}
	f := &Foreign{Own: vocab.DocID(le.Uint64(b[16:]))}
	for at := headerSize; at < body; at += 8 {
		f.Docs = append(f.Docs, vocab.DocID(le.Uint64(b[at:])))
	}
	return f
}

// foreignPath returns the path of the file of a shard: beside the shard, or in it if the collection
// is divided.
func foreignPath(dir string, shard int) string {
	if hasOwnMentions(dir, shard) {
		return ownPath(dir, shard)
	}
	return Folder(dir, shard) + ".foreign"
}

// hasOwnMentions reports whether [MakeOwnMentions] has made the file of a shard.
func hasOwnMentions(dir string, shard int) bool {
	_, err := os.Stat(ownPath(dir, shard))
	return err == nil
}

// ErrDivided is the error for a folder whose shards are owned by several nodes of a cluster.
var ErrDivided = errors.New("its shards are divided among the nodes of a cluster")

// RefuseDivided returns an error that wraps ErrDivided for a folder of a divided collection.
func RefuseDivided(dir string) error {
	if IsDivided(dir) {
		return fmt.Errorf("%s: %w", dir, ErrDivided)
	}
	return nil
}

// IsDivided reports whether a folder belongs to a divided collection.
func IsDivided(dir string) bool {
	m, err := Read(dir)
	if err != nil || m == nil {
		return false
	}
	for shard := range m.Folders {
		if hasOwnMentions(dir, shard) {
			return true
		}
	}
	return false
}

func ownPath(dir string, shard int) string { return filepath.Join(Folder(dir, shard), "foreign") }

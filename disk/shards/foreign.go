package shards

import (
	"encoding/binary"
	"fmt"
	"os"

	"github.com/cespare/xxhash/v2"

	"anatomy/disk/durable"
	"anatomy/vocab"
)

// Foreign says where the documents of other shards are that a shard mentions. A file of it is
//
//	OFFSET  SIZE  MEANING (little endian)
//	0       8     magic "anatforn"
//	8       4     version, 1
//	12      4     0
//	16      8     documents of the shard itself, which have the docIDs up to this number
//	24      8n    the documents of others, in the order of their docIDs here: their DocIDs outside
//	24+8n   8     xxhash64 of all before
type Foreign struct {
	Own  vocab.DocID
	Docs []vocab.DocID
}

// Outer returns the DocID outside of a document that a shard has or mentions.
func (f *Foreign) Outer(shard int, doc vocab.DocID) vocab.DocID {
	if i := doc - f.Own - 1; doc > f.Own && i < vocab.DocID(len(f.Docs)) {
		return f.Docs[i]
	}
	return vocab.Outer(shard, doc)
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

// ReadForeign reads the file of a shard.
func ReadForeign(dir string, shard int) (*Foreign, error) {
	path := foreignPath(dir, shard)
	b, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("shards: %w", err)
	}
	f := decodeForeign(b)
	if f == nil {
		return nil, fmt.Errorf("%s is damaged or has another version; %s", path, again)
	}
	return f, nil
}

// decodeForeign returns what Write has written, nil for anything else.
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

func foreignPath(dir string, shard int) string { return Folder(dir, shard) + ".foreign" }

// Package parcel encodes the messages between shards: the part of a link run that concerns the
// receiver's documents, with URLs instead of docIDs, and the receiver's URLs that were found.
//
// Parcels from one shard to another are numbered from 1 without gaps. A parcel is immutable. The
// receiver applies each exactly once and in the order of the numbers, see [Inbox], even if the
// [Post] that carries them repeats, delays or reorders them.
//
// # Format, version 1
//
//	OFFSET  SIZE  MEANING (little endian)
//	0       8     magic "anatprcl"
//	8       4     version, 1
//	12      2     shard that sent it
//	14      2     shard that it is for
//	16      8     number
//	24      4     n, the length of the content before compression
//	28      …     content, compressed with zstd
//	end-8   8     xxhash64 of all before
//
// The content is made of varints, docIDs are those of the sender:
//
//	names    count, per name: gap of the docID, flags, kind, depth, hops, length of the URL, URL
//	aliases  count, per alias: gap of the docID, docID of the other
//	missing  count, per document: gap of the docID
//	sources  count, per page: gap of the docID, number of links,
//	           per link: docID of the target, flags, length of the text, text
//
// All documents that the other lists mention are among the names. Each list is ascending.
package parcel

import (
	"encoding/binary"
	"errors"
	"fmt"
	"sync"

	"github.com/cespare/xxhash/v2"
	"github.com/klauspost/compress/zstd"

	"anatomy/vocab"
)

// A Parcel is a message from one shard to another. DocIDs are the sender's.
type Parcel struct {
	ID
	Names   []Name        // documents mentioned in the lists below, and URLs that were found
	Aliases []Alias       // redirects from one shard to another
	Missing []vocab.DocID // documents that existed before and were not found
	Sources []Source      // pages with all their links to the receiver
}

// An ID identifies a parcel.
type ID struct {
	From, To int
	Number   uint64 // from 1, for each pair of shards
}

func (id ID) String() string {
	return fmt.Sprintf("parcel %d from shard %d to %d", id.Number, id.From, id.To)
}

// A Name is a document of the sender.
type Name struct {
	Doc   vocab.DocID
	URL   string
	Flags NameFlags
	Kind  vocab.TargetKind
	Depth uint16 // links from the nearest seed
	Hops  uint8  // redirects that led to it
}

// NameFlags describe how a document was found.
type NameFlags uint8

const (
	NoFollow NameFlags = 1 << iota // only by nofollow links
	IfKnown                        // it need not become known: no link or alias of the parcel leads to it
)

// An Alias is a redirect.
type Alias struct{ Doc, Of vocab.DocID }

// A Source is a page with its links to documents of the receiver.
type Source struct {
	Doc   vocab.DocID
	Links []Link
}

// A Link is a link of a page.
type Link struct {
	To    vocab.DocID
	Flags vocab.LinkFlags
	Text  string
}

// Empty reports whether the parcel has no content.
func (p *Parcel) Empty() bool {
	return len(p.Names)+len(p.Aliases)+len(p.Missing)+len(p.Sources) == 0
}

const (
	magic      = "anatprcl"
	version    = 1
	headerSize = 28
	sumSize    = 8
	maxContent = 1 << 30 // maximum size of the content
)

var (
	packer = sync.OnceValue(func() *zstd.Encoder {
		z, err := zstd.NewWriter(nil, zstd.WithEncoderConcurrency(1))
		if err != nil {
			panic(err) // the options are constants
		}
		return z
	})
	unpacker = sync.OnceValue(func() *zstd.Decoder {
		z, err := zstd.NewReader(nil, zstd.WithDecoderConcurrency(1), zstd.WithDecoderMaxMemory(maxContent))
		if err != nil {
			panic(err)
		}
		return z
	})
)

// Encode returns the encoded parcel.
func (p *Parcel) Encode() []byte {
	content := p.content()
	le := binary.LittleEndian
	b := le.AppendUint32([]byte(magic), version)
	b = le.AppendUint16(le.AppendUint16(b, uint16(p.From)), uint16(p.To))
	b = le.AppendUint64(b, p.Number)
	b = le.AppendUint32(b, uint32(len(content)))
	b = packer().EncodeAll(content, b)
	return le.AppendUint64(b, xxhash.Sum64(b))
}

func (p *Parcel) content() (b []byte) {
	last := vocab.DocID(0)
	begin := func(n int) {
		b, last = binary.AppendUvarint(b, uint64(n)), 0
	}
	doc := func(d vocab.DocID) {
		b, last = binary.AppendUvarint(b, uint64(d-last)), d
	}
	text := func(s string) {
		b = append(binary.AppendUvarint(b, uint64(len(s))), s...)
	}
	begin(len(p.Names))
	for _, n := range p.Names {
		doc(n.Doc)
		b = append(b, byte(n.Flags), byte(n.Kind))
		b = binary.AppendUvarint(b, uint64(n.Depth))
		b = append(b, n.Hops)
		text(n.URL)
	}
	begin(len(p.Aliases))
	for _, a := range p.Aliases {
		doc(a.Doc)
		b = binary.AppendUvarint(b, uint64(a.Of))
	}
	begin(len(p.Missing))
	for _, d := range p.Missing {
		doc(d)
	}
	begin(len(p.Sources))
	for _, s := range p.Sources {
		doc(s.Doc)
		b = binary.AppendUvarint(b, uint64(len(s.Links)))
		for _, l := range s.Links {
			b = binary.AppendUvarint(b, uint64(l.To))
			b = append(b, byte(l.Flags))
			text(l.Text)
		}
	}
	return b
}

var errDamaged = errors.New("damaged")

// Decode decodes a parcel. It allocates no more than the size of b allows.
func Decode(b []byte) (*Parcel, error) {
	le := binary.LittleEndian
	if len(b) < headerSize+sumSize || string(b[:8]) != magic {
		return nil, errDamaged
	}
	body := b[:len(b)-sumSize]
	if v := le.Uint32(b[8:]); v != version {
		return nil, fmt.Errorf("version %d, this program reads %d", v, version)
	}
	if le.Uint64(b[len(body):]) != xxhash.Sum64(body) {
		return nil, errDamaged
	}
	content, err := unpacker().DecodeAll(body[headerSize:], nil)
	if err != nil || len(content) != int(le.Uint32(b[24:])) {
		return nil, errDamaged
	}
	p := &Parcel{ID: ID{
		From: int(le.Uint16(b[12:])), To: int(le.Uint16(b[14:])), Number: le.Uint64(b[16:]),
	}}
	r := reader{b: content}
	p.read(&r)
	if r.failed || len(r.b) > 0 {
		return nil, errDamaged
	}
	return p, nil
}

func (p *Parcel) read(r *reader) {
	named := map[vocab.DocID]bool{}
	for range r.begin() {
		n := Name{Doc: r.doc(), Flags: NameFlags(r.byte()), Kind: vocab.TargetKind(r.byte())}
		n.Depth, n.Hops = uint16(r.number()), r.byte()
		n.URL = r.text()
		p.Names = append(p.Names, n)
		named[n.Doc] = true
	}
	known := func(doc vocab.DocID) vocab.DocID {
		r.failed = r.failed || !named[doc]
		return doc
	}
	for range r.begin() {
		p.Aliases = append(p.Aliases, Alias{known(r.doc()), known(vocab.DocID(r.number()))})
	}
	for range r.begin() {
		p.Missing = append(p.Missing, known(r.doc()))
	}
	for range r.begin() {
		s := Source{Doc: known(r.doc())}
		for range r.count() {
			l := Link{To: known(vocab.DocID(r.number())), Flags: vocab.LinkFlags(r.byte())}
			l.Text = r.text()
			s.Links = append(s.Links, l)
		}
		p.Sources = append(p.Sources, s)
	}
}

// A reader decodes content. After an error failed is set, and its methods return 0 or empty values.
type reader struct {
	b      []byte
	last   vocab.DocID
	failed bool
}

// begin returns the number of records of a list.
func (r *reader) begin() int {
	r.last = 0
	return r.count()
}

// count returns the number of records that follow, each of at least one byte.
func (r *reader) count() int {
	n := r.number()
	if n > uint64(len(r.b)) {
		r.failed = true
		return 0
	}
	return int(n)
}

func (r *reader) number() uint64 {
	n, size := binary.Uvarint(r.b)
	if size <= 0 || r.failed {
		r.failed, r.b = true, nil
		return 0
	}
	r.b = r.b[size:]
	return n
}

func (r *reader) doc() vocab.DocID {
	gap := vocab.DocID(r.number())
	r.failed = r.failed || gap == 0 || r.last+gap < gap
	r.last += gap
	return r.last
}

func (r *reader) byte() (c byte) {
	if len(r.b) == 0 || r.failed {
		r.failed = true
		return 0
	}
	c, r.b = r.b[0], r.b[1:]
	return c
}

func (r *reader) text() (s string) {
	n := r.count()
	s, r.b = string(r.b[:n]), r.b[n:]
	return s
}

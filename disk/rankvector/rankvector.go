// Package rankvector stores rank vectors: one float per document, with the parameters of the
// PageRank computation and its convergence (BP98 §2.1).
//
// A vector is a file of its own, so that ranks can be recomputed and replaced without changing the
// segments. The file is immutable: another vector gets another file, and the manifest of the data
// folder names the current one. So a reader of a manifest has ranks, segments and links of one
// generation.
//
//	OFFSET  SIZE  MEANING (little endian)
//	0       8     magic "anatrank"
//	8       4     version, 2
//	12      4     p, the length of the personalisation in bytes, at most 65,535
//	16      8     damping, float64
//	24      8     tolerance, float64
//	32      8     residual of the last iteration, float64
//	40      8     iterations
//	48      8     time of computing, Unix seconds
//	56      8     links of the graph
//	64      8     n, the number of ranks; document n-1 is the last
//	72      8     changes of links in the link database until then, linkdb.Run.CountChanges; not in version 1
//	80      p     personalisation, UTF-8
//	80+p    4n    ranks by docID, float32; rank 0 belongs to no document and is 0, as is that of each
//	              document that is not ranked
//	80+p+4n 8     xxhash64 of all before
//
// A vector of documents 1 and 2, ranked 0.25 and 0.75, has 3 ranks and no personalisation:
// 80 + 12 + 8 = 100 bytes, of which 00000000 0000803e 0000403f from offset 80 are the ranks.
//
// float32 is enough: on a million pages the L1 difference from float64 is 7e-7, and a float64
// vector would take twice the memory in every searcher.
//
// Versions: 1 and 2, November 2026; both are read.
package rankvector

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/cespare/xxhash/v2"
)

// Version is the format that this package writes.
const Version = 2

// MaxPersonalized is the maximum length of the description of a personalisation, in bytes.
const MaxPersonalized = 1<<16 - 1

const (
	magic      = "anatrank"
	headerSize = 80
	headerOf1  = 72 // header size of version 1
	sumSize    = 8
	rankSize   = 4
)

// A Vector is the result of one PageRank computation.
type Vector struct {
	Damping      float64
	Tolerance    float64 // residual at which the iteration stops
	Residual     float64 // L1 change of the last iteration
	Iterations   int
	Personalized string    // description of the teleport set; "" for all pages
	Computed     time.Time // UTC, whole seconds
	Links        uint64    // links of the graph; parallel links count once
	LinkChanges  uint64    // changes of links in the link database until then; 0 in version 1
	Ranks        []float32 // by DocID, index 0 unused; 0 for unranked documents
}

// Read returns the vector at path. It verifies the checksum and that every rank is in [0, 1]. The
// error names the command that recomputes the vector.
func Read(path string) (*Vector, error) {
	data, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("rank vector: %w", err)
	}
	v, err := decode(data)
	if err != nil {
		return nil, fmt.Errorf("rank vector: %s: %w; %q computes it again", path, err, commandFor(path))
	}
	return v, nil
}

// commandFor returns the command that recomputes the vector at path.
func commandFor(path string) string {
	name, _, _ := strings.Cut(filepath.Base(path), ".")
	if name == Default {
		return "anatomy pagerank"
	}
	return "anatomy pagerank --name " + name
}

// Encode returns the vector as the content of a file.
func (v *Vector) Encode() ([]byte, error) {
	if len(v.Personalized) > MaxPersonalized {
		return nil, fmt.Errorf("personalisation of %d bytes is too long", len(v.Personalized))
	}
	if err := checkRanks(v.Ranks); err != nil {
		return nil, err
	}
	le := binary.LittleEndian
	b := make([]byte, 0, headerSize+len(v.Personalized)+rankSize*len(v.Ranks)+sumSize)
	b = append(b, magic...)
	b = le.AppendUint32(b, Version)
	b = le.AppendUint32(b, uint32(len(v.Personalized)))
	b = le.AppendUint64(b, math.Float64bits(v.Damping))
	b = le.AppendUint64(b, math.Float64bits(v.Tolerance))
	b = le.AppendUint64(b, math.Float64bits(v.Residual))
	b = le.AppendUint64(b, uint64(v.Iterations))
	b = le.AppendUint64(b, uint64(v.Computed.Unix()))
	b = le.AppendUint64(b, v.Links)
	b = le.AppendUint64(b, uint64(len(v.Ranks)))
	b = le.AppendUint64(b, v.LinkChanges)
	b = append(b, v.Personalized...)
	for _, r := range v.Ranks {
		b = le.AppendUint32(b, math.Float32bits(r))
	}
	return le.AppendUint64(b, xxhash.Sum64(b)), nil
}

func decode(b []byte) (*Vector, error) {
	le := binary.LittleEndian
	if len(b) < headerOf1+sumSize || string(b[:8]) != magic {
		return nil, errors.New("not a rank vector")
	}
	version, header := le.Uint32(b[8:]), headerSize
	switch {
	case version == 1:
		header = headerOf1
	case version != Version:
		return nil, fmt.Errorf("version %d, this program reads 1 and %d", version, Version)
	}
	body := b[:len(b)-sumSize]
	if le.Uint64(b[len(body):]) != xxhash.Sum64(body) {
		return nil, errors.New("damaged: the checksum is wrong")
	}
	p, n := int(le.Uint32(b[12:])), le.Uint64(b[64:])
	if p > MaxPersonalized || p > len(body)-header || n != uint64(len(body)-header-p)/rankSize || (len(body)-header-p)%rankSize != 0 {
		return nil, fmt.Errorf("damaged: %d bytes do not hold %d ranks", len(b), n)
	}
	v := &Vector{
		Damping:      math.Float64frombits(le.Uint64(b[16:])),
		Tolerance:    math.Float64frombits(le.Uint64(b[24:])),
		Residual:     math.Float64frombits(le.Uint64(b[32:])),
		Iterations:   int(le.Uint64(b[40:])),
		Computed:     time.Unix(int64(le.Uint64(b[48:])), 0).UTC(),
		Links:        le.Uint64(b[56:]),
		Personalized: string(body[header : header+p]),
		Ranks:        make([]float32, n),
	}
	if version > 1 {
		v.LinkChanges = le.Uint64(b[72:])
	}
	for i := range v.Ranks {
		v.Ranks[i] = math.Float32frombits(le.Uint32(body[header+p+rankSize*i:]))
	}
	return v, checkRanks(v.Ranks)
}

// checkRanks fails if a rank is not in [0, 1], which would corrupt every score.
func checkRanks(ranks []float32) error {
	for doc, r := range ranks {
		if !(r >= 0 && r <= 1) {
			return fmt.Errorf("document %d has rank %v, which is not in [0, 1]", doc, r)
		}
	}
	return nil
}

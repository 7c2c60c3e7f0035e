package replica

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"path"
	"strconv"
	"strings"
	"time"

	"github.com/klauspost/compress/zstd"

	"anatomy/cluster/bucket"
	"anatomy/vocab"
)

// Format is the version of the bucket's format that this program writes and reads. Programs that
// predate generations of shards reject these by shardsFormat.
const (
	Format       = 1
	shardsFormat = 2 // version of a generation of shards
)

// Bounds of what is read from a bucket.
const (
	maxPart       = 16 << 20  // bytes of an object
	maxGeneration = 256 << 20 // bytes of a generation, decompressed
	maxFiles      = 1 << 20
	maxFile       = 1 << 44 // bytes of a file
)

// A Generation is a complete state of a data folder, or of a folder of shards.
type Generation struct {
	Format int       `json:"format"`
	Folder string    `json:"folder"` // ID of the data folder; "" for a folder of shards
	Made   time.Time `json:"made"`
	By     string    `json:"by"` // machine and version of the owner

	// End is the end of the last file of the repository; 0 for a folder of shards.
	End   vocab.Address `json:"end"`
	Files []File        `json:"files"` // by path, ascending

	// Received has the number of the last parcel applied by sender, for a shard of a divided
	// collection; see cluster/division.
	Received []uint64 `json:"received,omitempty"`
}

// Size returns the total size of all files in bytes.
func (g *Generation) Size() (bytes int64) {
	for i := range g.Files {
		bytes += g.Files[i].Size
	}
	return bytes
}

// A File is a file of a data folder.
type File struct {
	Path  string `json:"path"` // relative to the data folder, slash-separated
	Size  int64  `json:"size"`
	Parts []Part `json:"parts"`
}

// A Part is an object with a part of a file.
type Part struct {
	Sum  Sum   `json:"sum"`
	Size int64 `json:"size"` // in bytes, 1 to 16 MiB
}

// A Sum is a SHA-256.
type Sum [sha256.Size]byte

// MarshalText returns the sum in hexadecimal.
func (s Sum) MarshalText() ([]byte, error) { return []byte(s.String()), nil }

// UnmarshalText parses the output of MarshalText.
func (s *Sum) UnmarshalText(text []byte) error {
	n, err := hex.Decode(s[:], text[:min(len(text), 2*len(s))])
	if err != nil || n != len(s) || len(text) != 2*len(s) {
		return fmt.Errorf("%.100q is not a SHA-256", text)
	}
	return nil
}

func (s Sum) String() string { return hex.EncodeToString(s[:]) }

// object returns the name of the object with this sum.
func (s Sum) object() string {
	text := s.String()
	return objectsPrefix + text[:2] + "/" + text
}

// parseObject parses the name of an object.
func parseObject(name string) (s Sum, ok bool) {
	return s, s.UnmarshalText([]byte(path.Base(name))) == nil && s.object() == name
}

const (
	objectsPrefix     = "objects/"
	generationsPrefix = "generations/"
)

// A Name is the name of a generation. Names are ordered by their fields.
type Name struct {
	Epoch  uint64
	Owner  string // 16 hexadecimal digits
	Number uint64
	Sum    Sum // SHA-256 of the object
}

// String returns the name of the generation's object.
func (n Name) String() string {
	return fmt.Sprintf("%s%016x-%s-%016x-%s", generationsPrefix, n.Epoch, n.Owner, n.Number, n.Sum)
}

// IsZero reports whether n names no generation.
func (n Name) IsZero() bool { return n == Name{} }

var errName = errors.New("not the name of a generation")

// ParseName parses the output of String.
func ParseName(s string) (n Name, err error) {
	fields := strings.Split(strings.TrimPrefix(s, generationsPrefix), "-")
	if len(fields) != 4 {
		return n, errName
	}
	n.Owner = fields[1]
	n.Epoch, err = strconv.ParseUint(fields[0], 16, 64)
	if err == nil {
		n.Number, err = strconv.ParseUint(fields[2], 16, 64)
	}
	if err == nil {
		err = n.Sum.UnmarshalText([]byte(fields[3]))
	}
	if err != nil || n.String() != s || len(n.Owner) != 16 {
		return Name{}, errName
	}
	return n, nil
}

// encode returns a generation as the content of an object.
func encode(g *Generation) ([]byte, error) {
	plain, err := json.Marshal(g)
	if err != nil {
		return nil, err
	}
	w, err := zstd.NewWriter(nil, zstd.WithEncoderLevel(zstd.SpeedFastest))
	if err != nil {
		return nil, err
	}
	defer w.Close()
	return w.EncodeAll(plain, nil), nil
}

// decode decodes the content of an object. It fails if any field is out of bounds.
func decode(b []byte) (*Generation, error) {
	r, err := zstd.NewReader(bytes.NewReader(b),
		zstd.WithDecoderConcurrency(1), zstd.WithDecoderMaxMemory(maxGeneration))
	if err != nil {
		return nil, err
	}
	defer r.Close()
	plain, err := io.ReadAll(io.LimitReader(r, maxGeneration+1))
	if err != nil {
		return nil, err
	}
	if len(plain) > maxGeneration {
		return nil, errors.New("it is too large")
	}
	var version struct{ Format int }
	if err := json.Unmarshal(plain, &version); err != nil {
		return nil, err
	}
	if version.Format != Format && version.Format != shardsFormat {
		return nil, &FormatError{version.Format}
	}
	g := &Generation{}
	if err := json.Unmarshal(plain, g); err != nil {
		return nil, err
	}
	return g, g.check()
}

// A FormatError is the error for a bucket that another version of the program wrote, or whose shards
// are divided among nodes.
type FormatError struct{ Found int }

func (e *FormatError) Error() string {
	if e.Found == DividedFormat {
		return "the shards in the bucket are divided among nodes"
	}
	return fmt.Sprintf("the bucket has format %d, and this version of anatomy reads formats %d and %d",
		e.Found, Format, shardsFormat)
}

// check fails unless every file has a unique local path, and parts that add up to its size.
func (g *Generation) check() error {
	if len(g.Files) > maxFiles {
		return fmt.Errorf("it has %d files", len(g.Files))
	}
	before := ""
	for i := range g.Files {
		f := &g.Files[i]
		if f.Path <= before || !isLocal(f.Path) {
			return fmt.Errorf("it has an invalid path %.200q", f.Path)
		}
		before = f.Path
		var sum int64
		for _, p := range f.Parts {
			if p.Size <= 0 || p.Size > maxPart {
				return fmt.Errorf("%s has a part of %d bytes", f.Path, p.Size)
			}
			sum += p.Size
		}
		if sum != f.Size || sum > maxFile {
			return fmt.Errorf("%s has %d bytes, but its parts have %d", f.Path, f.Size, sum)
		}
	}
	return nil
}

// A DamageError is the error for an object that is missing or does not match its name.
type DamageError struct {
	Object string
	File   string // that refers to it; "" for a generation
	Err    error
}

func (e *DamageError) Error() string {
	if e.File == "" {
		return fmt.Sprintf("%s in the bucket is damaged: %v", e.Object, e.Err)
	}
	return fmt.Sprintf("%s in the bucket, of %s, is damaged: %v", e.Object, e.File, e.Err)
}

func (e *DamageError) Unwrap() error { return e.Err }

var errSum = errors.New("its content does not match its SHA-256")

// read reads and verifies a generation.
func read(ctx context.Context, b bucket.Bucket, name Name) (*Generation, error) {
	content, err := readObject(ctx, b, name.String(), maxGeneration)
	if err != nil {
		return nil, err
	}
	if sha256.Sum256(content) != name.Sum {
		return nil, &DamageError{name.String(), "", errSum}
	}
	g, err := decode(content)
	if err != nil && !errors.As(err, new(*FormatError)) {
		err = &DamageError{name.String(), "", err}
	}
	return g, err
}

// readObject returns the content of an object of at most limit bytes.
func readObject(ctx context.Context, b bucket.Bucket, name string, limit int64) ([]byte, error) {
	r, err := b.Get(ctx, name, 0, -1)
	if err != nil {
		return nil, err
	}
	defer r.Close()
	content, err := io.ReadAll(io.LimitReader(r, limit+1))
	if err == nil && int64(len(content)) > limit {
		err = &DamageError{name, "", errors.New("it is too large")}
	}
	return content, err
}

// list returns the names of the generations after a name, ascending.
func list(ctx context.Context, b bucket.Bucket, after Name) (names []Name, err error) {
	from := ""
	if !after.IsZero() {
		from = after.String()
	}
	for o, err := range b.List(ctx, generationsPrefix, from) {
		if err != nil {
			return nil, err
		}
		if n, err := ParseName(o.Name); err == nil {
			names = append(names, n)
		}
	}
	return names, nil
}

// Newest returns the name of the newest generation in a bucket, or the zero Name.
func Newest(ctx context.Context, b bucket.Bucket) (n Name, err error) {
	names, err := list(ctx, b, Name{})
	if len(names) > 0 {
		n = names[len(names)-1]
	}
	return n, err
}

// Latest returns the newest generation in a bucket and its name, or nil.
func Latest(ctx context.Context, b bucket.Bucket) (n Name, g *Generation, err error) {
	n, err = Newest(ctx, b)
	if err != nil || n.IsZero() {
		return n, nil, err
	}
	g, err = read(ctx, b, n)
	return n, g, err
}

// NewestPut returns when the newest generation in a bucket was put, by the bucket's clock, or zero.
func NewestPut(ctx context.Context, b bucket.Bucket) (put time.Time, err error) {
	for o, err := range b.List(ctx, generationsPrefix, "") {
		if err != nil {
			return put, err
		}
		put = o.Changed
	}
	return put, nil
}

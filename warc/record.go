// Package warc reads and writes web archives: files of WARC/1.1 (ISO 28500:2017), in which crawlers
// and libraries exchange pages. It reads older versions and ARC files too, uncompressed or compressed
// with gzip, zstd or lz4, as one member or a member for each record.
//
// Archives are untrusted. A record that is truncated, has a wrong length or is wrongly compressed
// is skipped with a [DamageError], and reading continues with the next intact record. A read
// allocates no more memory than bytes were read.
package warc

import (
	"crypto/sha1"
	"encoding/base32"
	"encoding/hex"
	"fmt"
	"strings"
	"time"
)

// Types of records that this project uses. [Record.Type] may return others.
const (
	Info     = "warcinfo" // about the file
	Request  = "request"
	Response = "response" // a whole HTTP response
	Resource = "resource" // a body without an HTTP header
	Metadata = "metadata"
	Revisit  = "revisit" // a response without its body, which is that of an earlier one

	Conversion = "conversion" // a body made of another; in Common Crawl's WET files the text of a page
)

// SameDigest is the WARC-Profile of a revisit with the same body as another record.
const SameDigest = "http://netpreserve.org/warc/1.1/revisit/identical-payload-digest"

// Truncated is the field with the reason, in one word, why a record has only a part of its content
// (WARC 1.1 §5.13).
const Truncated = "WARC-Truncated"

// A Field is a field of a record's header.
type Field struct{ Name, Value string }

// A Record is a record of an archive.
type Record struct {
	Version string // "1.1", or "arc"
	Fields  []Field
	Block   []byte // valid until the next record is read
	Long    bool   // the block exceeded [ReaderOptions.MaxBlock] and is empty
}

// Get returns the first value of a field, or "". It ignores case.
func (r *Record) Get(name string) string {
	for _, f := range r.Fields {
		if strings.EqualFold(f.Name, name) {
			return f.Value
		}
	}
	return ""
}

// Type returns the type of the record, such as [Response].
func (r *Record) Type() string { return strings.ToLower(r.Get("WARC-Type")) }

// URL returns the target URL, without the angle brackets of some writers.
func (r *Record) URL() string { return bare(r.Get("WARC-Target-URI")) }

func bare(s string) string { return strings.TrimSuffix(strings.TrimPrefix(s, "<"), ">") }

// RefersTo returns the URL of the record that a revisit repeats, or "" if it is not recorded.
func (r *Record) RefersTo() string { return bare(r.Get("WARC-Refers-To-Target-URI")) }

// Digest returns the digest of the payload as it is written:
// "sha1:PLAJ4SQ5GN7IDEYQLFMFOEQ2WOBFGG6Q".
func (r *Record) Digest() string { return r.Get("WARC-Payload-Digest") }

// Date returns when the content was captured, in UTC.
func (r *Record) Date() (time.Time, error) {
	t, err := time.Parse(time.RFC3339Nano, r.Get("WARC-Date"))
	if err != nil && r.Version == cluewebVersion {
		if t, ok := cluewebDate(r.Get("WARC-Date")); ok {
			return t.UTC(), nil
		}
	}
	if err != nil {
		return t, fmt.Errorf("warc: WARC-Date %.40q is not a time", r.Get("WARC-Date"))
	}
	return t.UTC(), nil
}

// Intact reports whether the SHA-1 digest of the block is correct. It returns true if there is no
// digest, or one of another kind.
func (r *Record) Intact() bool {
	want := r.Get("WARC-Block-Digest")
	kind, value, _ := strings.Cut(want, ":")
	if !strings.EqualFold(kind, "sha1") || r.Long {
		return true
	}
	sum := sha1.Sum(r.Block)
	return strings.EqualFold(want, Digest(r.Block)) || strings.EqualFold(value, hex.EncodeToString(sum[:]))
}

// Digest returns the digest of b in the form of archives: SHA-1 in base 32.
func Digest(b []byte) string {
	sum := sha1.Sum(b)
	return "sha1:" + base32.StdEncoding.EncodeToString(sum[:])
}

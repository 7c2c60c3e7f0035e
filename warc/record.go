// Package warc reads and writes web archives: files of WARC/1.1 (ISO 28500:2017), the format in which
// crawlers and libraries exchange pages. It reads the older versions too, plain, and as gzip or zstd of
// a member a record or of all.
//
// Nothing of an archive is believed. A record that is cut short, whose length is not that of its block
// or whose compression is broken costs a [DamageError] and is passed over; reading goes on with the next
// record that is whole. No more memory is taken than bytes have come.
package warc

import (
	"crypto/sha1"
	"encoding/base32"
	"encoding/hex"
	"fmt"
	"strings"
	"time"
)

// The types of records that matter here; [Record.Type] may be any other.
const (
	Info     = "warcinfo" // about the file
	Request  = "request"
	Response = "response" // an answer of HTTP, whole
	Resource = "resource" // a body without the answer's header
	Metadata = "metadata"
	Revisit  = "revisit" // an answer with the body of an earlier one, which is left out
)

// SameDigest is the WARC-Profile of a revisit whose body is that of another record.
const SameDigest = "http://netpreserve.org/warc/1.1/revisit/identical-payload-digest"

// A Field is one line of a record's header.
type Field struct{ Name, Value string }

// A Record is one record.
type Record struct {
	Version string // "1.1"
	Fields  []Field
	Block   []byte // what follows the header; when read, valid until the next record is
	Long    bool   // the block was longer than [ReaderOptions.MaxBlock]; Block is empty
}

// Get is the first value of a field, "" where there is none. Case does not matter.
func (r *Record) Get(name string) string {
	for _, f := range r.Fields {
		if strings.EqualFold(f.Name, name) {
			return f.Value
		}
	}
	return ""
}

// Type is the kind of record, such as [Response].
func (r *Record) Type() string { return strings.ToLower(r.Get("WARC-Type")) }

// URL is what the record is about. Some writers put it in angle brackets.
func (r *Record) URL() string { return bare(r.Get("WARC-Target-URI")) }

func bare(s string) string { return strings.TrimSuffix(strings.TrimPrefix(s, "<"), ">") }

// RefersTo is the URL of the record that a revisit repeats, "" where it does not say.
func (r *Record) RefersTo() string { return bare(r.Get("WARC-Refers-To-Target-URI")) }

// Digest is that of the payload, as written: "sha1:PLAJ4SQ5GN7IDEYQLFMFOEQ2WOBFGG6Q".
func (r *Record) Digest() string { return r.Get("WARC-Payload-Digest") }

// Date is when the record's content was captured, in UTC.
func (r *Record) Date() (time.Time, error) {
	t, err := time.Parse(time.RFC3339Nano, r.Get("WARC-Date"))
	if err != nil {
		return t, fmt.Errorf("warc: WARC-Date %.40q is no time", r.Get("WARC-Date"))
	}
	return t.UTC(), nil
}

// Intact says whether the block is what its digest says. It is, where there is none, or one of another
// kind than SHA-1.
func (r *Record) Intact() bool {
	want := r.Get("WARC-Block-Digest")
	kind, value, _ := strings.Cut(want, ":")
	if !strings.EqualFold(kind, "sha1") || r.Long {
		return true
	}
	sum := sha1.Sum(r.Block)
	return strings.EqualFold(want, Digest(r.Block)) || strings.EqualFold(value, hex.EncodeToString(sum[:]))
}

// Digest is the digest of bytes as archives give it: SHA-1 in base 32.
func Digest(b []byte) string {
	sum := sha1.Sum(b)
	return "sha1:" + base32.StdEncoding.EncodeToString(sum[:])
}

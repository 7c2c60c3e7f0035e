package repository

import (
	"encoding/binary"
	"errors"
	"fmt"
	"time"

	"anatomy/vocab"
)

// A Kind is the kind of a record.
type Kind uint8

// The kinds of records. The numbers are part of the format.
const (
	PageRecord      Kind = 1 + iota // a page
	DuplicateRecord                 // a URL with the same body as page Of
	RedirectRecord                  // a URL that redirects to Location
	linkedPage                      // on disk only: a page with Links
	headedPage                      // likewise: with Headers, and maybe Links

	copyBit     Kind = 16 // on disk only, added to the others
	signedInBit Kind = 32 // likewise: fetched with credentials
	cutBit      Kind = 64 // likewise: the body was cut short; why follows, 1 byte
)

var kindNames = [...]string{PageRecord: "page", DuplicateRecord: "duplicate", RedirectRecord: "redirect"}

func (k Kind) String() string {
	if k >= PageRecord && k <= RedirectRecord {
		return kindNames[k]
	}
	return fmt.Sprintf("kind %d", uint8(k))
}

// A Record is the result of one fetch. Duplicates and redirects have only Doc, URL, Fetched,
// SignedIn and Truncated of their Page.
type Record struct {
	Kind     Kind
	Page     vocab.Page
	Of       vocab.DocID // the page with the same body, or the target of a redirect, 0 if unknown
	Location string      // target URL of a redirect
	Copy     bool        // made by compaction; the original was indexed
}

// String returns a record on one line, with the size of its body instead of the body.
func (r *Record) String() string {
	s := fmt.Sprintf("%s %d %s fetched %s", r.Kind, r.Page.Doc, r.Page.URL, r.Page.Fetched.UTC().Format(time.RFC3339))
	switch r.Kind {
	case PageRecord:
		s += fmt.Sprintf(" %d bytes %q", len(r.Page.Body), r.Page.ContentType)
	case DuplicateRecord:
		s += fmt.Sprintf(" of %d", r.Of)
	case RedirectRecord:
		s += fmt.Sprintf(" to %d %s", r.Of, r.Location)
	}
	if r.Page.Truncated != vocab.Whole {
		s += " cut: " + r.Page.Truncated.String()
	}
	return s
}

// size returns an upper bound on the encoded size.
func (r *Record) size() int {
	p := &r.Page
	const numbers = 2 + 11*binary.MaxVarintLen64
	return numbers + len(p.URL) + len(p.ContentType) + len(p.Language) + len(p.LastModified) +
		len(p.ETag) + len(p.Robots) + len(p.Links) + len(p.Headers) + len(p.Body) + len(r.Location)
}

func (r *Record) append(b []byte) []byte {
	p := &r.Page
	kind := r.Kind
	switch {
	case kind == PageRecord && p.Headers != "":
		kind = headedPage
	case kind == PageRecord && p.Links != "":
		kind = linkedPage
	}
	form := kind
	if r.Copy {
		kind |= copyBit
	}
	if p.SignedIn {
		kind |= signedInBit
	}
	if p.Truncated != vocab.Whole {
		b = append(b, byte(kind|cutBit), byte(p.Truncated))
	} else {
		b = append(b, byte(kind))
	}
	b = binary.AppendUvarint(b, uint64(p.Doc))
	b = binary.AppendVarint(b, p.Fetched.Unix())
	b = appendText(b, p.URL)
	switch r.Kind {
	case PageRecord:
		for _, s := range [...]string{p.ContentType, p.Language, p.LastModified, p.ETag, p.Robots} {
			b = appendText(b, s)
		}
		if form != PageRecord {
			b = appendText(b, p.Links)
		}
		if form == headedPage {
			b = appendText(b, p.Headers)
		}
		b = append(b, p.Body...)
	case DuplicateRecord:
		b = binary.AppendUvarint(b, uint64(r.Of))
	case RedirectRecord:
		b = binary.AppendUvarint(b, uint64(r.Of))
		b = appendText(b, r.Location)
	}
	return b
}

func appendText(b []byte, s string) []byte {
	b = binary.AppendUvarint(b, uint64(len(s)))
	return append(b, s...)
}

// decode sets r to the record encoded in b. The body is part of b.
func (r *Record) decode(b []byte) error {
	if len(b) == 0 {
		return errors.New("empty record")
	}
	*r = Record{
		Kind: Kind(b[0]) &^ (copyBit | signedInBit | cutBit), Copy: Kind(b[0])&copyBit != 0,
	}
	p := &r.Page
	p.SignedIn = Kind(b[0])&signedInBit != 0
	d := fields{rest: b[1:]}
	if Kind(b[0])&cutBit != 0 {
		p.Truncated = vocab.Truncation(d.byte())
		d.bad = d.bad || p.Truncated == vocab.Whole || p.Truncated >= vocab.Truncations
	}
	p.Doc = vocab.DocID(d.uvarint())
	p.Fetched = time.Unix(d.varint(), 0).UTC()
	p.URL = d.text()
	switch r.Kind {
	case PageRecord, linkedPage, headedPage:
		for _, s := range [...]*string{&p.ContentType, &p.Language, &p.LastModified, &p.ETag, &p.Robots} {
			*s = d.text()
		}
		if r.Kind != PageRecord {
			p.Links = d.text()
		}
		if r.Kind == headedPage {
			p.Headers = d.text()
		}
		r.Kind = PageRecord
		p.Body = d.rest
		d.rest = nil
	case DuplicateRecord:
		r.Of = vocab.DocID(d.uvarint())
	case RedirectRecord:
		r.Of = vocab.DocID(d.uvarint())
		r.Location = d.text()
	default:
		return fmt.Errorf("record of unknown %v", r.Kind)
	}
	if d.bad || len(d.rest) > 0 {
		return fmt.Errorf("%v record is malformed", r.Kind)
	}
	return nil
}

// fields decodes the fields of a record. After an error it returns zeros.
type fields struct {
	rest []byte
	bad  bool
}

func (d *fields) uvarint() uint64 {
	v, n := binary.Uvarint(d.rest)
	d.skip(n)
	return v
}

func (d *fields) byte() byte {
	if len(d.rest) == 0 {
		d.bad = true
		return 0
	}
	b := d.rest[0]
	d.rest = d.rest[1:]
	return b
}

func (d *fields) varint() int64 {
	v, n := binary.Varint(d.rest)
	d.skip(n)
	return v
}

func (d *fields) text() string {
	n := d.uvarint()
	if n > uint64(len(d.rest)) {
		d.bad = true
		return ""
	}
	s := string(d.rest[:n])
	d.rest = d.rest[n:]
	return s
}

func (d *fields) skip(n int) {
	if n <= 0 {
		d.bad, d.rest = true, nil
		return
	}
	d.rest = d.rest[n:]
}

package bucket

import (
	"errors"
	"io"
)

const (
	maxCuts = 5       // successive interruptions that a download survives
	enough  = 1 << 20 // bytes of a response that reset the count of interruptions
)

// A body is the content of one response.
type body struct {
	in      io.Reader
	size    int64
	version string // of the object: its ETag
	end     func()
}

// A download reads a range of an object. When a response is interrupted it requests the rest. It
// fails if the object was replaced meanwhile.
type download struct {
	open    func(offset, size int64) (*body, error)
	name    func(error) error // adds the object's name to an error
	version string

	body   *body // nil after err
	offset int64 // offset of the next byte
	left   int64 // bytes still to return
	got    int64 // bytes read from body
	cuts   int   // interruptions since a response with enough bytes
	err    error
}

var errReplaced = errors.New("the object was replaced while it was read: read it again")

func (d *download) Read(p []byte) (int, error) {
	switch {
	case d.left == 0:
		return 0, io.EOF
	case d.err != nil:
		return 0, d.err
	}
	n, err := d.body.in.Read(p[:min(int64(len(p)), d.left)])
	d.offset += int64(n)
	d.left -= int64(n)
	d.got += int64(n)
	if err != nil && d.left > 0 {
		d.err = d.resume(err)
	}
	return n, d.err
}

// resume requests the rest after a response was interrupted.
func (d *download) resume(cut error) error {
	d.body.end()
	if d.got >= enough {
		d.cuts = 0
	}
	if d.cuts++; d.cuts > maxCuts {
		if cut == io.EOF {
			cut = io.ErrUnexpectedEOF
		}
		d.body = nil
		return d.name(cut)
	}
	var err error
	if d.body, err = d.open(d.offset, d.left); err != nil {
		d.body = nil
		return d.name(err)
	}
	d.got = 0
	if d.body.version != d.version {
		return d.name(errReplaced)
	}
	return nil
}

func (d *download) Close() error {
	if d.body != nil {
		d.body.end()
	}
	return nil
}

package pagerank

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"
)

// An openList is an edge list that is ready to be parsed: decompressed, after its head, and with
// numbers for nodes.
type openList struct {
	io.Reader
	lines int         // of the head
	both  bool        // each line is a link there and one back
	names *nameReader // if nodes have names

	rows    uint32 // of a matrix, whose nodes are 1 to rows; otherwise 0
	entries uint64 // of a matrix
}

// maxHead bounds the comments before the first link, in bytes, by which the form of a list is detected.
const maxHead = 1 << 20

// maxWindow bounds the memory for decompressing a list with zstd, in bytes.
const maxWindow = 128 << 20

// openEdges detects the format of an edge list.
func openEdges(r io.Reader) (*openList, error) {
	in, err := decompressed(r)
	if err != nil {
		return nil, err
	}
	l := &openList{Reader: in}
	head, err := in.Peek(maxHead)
	if err != nil && err != io.EOF && len(head) == 0 {
		return nil, fmt.Errorf("line 1: %w", err)
	}
	if err := checkText(head); err != nil {
		return nil, err
	}
	// The reader repeats an error after the head.
	if mark := []byte("\xef\xbb\xbf"); bytes.HasPrefix(head, mark) { // of UTF-8, as some editors write
		in.Discard(len(mark)) // which were peeked at
		head = head[len(mark):]
	}
	first, _, _ := bytes.Cut(head, []byte{'\n'})
	word, rest := field(first)
	switch kind, _ := field(rest); {
	case bytes.EqualFold(word, []byte("%%MatrixMarket")):
		return l, l.skipMatrixHead(in, first)
	case string(word) == "%" && string(kind) == "sym": // KONECT
		l.both = true
	case string(word) == "%" && string(kind) == "bip":
		return nil, errors.New("line 1: the graph is bipartite, and its two sides have the same numbers")
	}
	named, err := hasNames(head)
	if named {
		l.names = &nameReader{in: in, ids: map[string]uint32{}}
		l.Reader = l.names
	}
	return l, err
}

// otherForms are files that begin otherwise than a list, whose first bytes could be taken for names.
var otherForms = []struct {
	at          int
	magic, form string
}{
	{0, "\xfd7zXZ", "the file is compressed with xz"},
	{4, "1AY&SY", "the file is compressed with bzip2"},
	{257, "ustar", "the file is an archive of tar"},
	{0, "PK\x03\x04", "the file is a ZIP archive"},
}

// checkText returns an error for a head that is not text.
func checkText(head []byte) error {
	for _, f := range otherForms {
		if len(head) > f.at && bytes.HasPrefix(head[f.at:], []byte(f.magic)) {
			return fmt.Errorf("%s: extract the list of edges first", f.form)
		}
	}
	if at := bytes.IndexByte(head, 0); at >= 0 {
		return fmt.Errorf("line %d: the file is not a text", 1+bytes.Count(head[:at], []byte{'\n'}))
	}
	return nil
}

// decompressed returns r, decompressed if it is compressed with gzip or zstd.
func decompressed(r io.Reader) (*bufio.Reader, error) {
	in := bufio.NewReaderSize(r, maxHead)
	head, _ := in.Peek(4)
	switch {
	case bytes.HasPrefix(head, []byte{0x1f, 0x8b}):
		z, err := gzip.NewReader(in)
		if err == io.EOF {
			err = io.ErrUnexpectedEOF
		}
		if err != nil {
			return nil, err
		}
		return bufio.NewReaderSize(z, maxHead), nil
	case bytes.Equal(head, []byte{0x28, 0xb5, 0x2f, 0xfd}):
		// With a concurrency of one it has no goroutine that would have to be ended.
		z, err := zstd.NewReader(in, zstd.WithDecoderConcurrency(1), zstd.WithDecoderMaxWindow(maxWindow))
		if err != nil {
			return nil, err
		}
		return bufio.NewReaderSize(z, maxHead), nil
	}
	return in, nil
}

// Bounds of the rows of a matrix, all of which become nodes: a head of a few bytes must not take the
// memory of 2^32 nodes.
const (
	manyRows       = 1 << 20 // fewer are never refused
	maxRowsAnEntry = 64
)

// skipMatrixHead reads the head of a file in the Matrix Market exchange format (Boisvert, Pozo and
// Remington, NISTIR 5935): a line with the type of the matrix, comments, and a line of three sizes: rows,
// columns and entries.
func (l *openList) skipMatrixHead(in *bufio.Reader, first []byte) error {
	words := bytes.Fields(bytes.ToLower(first))
	if len(words) != 5 || string(words[1]) != "matrix" || string(words[2]) != "coordinate" {
		return errors.New("line 1: a Matrix Market file must have a matrix in coordinates")
	}
	l.both = string(words[4]) != "general"
	for {
		line, err := in.ReadSlice('\n')
		l.lines++
		word, rest := field(line)
		switch {
		case err != nil:
			return fmt.Errorf("line %d: the sizes of the matrix are missing: %w", l.lines, err)
		case len(word) == 0 || word[0] == '%':
			continue
		}
		columns, rest := field(rest)
		entries, _ := field(rest)
		switch {
		case len(entries) == 0:
			return fmt.Errorf("line %d: there must be three sizes of the matrix", l.lines)
		case !bytes.Equal(word, columns):
			return fmt.Errorf("line %d: a matrix of %.20s rows and %.20s columns is not a graph of one kind of nodes",
				l.lines, word, columns)
		}
		if l.rows, err = node(word); err == nil {
			l.entries, err = strconv.ParseUint(string(entries), 10, 64)
		}
		if err != nil {
			return fmt.Errorf("line %d: sizes of the matrix: %w", l.lines, err)
		}
		if uint64(l.rows) > manyRows && uint64(l.rows)/maxRowsAnEntry > l.entries {
			return fmt.Errorf("line %d: a matrix of %d rows has %d entries only: more than %d rows an entry are taken for an error",
				l.lines, l.rows, l.entries, maxRowsAnEntry)
		}
		return nil
	}
}

// hasNames reports whether a node of the first link of a list is not a number, or a node without links if
// the head has no link. It fails if the link after the first has numbers: the first is a heading then.
func hasNames(head []byte) (named bool, err error) {
	first, lone := 0, false
	for lines := 1; len(head) > 0; lines++ {
		var line []byte
		line, head, _ = bytes.Cut(head, []byte{'\n'})
		if name, ok := loneName(line); ok {
			lone = lone || !isNumber(name)
		}
		source, rest := field(line)
		if isComment(source) {
			continue
		}
		target, _ := field(rest)
		numbers := isNumber(source) && isNumber(target)
		switch {
		case first > 0 && numbers && len(target) > 0:
			return false, fmt.Errorf("line %d has names and line %d numbers; begin a heading with #", first, lines)
		case first > 0:
			return true, nil
		case numbers || len(target) == 0:
			return false, nil
		}
		first = lines
	}
	return first > 0 || lone, nil
}

// isComment reports whether a line with this first word is a comment.
func isComment(word []byte) bool { return len(word) == 0 || word[0] == '#' || word[0] == '%' }

// isNumber reports whether a word has the form of a number, whether it is a valid node or not.
func isNumber(word []byte) bool {
	return bytes.Count(word, []byte{'.'}) < 2 &&
		!bytes.ContainsFunc(word, func(c rune) bool { return !strings.ContainsRune("0123456789+-.", c) })
}

// A nameReader replaces the names of nodes by numbers, in the order of their first occurrence. It
// leaves the number of lines, and lines that are wrong.
type nameReader struct {
	in    *bufio.Reader
	ids   map[string]uint32
	names []string // by number
	line  []byte   // the rest of a line
	err   error    // after line
}

func (r *nameReader) Read(p []byte) (int, error) {
	for len(r.line) == 0 && r.err == nil {
		var text []byte
		text, r.err = r.in.ReadSlice('\n')
		r.line = r.numbered(text)
	}
	n := copy(p, r.line)
	if r.line = r.line[n:]; n > 0 {
		return n, nil
	}
	return 0, r.err
}

// numbered returns a line with numbers for names, valid until the next call.
func (r *nameReader) numbered(text []byte) []byte {
	if len(text) > maxLine {
		return text
	}
	if name, ok := loneName(text); ok {
		return fmt.Appendf(nil, "# node %d\n", r.number(name))
	}
	source, rest := field(text)
	if isComment(source) {
		return text
	}
	target, _ := field(rest)
	if len(target) == 0 {
		return text
	}
	line := strconv.AppendUint(nil, uint64(r.number(source)), 10)
	line = append(line, '\t')
	line = strconv.AppendUint(line, uint64(r.number(target)), 10)
	return append(line, '\n')
}

func (r *nameReader) number(name []byte) uint32 {
	if id, known := r.ids[string(name)]; known {
		return id
	}
	id := uint32(len(r.names))
	r.names = append(r.names, string(name))
	r.ids[r.names[id]] = id
	return id
}

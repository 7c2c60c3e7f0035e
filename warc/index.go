package warc

import (
	"bufio"
	"cmp"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
)

// maxIndexLine bounds a line of an index, in bytes.
const maxIndexLine = 1 << 20

// Indexed are the records of an archive that an index names.
type Indexed struct {
	Filename string    // of the archive, as the index has it; not checked
	sections []section // of the file, distinct, in its order
}

// A section is the part of a file that has a record.
type section struct{ offset, length int64 }

// ReadIndex reads an index in CDXJ, which may be a part of one. It returns the archives in the order of
// their names. Lines of metadata, which begin with "!", are skipped; any other line that does not say
// where a record is ends reading with an error.
func ReadIndex(r io.Reader) ([]Indexed, error) {
	byName := map[string]*Indexed{}
	lines := bufio.NewScanner(r)
	lines.Buffer(nil, maxIndexLine)
	for n := 1; lines.Scan(); n++ {
		line := strings.TrimSpace(lines.Text())
		if line == "" || line[0] == '!' {
			continue
		}
		name, at, err := parseEntry(line)
		if err != nil {
			return nil, fmt.Errorf("cdxj: line %d: %w", n, err)
		}
		if byName[name] == nil {
			byName[name] = &Indexed{Filename: name}
		}
		byName[name].sections = append(byName[name].sections, at)
	}
	if err := lines.Err(); err != nil {
		return nil, fmt.Errorf("cdxj: %w", err)
	}
	all := make([]Indexed, 0, len(byName))
	for _, of := range byName {
		slices.SortFunc(of.sections, func(a, b section) int {
			return cmp.Or(cmp.Compare(a.offset, b.offset), cmp.Compare(a.length, b.length))
		})
		of.sections = slices.Compact(of.sections)
		all = append(all, *of)
	}
	slices.SortFunc(all, func(a, b Indexed) int { return strings.Compare(a.Filename, b.Filename) })
	return all, nil
}

// parseEntry returns the archive and the section that a line of an index names: a key, a time, and an
// object, whose numbers may be strings.
func parseEntry(line string) (filename string, at section, err error) {
	_, rest, _ := strings.Cut(line, " ")
	_, object, _ := strings.Cut(rest, " ")
	var entry struct {
		Filename       string
		Offset, Length number
	}
	if json.Unmarshal([]byte(object), &entry) != nil {
		return "", at, errors.New("it is not a key, a time and an object of JSON")
	}
	if entry.Filename == "" || entry.Offset < 0 || entry.Length <= 0 {
		return "", at, errors.New("it has no filename, offset or length")
	}
	return entry.Filename, section{int64(entry.Offset), int64(entry.Length)}, nil
}

// A number is an integer in JSON or in a string.
type number int64

// UnmarshalJSON implements [json.Unmarshaler].
func (n *number) UnmarshalJSON(b []byte) error {
	v, err := strconv.ParseInt(strings.Trim(string(b), `"`), 10, 64)
	*n = number(v)
	return err
}

// Reader returns a reader of the records in the archive, one after the other, for [NewReader]. It fails at a
// record that the archive does not have to its end.
func (x *Indexed) Reader(archive io.ReaderAt) io.Reader {
	s := &selection{archive: archive, left: x.sections}
	var head [8]byte
	if n, _ := archive.ReadAt(head[:], 0); n == len(head) && binary.LittleEndian.Uint32(head[:]) == dictionary {
		size := int64(len(head)) + int64(binary.LittleEndian.Uint32(head[4:]))
		s.left = slices.Concat([]section{{0, size}}, x.sections) // no frame can be read without it
	}
	return s
}

// A selection reads sections of a file.
type selection struct {
	archive io.ReaderAt
	left    []section // the first one is being read
	done    int64     // bytes of the first
}

func (s *selection) Read(p []byte) (int, error) {
	if len(s.left) == 0 {
		return 0, io.EOF
	}
	at := s.left[0]
	n, err := s.archive.ReadAt(p[:min(int64(len(p)), at.length-s.done)], at.offset+s.done)
	if s.done += int64(n); s.done == at.length {
		s.left, s.done = s.left[1:], 0
	}
	switch {
	case n > 0:
		return n, nil
	case err == io.EOF:
		err = fmt.Errorf("the archive ends before the record that the index has at byte %d", at.offset)
	}
	return 0, err
}

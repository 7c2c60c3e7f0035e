package warc

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"
)

// TestReadIndex: the records that an index names are read in the order of the file, whatever the
// compression, and those that it does not name are not.
func TestReadIndex(t *testing.T) {
	for name, how := range compressions {
		archive, starts, want := packed(t, how, 5)
		var index strings.Builder
		for _, i := range []int{3, 0, 3, 4} {
			end := len(archive)
			if i < 4 {
				end = starts[i+1]
			}
			e := Entry{
				URL: fmt.Sprintf("http://a.test/%d", i), At: time.Unix(1e9, 0), Media: "text/html", Status: 200,
				Length: int64(end - starts[i]), Offset: int64(starts[i]), Filename: name,
			}
			fmt.Fprintln(&index, e.Line())
		}
		index.WriteString("\n!meta {\"a\": 1}\ntest,a)/ 20260102 {\"filename\": \"another\", \"offset\": 0, \"length\": 7}\n")
		all, err := ReadIndex(strings.NewReader(index.String()))
		if err != nil || len(all) != 2 || all[0].Filename != "another" && all[1].Filename != "another" {
			t.Fatalf("%s: %+v, %v", name, all, err)
		}
		of := all[slices.IndexFunc(all, func(x Indexed) bool { return x.Filename == name })]
		var got []string
		r := NewReader(of.Reader(bytes.NewReader(archive)), ReaderOptions{})
		for rec, err := r.Next(); err == nil; rec, err = r.Next() {
			got = append(got, fmt.Sprintf("%s %s %d", rec.Type(), rec.URL(), len(rec.Block)))
		}
		if !slices.Equal(got, []string{want[0], want[3], want[4]}) {
			t.Errorf("%s: %q", name, got)
		}
	}
}

// TestReadIndexBroken: a line that does not say where a record is ends reading.
func TestReadIndexBroken(t *testing.T) {
	for _, line := range []string{
		"a", "a 2026", "a 2026 {", `a 2026 {"filename": "a", "offset": "x", "length": "1"}`, `a 2026 {"offset": "0", "length": "1"}`,
		`a 2026 {"filename": "a", "offset": "-1", "length": "1"}`, `a 2026 {"filename": "a", "offset": "0"}`, " CDX N b a m s k r M S V g",
		strings.Repeat("a", 2*maxIndexLine),
	} {
		if all, err := ReadIndex(strings.NewReader("!a\n" + line)); err == nil || all != nil {
			t.Errorf("%.40s: %+v", line, all)
		}
	}
}

// TestIndexOfMore: records that an archive does not have, as it is another one or cut short, are reported after
// those that it has.
func TestIndexOfMore(t *testing.T) {
	for name, how := range compressions {
		archive, starts, want := packed(t, how, 4)
		for _, cut := range []int{starts[2] + 9, starts[2], starts[1]} {
			of := Indexed{sections: []section{
				{0, int64(starts[1])}, {int64(starts[2]), int64(starts[3] - starts[2])}, {int64(starts[3]), int64(len(archive) - starts[3])},
			}}
			r := NewReader(of.Reader(bytes.NewReader(archive[:cut])), ReaderOptions{})
			rec, err := r.Next()
			if err != nil || rec.URL() != "http://a.test/0" {
				t.Fatalf("%s: %v, want %s", name, err, want[0])
			}
			if _, err := r.Next(); err == nil || !strings.Contains(err.Error(), fmt.Sprint("at byte ", starts[2])) {
				t.Errorf("%s cut at %d: %v", name, cut, err)
			}
		}
	}
}

// FuzzReadIndex: whatever an index says, reading by it ends, within the archive.
func FuzzReadIndex(f *testing.F) {
	archive, _, _ := packed(f, Gzip, 3)
	f.Add([]byte(`a 2026 {"filename": "a", "offset": "0", "length": 9223372036854775807}`))
	f.Add([]byte(`a 2026 {"filename": "a", "offset": 9223372036854775807, "length": "1"}`))
	f.Fuzz(func(t *testing.T, index []byte) {
		all, _ := ReadIndex(bytes.NewReader(index))
		for _, of := range all {
			var b bytes.Buffer
			n, _ := b.ReadFrom(of.Reader(bytes.NewReader(archive)))
			if n > int64(len(of.sections)*len(archive)) {
				t.Errorf("%d bytes", n)
			}
		}
	})
}

package warc

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"
	"pgregory.net/rapid"
)

// all reads an archive: its records, one line each, and how often it was damaged.
func all(t testing.TB, b []byte, o ReaderOptions) (records []string, damages []error) {
	t.Helper()
	r := NewReader(bytes.NewReader(b), o)
	for range 10_000 {
		rec, err := r.Next()
		var damage *DamageError
		switch {
		case err == io.EOF:
			return records, damages
		case errors.As(err, &damage):
			damages = append(damages, err)
		case err != nil:
			return records, append(damages, err)
		default:
			records = append(records, fmt.Sprintf("%s %s %d", rec.Type(), rec.URL(), len(rec.Block)))
		}
	}
	t.Fatal("the archive does not end")
	return nil, nil
}

func wget(t testing.TB) []byte {
	t.Helper()
	b, err := os.ReadFile("testdata/wget.warc")
	if err != nil {
		t.Fatal(err)
	}
	return b
}

var wgets = []string{
	"warcinfo  289",
	"request http://www.docs.test/ 128",
	"response http://www.docs.test/ 1484",
	"metadata metadata://gnu.org/software/wget/warc/MANIFEST.txt 48",
	"resource metadata://gnu.org/software/wget/warc/wget_arguments.txt 109",
	"resource metadata://gnu.org/software/wget/warc/wget.log 0",
}

// TestWget reads a file that wget 1.21.3 wrote, and its digests.
func TestWget(t *testing.T) {
	got, damages := all(t, wget(t), ReaderOptions{})
	if !slices.Equal(got, wgets) || len(damages) > 0 {
		t.Fatalf("%q, %v", got, damages)
	}
	r := NewReader(bytes.NewReader(wget(t)), ReaderOptions{})
	digests := 0
	for {
		rec, err := r.Next()
		if err == io.EOF {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		if Digest(rec.Block) != rec.Get("warc-block-digest") || !rec.Intact() {
			t.Errorf("%s: block digest %s, want %s", rec.URL(), Digest(rec.Block), rec.Get("WARC-Block-Digest"))
		}
		if rec.Block = append(rec.Block, 'x'); rec.Intact() {
			t.Errorf("%s: a byte more is not noticed", rec.URL())
		}
		rec.Block = rec.Block[:len(rec.Block)-1]
		if rec.Type() != Response {
			continue
		}
		resp, err := rec.HTTP()
		if err != nil {
			t.Fatal(err)
		}
		body, err := io.ReadAll(resp.Body)
		if err != nil || resp.StatusCode != 200 || len(body) != 1366 || Digest(body) != rec.Digest() {
			t.Errorf("status %d, %d bytes, digest %s, %v", resp.StatusCode, len(body), Digest(body), err)
		}
		at, err := rec.Date()
		if err != nil || !at.Equal(time.Date(2026, 11, 21, 12, 9, 52, 0, time.UTC)) {
			t.Errorf("date %v, %v", at, err)
		}
		digests++
	}
	if digests != 1 {
		t.Fatalf("%d responses", digests)
	}
}

// packed returns an archive of n records, and where each begins in it.
func packed(t testing.TB, how Compression, n int) (archive []byte, starts []int, want []string) {
	t.Helper()
	var b bytes.Buffer
	w, err := NewWriter(&b, how)
	if err != nil {
		t.Fatal(err)
	}
	for i := range n {
		starts = append(starts, b.Len())
		block := []byte(strings.Repeat(fmt.Sprintf("block %d of some length. ", i), 10+i))
		url := fmt.Sprintf("http://a.test/%d", i)
		if _, err := w.Write(Resource, time.Unix(1e9, 0), []Field{{"WARC-Target-URI", url}}, block); err != nil {
			t.Fatal(err)
		}
		want = append(want, fmt.Sprintf("resource %s %d", url, len(block)))
	}
	return b.Bytes(), starts, want
}

var compressions = map[string]Compression{"plain": Plain, "gzip": Gzip, "zstd": Zstd}

// TestWritten: what was written is read again, whatever the compression, blocks and fields.
func TestWritten(t *testing.T) {
	for name, how := range compressions {
		t.Run(name, func(t *testing.T) {
			rapid.Check(t, func(t *rapid.T) {
				blocks := rapid.SliceOfN(rapid.SliceOfN(rapid.Byte(), 0, 5000), 1, 5).Draw(t, "blocks")
				var b bytes.Buffer
				w, err := NewWriter(&b, how)
				if err != nil {
					t.Fatal(err)
				}
				for _, block := range blocks {
					if _, err := w.Write(Response, time.Unix(7, 0), []Field{{"WARC-Target-URI", "http://a.test/\r\nX: y"}}, block); err != nil {
						t.Fatal(err)
					}
				}
				r := NewReader(&b, ReaderOptions{})
				for i, block := range blocks {
					rec, err := r.Next()
					if err != nil || !bytes.Equal(rec.Block, block) || rec.Version != "1.1" || rec.URL() != "http://a.test/  X: y" || rec.Get("X") != "" {
						t.Fatalf("record %d: %+v %v", i, rec, err)
					}
				}
				if _, err := r.Next(); err != io.EOF {
					t.Fatal(err)
				}
			})
		})
	}
}

// TestCut: of a file that is cut short anywhere, every record before the cut is read, and the rest is
// an error or, between two records, none.
func TestCut(t *testing.T) {
	for name, how := range compressions {
		archive, starts, want := packed(t, how, 4)
		for n := range archive {
			got, damages := all(t, archive[:n], ReaderOptions{})
			whole := 0
			for whole+1 < len(starts) && starts[whole+1] <= n {
				whole++
			}
			if len(got) < whole || len(got) > whole+1 || !slices.Equal(got, want[:len(got)]) {
				t.Fatalf("%s cut at %d of %d: %q", name, n, len(archive), got)
			}
			if len(got) == whole && n > starts[whole] && len(damages) == 0 {
				t.Fatalf("%s cut at %d of %d: nobody says so", name, n, len(archive))
			}
		}
	}
}

// TestFlip: a bit that is wrong costs its record, and in gzip, where broken data may run on into the
// next member, two more.
func TestFlip(t *testing.T) {
	for name, how := range compressions {
		archive, starts, want := packed(t, how, 6)
		for i := range archive {
			broken := bytes.Clone(archive)
			broken[i] ^= 4
			got, _ := all(t, broken, ReaderOptions{})
			if how == Plain {
				if len(got) < len(want)-2 {
					t.Fatalf("plain flipped at %d: %q", i, got)
				}
				continue
			}
			lost := 0
			for _, w := range want {
				if !slices.Contains(got, w) {
					lost++
				}
			}
			// The fourth byte of gzip may announce a field of 64 KB, more than this whole file.
			if lost > 3 && how == Gzip && !slices.Contains(starts, i-3) {
				t.Fatalf("%s flipped at %d: %d lost, left %q", name, i, lost, got)
			}
		}
	}
}

// TestLyingLengths: a record with another length than it says is passed over, and the others are read.
func TestLyingLengths(t *testing.T) {
	for name, how := range compressions {
		for _, lie := range []string{"5", "300", "100000", "999999999999", "-1", "x", "99999999999999999999999", ""} {
			plain, starts, want := packed(t, Plain, 4)
			var b bytes.Buffer
			w, err := NewWriter(&b, how)
			if err != nil {
				t.Fatal(err)
			}
			for i, from := range starts {
				to := len(plain)
				if i+1 < len(starts) {
					to = starts[i+1]
				}
				rec := string(plain[from:to])
				if i == 1 {
					head, rest, _ := strings.Cut(rec, "Content-Length: ")
					_, rest, _ = strings.Cut(rest, "\r\n")
					rec = head + "Content-Length: " + lie + "\r\n" + rest
				}
				if err := w.member([]byte(rec)); err != nil {
					t.Fatal(err)
				}
			}
			got, damages := all(t, b.Bytes(), ReaderOptions{MaxBlock: 1 << 20})
			if !slices.Equal(got, []string{want[0], want[2], want[3]}) || len(damages) == 0 {
				t.Errorf("%s, Content-Length %q: %q, %v", name, lie, got, damages)
			}
		}
	}
}

// TestLong: a block over the bound is passed over, not kept.
func TestLong(t *testing.T) {
	archive, _, want := packed(t, Plain, 3)
	r := NewReader(bytes.NewReader(archive), ReaderOptions{MaxBlock: 250})
	for i := range want {
		rec, err := r.Next()
		if err != nil || rec.Long != (i > 0) || rec.Long != (len(rec.Block) == 0) {
			t.Fatalf("record %d: %+v, %v", i, rec, err)
		}
	}
}

// TestLongLegacy: long blocks of ARC files, and of ClueWeb09 with right and wrong lengths, are skipped,
// and cost no other record.
func TestLongLegacy(t *testing.T) {
	text := strings.Repeat("kestrel\r\n\r\n", 10_000)
	arc := fmt.Sprintf("http://a.test/ 192.0.2.1 20080102030405 text/html %d\n%s\n", len(text), text) + arcs[1]
	archives := map[string][]byte{"ARC": []byte(arc), "ARC, gzip": zipped([]string{arc[:len(arc)-len(arcs[1])], arcs[1]}, asGzip)}
	for _, wrong := range []int{-7, 0, 1, 3, 9, 12, 13, 300, 40_000, 1 << 20} {
		long := fmt.Sprintf("WARC/0.18\nWARC-Type: response\nWARC-Target-URI: http://a.test/\nContent-Length: %d\n\n%s\n\n", len(text)+wrong, text)
		archives[fmt.Sprint("ClueWeb, wrong by ", wrong)] = []byte(long + clueweb("http://a.test/", 0))
	}
	for name, archive := range archives {
		r := NewReader(bytes.NewReader(archive), ReaderOptions{MaxBlock: 1000})
		long, err := r.Next()
		if err != nil || !long.Long {
			t.Errorf("%s: %+v, %v", name, long, err)
			continue
		}
		if rec, err := r.Next(); err != nil || rec.Long || rec.URL() != "http://a.test/" || !strings.HasSuffix(string(rec.Block), "<p>kestrels") {
			t.Errorf("%s: then %+v, %v", name, rec, err)
		}
		if rec, err := r.Next(); err != io.EOF {
			t.Errorf("%s: at the end %+v, %v", name, rec, err)
		}
	}
}

// TestOneMember: all records in one gzip stream, as gzip file.warc makes them.
func TestOneMember(t *testing.T) {
	archive, _, want := packed(t, Plain, 5)
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	z.Write(archive)
	z.Close()
	if got, damages := all(t, b.Bytes(), ReaderOptions{}); !slices.Equal(got, want) || len(damages) > 0 {
		t.Fatalf("%q %v", got, damages)
	}
}

// TestDictionary: the dictionary of a .warc.zst is in its first frame, compressed or not.
func TestDictionary(t *testing.T) {
	archive, starts, want := packed(t, Plain, 5)
	samples := make([][]byte, len(starts))
	for i, from := range starts {
		samples[i] = archive[from:append(starts, len(archive))[i+1]]
	}
	d, err := zstd.BuildDict(zstd.BuildDictOptions{ID: 7, Contents: samples, History: samples[0], Offsets: [3]int{1, 4, 8}})
	if err != nil {
		t.Fatal(err)
	}
	plain, err := zstd.NewWriter(nil)
	if err != nil {
		t.Fatal(err)
	}
	with, err := zstd.NewWriter(nil, zstd.WithEncoderDict(d))
	if err != nil {
		t.Fatal(err)
	}
	for name, frame := range map[string][]byte{"plain": d, "compressed": plain.EncodeAll(d, nil)} {
		b := append([]byte{0x5d, 0x2a, 0x4d, 0x18, byte(len(frame)), byte(len(frame) >> 8), 0, 0}, frame...)
		of := Indexed{}
		for _, s := range samples {
			from := len(b)
			b = with.EncodeAll(s, b)
			of.sections = append(of.sections, section{int64(from), int64(len(b) - from)})
		}
		of.sections = of.sections[1:]
		selected, err := io.ReadAll(of.Reader(bytes.NewReader(b)))
		if err != nil {
			t.Fatal(err)
		}
		if got, damages := all(t, selected, ReaderOptions{}); !slices.Equal(got, want[1:]) || len(damages) > 0 {
			t.Errorf("%s, by an index: %q %v", name, got, damages)
		}
		if got, damages := all(t, b, ReaderOptions{}); !slices.Equal(got, want) || len(damages) > 0 {
			t.Errorf("%s: %q %v", name, got, damages)
		}
	}
}

// TestChunks: chunks are joined where they are there.
func TestChunks(t *testing.T) {
	const head = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nContent-Type: text/html\r\n\r\n"
	for body, want := range map[string]string{
		"5\r\nhello\r\n3;x=y\r\n wo\r\n0\r\n\r\n": "hello wo",
		"<p>joined already":                       "<p>joined already",
		"":                                        "",
	} {
		rec := Record{Fields: []Field{{"WARC-Type", "response"}}, Block: []byte(head + body)}
		resp, err := rec.HTTP()
		if err != nil {
			t.Fatal(err)
		}
		if got, err := io.ReadAll(resp.Body); err != nil || string(got) != want {
			t.Errorf("%q: %q, %v", body, got, err)
		}
	}
}

// A failing reader is a disk that breaks.
type failing struct{ io.Reader }

var errDisk = errors.New("disk is broken")

func (f failing) Read(p []byte) (int, error) {
	n, err := f.Reader.Read(p)
	if err == io.EOF {
		err = errDisk
	}
	return n, err
}

// TestDisk: an error of the file ends the reading, and is not a DamageError.
func TestDisk(t *testing.T) {
	for name, how := range compressions {
		archive, _, _ := packed(t, how, 3)
		r := NewReader(failing{bytes.NewReader(archive[:len(archive)-9])}, ReaderOptions{})
		var err error
		for err == nil {
			_, err = r.Next()
		}
		if !errors.Is(err, errDisk) || errors.As(err, new(*DamageError)) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func FuzzReader(f *testing.F) {
	f.Add(wget(f))
	for _, how := range compressions {
		archive, _, _ := packed(f, how, 3)
		f.Add(archive)
		f.Add(archive[:len(archive)/2])
	}
	f.Add([]byte("WARC/1.1\r\nWARC-Type: response\r\nContent-Length: 20\r\n\r\nHTTP/1.1 200 OK\r\n\r\n\r\n\r\n"))
	f.Add([]byte(strings.Join(arcs, "")))
	f.Add(zipped(arcs, asLZ4))
	f.Add([]byte(clueweb("http://a.test/\n1", 9) + clueweb("http://a.test/2", -9)))
	f.Fuzz(func(t *testing.T, b []byte) {
		r := NewReader(bytes.NewReader(b), ReaderOptions{MaxBlock: 1 << 16})
		for range len(b) + 2 {
			rec, err := r.Next()
			if err == io.EOF {
				return
			}
			var damage *DamageError
			if err != nil && !errors.As(err, &damage) {
				return
			}
			if err != nil {
				continue
			}
			if resp, err := rec.HTTP(); err == nil {
				io.Copy(io.Discard, resp.Body)
			}
			rec.Date()
		}
		t.Fatal("more records than bytes")
	})
}

func BenchmarkReader(b *testing.B) {
	for name, how := range compressions {
		archive, _, _ := packed(b, how, 2000)
		plain, _, _ := packed(b, Plain, 2000)
		b.Run(name, func(b *testing.B) {
			b.SetBytes(int64(len(plain)))
			b.ReportAllocs()
			for b.Loop() {
				all(b, archive, ReaderOptions{})
			}
		})
	}
}

package warc

import (
	"bytes"
	"fmt"
	"io"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/klauspost/compress/gzip"
	"github.com/pierrec/lz4/v4"
)

const page = "HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n\r\n<p>kestrels"

// arcs are the records of an ARC file, of version 1 and 2.
var arcs = []string{
	"filedesc://a.arc 0.0.0.0 20080102030405 text/plain 76\n1 0 Alexa Internet\nURL IP-address Archive-date Content-type Archive-length\n\n\n\n",
	fmt.Sprintf("http://a.test/ 192.0.2.1 20080102030405 text/html %d\n%s\n", len(page), page),
	fmt.Sprintf("http://a.test/b c 192.0.2.1 20080102 text/html; charset=utf-8 %d\n%s\n", len(page), page),
	fmt.Sprintf("https://a.test/x 2001:db8::1 20080102030405 text/html 200 ABC - 0 a.arc.gz %d\n%s\n", len(page), page),
	"dns:a.test 192.0.2.53 20080102030405 text/dns 5\n1 2 3\n",
}

var ofARCs = []string{
	"warcinfo filedesc://a.arc 76", fmt.Sprintf("response http://a.test/ %d", len(page)), fmt.Sprintf("response http://a.test/b%%20c %d", len(page)),
	fmt.Sprintf("response https://a.test/x %d", len(page)), "response dns:a.test 5",
}

// zipped returns records with each compressed by itself.
func zipped(records []string, how func(io.Writer) io.WriteCloser) []byte {
	var b bytes.Buffer
	for _, r := range records {
		w := how(&b)
		io.WriteString(w, r)
		w.Close()
	}
	return b.Bytes()
}

func asGzip(w io.Writer) io.WriteCloser { return gzip.NewWriter(w) }
func asLZ4(w io.Writer) io.WriteCloser  { return lz4.NewWriter(w) }

// TestARC: ARC files, plain and compressed.
func TestARC(t *testing.T) {
	for name, archive := range map[string][]byte{
		"plain": []byte(strings.Join(arcs, "")), "gzip": zipped(arcs, asGzip), "lz4": zipped(arcs, asLZ4),
	} {
		got, damages := all(t, archive, ReaderOptions{})
		if !slices.Equal(got, ofARCs) || len(damages) > 0 {
			t.Errorf("%s: %q %v", name, got, damages)
		}
	}
	r := NewReader(strings.NewReader(arcs[3]), ReaderOptions{})
	rec, err := r.Next()
	if err != nil {
		t.Fatal(err)
	}
	at, err := rec.Date()
	resp, errHTTP := rec.HTTP()
	if err != nil || errHTTP != nil || !at.Equal(time.Date(2008, 1, 2, 3, 4, 5, 0, time.UTC)) || resp.StatusCode != 200 || resp.Header.Get("Content-Type") != "text/html" {
		t.Errorf("%+v, %v, %v", rec.Fields, err, errHTTP)
	}
}

// TestDamagedARC: a record with a wrong length costs that one.
func TestDamagedARC(t *testing.T) {
	for _, lie := range []string{"9", "100", "100000", "-1", "x"} {
		broken := slices.Clone(arcs)
		broken[1] = fmt.Sprintf("http://a.test/ 192.0.2.1 20080102030405 text/html %s\n%s\n", lie, page)
		for name, archive := range map[string][]byte{"plain": []byte(strings.Join(broken, "")), "gzip": zipped(broken, asGzip)} {
			got, damages := all(t, archive, ReaderOptions{})
			if len(damages) == 0 || slices.Contains(got, ofARCs[1]) {
				t.Errorf("%s, length %s: %q %v", name, lie, got, damages)
			}
			if left := ofARCs[2:]; lie != "100" && lie != "100000" && !slices.Equal(got[1:], left) {
				t.Errorf("%s, length %s: %q, %v", name, lie, got, damages)
			}
		}
	}
}

// TestLZ4: archives in LZ4, a frame for each record or for all; a damaged frame costs its record.
func TestLZ4(t *testing.T) {
	plain, starts, want := packed(t, Plain, 5)
	var records []string
	for i, from := range starts {
		records = append(records, string(plain[from:append(starts, len(plain))[i+1]]))
	}
	each := zipped(records, asLZ4)
	for name, archive := range map[string][]byte{"each": each, "together": zipped([]string{string(plain)}, asLZ4)} {
		if got, damages := all(t, archive, ReaderOptions{}); !slices.Equal(got, want) || len(damages) > 0 {
			t.Errorf("%s: %q %v", name, got, damages)
		}
	}
	at := len(zipped(records[:2], asLZ4)) + 30
	each[at] ^= 0x55
	got, damages := all(t, each, ReaderOptions{})
	if len(damages) == 0 || len(got) < 4 || !slices.Equal(got[:2], want[:2]) || got[len(got)-1] != want[4] {
		t.Errorf("damaged: %q %v", got, damages)
	}
}

// clueweb returns a record as ClueWeb09 has them, with a length that is wrong by so many bytes.
func clueweb(url string, wrong int) string {
	body := strings.ReplaceAll(page, "\r\n", "\n")
	return fmt.Sprintf("WARC/0.18\nWARC-Type: response\nWARC-Target-URI: %s\nWARC-Date: 2009-03-65T08:43:19-0800\n"+
		"WARC-TREC-ID: clueweb09-en0000-00-00000\n\nContent-Type: application/http;msgtype=response\nContent-Length: %d\n\n%s\n\n", url, len(body)+wrong, body)
}

// TestClueWeb: lengths that are too large or too small, empty lines in headers, line ends in URLs and days
// of the year.
func TestClueWeb(t *testing.T) {
	size := len(page) - 3
	for _, wrong := range []int{0, 3, 40, -7, 300, 1000} {
		archive := clueweb("http://a.test/1", wrong) + clueweb("http://a.test/\x08\n2", 0) + clueweb("http://a.test/3", 0)
		got, damages := all(t, []byte(archive), ReaderOptions{})
		if len(damages) > 0 || !slices.Equal(got, []string{
			fmt.Sprintf("response http://a.test/1 %d", size), fmt.Sprintf("response http://a.test/\x082 %d", size), fmt.Sprintf("response http://a.test/3 %d", size),
		}) {
			t.Errorf("wrong by %d: %q %v", wrong, got, damages)
		}
	}
	r := NewReader(strings.NewReader(clueweb("http://a.test/", 5)), ReaderOptions{})
	rec, err := r.Next()
	if err != nil {
		t.Fatal(err)
	}
	if at, err := rec.Date(); err != nil || !at.Equal(time.Date(2009, 3, 6, 16, 43, 19, 0, time.UTC)) {
		t.Error(at, err)
	}
	for text, want := range map[string]string{
		"2009-01-05T08:43:19Z": "2009-01-05", "2009-12-365T08:43:19Z": "2009-12-31", "2009-02-28T08:43:19Z": "2009-02-28",
		"2009-02-99T08:43:19Z": "", "2009-13-01T08:43:19Z": "", "2009-00-00T08:43:19Z": "", "today": "", "2009-02-33T25:43:19Z": "",
	} {
		at, ok := cluewebDate(text)
		if got := at.Format(time.DateOnly); ok != (want != "") || ok && got != want {
			t.Errorf("%s: %s %v", text, got, ok)
		}
	}
	var lies strings.Builder // each length reaches to the end
	for i := range 3000 {
		lies.WriteString(clueweb(fmt.Sprint("http://a.test/", i), 900_000))
	}
	if got, damages := all(t, []byte(lies.String()), ReaderOptions{}); len(got) < 5 || len(damages) == 0 {
		t.Errorf("%d records, %d damages of an archive that costs the square of its size", len(got), len(damages))
	}
	whole := NewReader(strings.NewReader("WARC/0.18\r\nContent-Length: 6\r\n\r\nend\r\n\n\r\n\r\nWARC/0.18\r\nContent-Length: 1\r\n\r\nx\r\n\r\n"), ReaderOptions{})
	if rec, err := whole.Next(); err != nil || string(rec.Block) != "end\r\n\n" {
		t.Errorf("a right length: %+v, %v", rec, err)
	}
}

// TestClueWebCost: after a length that reaches to the end of the archive, each further wrong length
// costs the same, and not what is left of the archive.
func TestClueWebCost(t *testing.T) {
	const records = 3000
	archive := []byte(clueweb("http://a.test/", 1<<20) + strings.Repeat(clueweb("http://a.test/", 3), records-1))
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	got, damages := all(t, archive, ReaderOptions{})
	runtime.ReadMemStats(&after)
	if len(got) != records || len(damages) > 0 {
		t.Errorf("%d records, %v", len(got), damages)
	}
	if bytes := after.TotalAlloc - before.TotalAlloc; bytes > records*32<<10 {
		t.Errorf("%d bytes allocated for %d records", bytes, records)
	}
}

// TestConversion: the text of a page in a WET file is UTF-8.
func TestConversion(t *testing.T) {
	r := NewReader(strings.NewReader("WARC/1.0\r\nWARC-Type: conversion\r\nWARC-Target-URI: http://a.test/\r\nContent-Type: text/plain\r\nContent-Length: 5\r\n\r\nB\xc3\xa4r\n\r\n\r\n"), ReaderOptions{})
	rec, err := r.Next()
	if err != nil {
		t.Fatal(err)
	}
	if resp, err := rec.HTTP(); err != nil || resp.Header.Get("Content-Type") != "text/plain; charset=utf-8" {
		t.Errorf("%+v, %v", resp, err)
	}
}

func FuzzARC(f *testing.F) {
	for _, line := range arcs {
		f.Add(line)
	}
	f.Fuzz(func(t *testing.T, line string) {
		if rec, ok := arcRecord(line); ok {
			if _, err := rec.Date(); err != nil || rec.URL() == "" {
				t.Errorf("%+v, %v", rec.Fields, err)
			}
		}
		cluewebDate(line)
	})
}

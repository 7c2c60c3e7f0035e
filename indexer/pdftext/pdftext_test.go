package pdftext

import (
	"bytes"
	"compress/zlib"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"strings"
	"testing"
	"time"
)

// TestMain is the converting process where the environment says so.
func TestMain(m *testing.M) {
	if os.Getenv(serveEnv) == "" {
		os.Exit(m.Run())
	}
	if err := Serve(os.Stdin, os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	os.Exit(0)
}

// file makes a PDF of objects, the first of which is the catalogue, the last the information.
func file(objects ...string) []byte {
	var b bytes.Buffer
	b.WriteString("%PDF-1.4\n")
	offsets := make([]int, len(objects))
	for i, o := range objects {
		offsets[i] = b.Len()
		fmt.Fprintf(&b, "%d 0 obj\n%s\nendobj\n", i+1, o)
	}
	at := b.Len()
	fmt.Fprintf(&b, "xref\n0 %d\n0000000000 65535 f \n", len(objects)+1)
	for _, offset := range offsets {
		fmt.Fprintf(&b, "%010d 00000 n \n", offset)
	}
	fmt.Fprintf(&b, "trailer\n<</Size %d /Root 1 0 R /Info %d 0 R>>\nstartxref\n%d\n%%%%EOF\n", len(objects)+1, len(objects), at)
	return b.Bytes()
}

func stream(dict, content string) string {
	return fmt.Sprintf("<<%s /Length %d>>\nstream\n%s\nendstream", dict, len(content), content)
}

func packed(content string) string {
	var b bytes.Buffer
	z := zlib.NewWriter(&b)
	_, _ = z.Write([]byte(content))
	_ = z.Close()
	return stream("/Filter /FlateDecode", b.String())
}

const helvetica = "<</Type /Font /Subtype /Type1 /BaseFont /Helvetica /Encoding <</Differences [200 /fi]>> /FirstChar 32 /Widths [250]>>"

// paper is a document of two pages, whose pages have the given contents.
func paper(first, second string) []byte {
	return file("<</Type /Catalog /Pages 2 0 R>>",
		"<</Type /Pages /Kids [3 0 R 4 0 R] /Count 2 /Resources <</Font <</F 5 0 R /G 9 0 R>> /XObject <</X 8 0 R>>>>>>",
		"<</Type /Page /Parent 2 0 R /Contents 6 0 R /Annots [<</A <</URI (http://a.test/x?a&b)>>>> <</A <</URI (mailto:x)>>>>]>>",
		"<</Type /Page /Parent 2 0 R /Contents [7 0 R]>>", helvetica, stream("", first), packed(second),
		stream("/Subtype /Form /Matrix [1 0 0 1 0 -100]", "BT /F 10 Tf (in a form) Tj ET"),
		"<</Type /Font /Subtype /Type0 /Encoding /Identity-H /DescendantFonts [<</DW 600 /W [1 [500 500] 3 5 700]>>] /ToUnicode 10 0 R>>",
		stream("", "1 begincodespacerange <0000> <ffff> endcodespacerange 1 beginbfchar <0001> <0391> endbfchar 1 beginbfrange <0002> <0003> <03B1> endbfrange 1 beginbfrange <0004> <0005> [<00660066> <0041>] endbfrange"),
		"<</Title (Of Words & Letters)>>")
}

var plain = paper("BT /F 24 Tf 50 700 Td (Of Words) Tj /F 10 Tf 0 -40 Td [(wo) -20 (rds) -300 (apart)] TJ 0 -12 Td (are \\310ne and hyphen-) Tj 0 -12 Td (ated, Anglo-) Tj T* 0 -12 Td (Saxon) Tj 0 -30 Td (new paragraph) Tj ET",
	"BT /G 10 Tf 50 700 Td <00010002> Tj 20 0 Td <000300040005> Tj ET q /X Do Q")

func TestConvert(t *testing.T) {
	var out bytes.Buffer
	if err := Convert(&out, bytes.NewReader(plain), int64(len(plain))); err != nil {
		t.Fatal(err)
	}
	const want = `<!doctype html><meta charset=utf-8><title>Of Words &amp; Letters</title>
<section id=page=1>
<h1>Of Words</h1>
<p>words apart are fine and hyphenated, Anglo-Saxon</p>
<p>new paragraph</p>
<a href="http://a.test/x?a&amp;b"></a>
</section>
<section id=page=2>
<p>Αα βffA</p>
<p>in a form</p>
</section>
`
	if out.String() != want {
		t.Errorf("%s", out.String())
	}
	empty := paper("", "")
	if err := Convert(&out, bytes.NewReader(empty), int64(len(empty))); !errors.Is(err, ErrNoText) {
		t.Error(err)
	}
}

// TestHostile: files that would hang, fill or break the process that reads them break that one alone,
// in time, and the next document is read as ever.
func TestHostile(t *testing.T) {
	c := &Converter{Command: []string{os.Args[0]}}
	hasty := &Converter{Command: c.Command, Timeout: 700 * time.Millisecond}
	good := func() {
		t.Helper()
		if page, err := c.Convert(plain); err != nil || !bytes.Contains(page, []byte("hyphenated")) {
			t.Fatalf("%v\n%s", err, page)
		}
	}
	good()
	deep := strings.Repeat("[", 1<<20)
	for name, body := range map[string][]byte{
		"nothing":      nil,
		"no PDF":       []byte("<html>"),
		"stack":        paper("", strings.Repeat("1 ", 20<<20)),
		"text":         paper("", "BT /F 10 Tf "+strings.Repeat("(word) Tj ", 4<<20)),
		"nested":       paper(deep, ""),
		"own kid":      file("<</Type /Catalog /Pages 2 0 R>>", "<</Type /Pages /Kids [2 0 R 2 0 R 2 0 R] /Count 9>>", "<<>>"),
		"own parent":   file("<</Type /Catalog /Pages 2 0 R>>", "<</Type /Pages /Kids [3 0 R] /Count 1 /Parent 3 0 R>>", "<</Type /Page /Parent 2 0 R>>"),
		"own form":     file("<</Pages 2 0 R>>", "<</Kids [<</Contents 3 0 R /Resources <</XObject <</X 3 0 R>>>>>>]>>", stream("/Subtype /Form", "/X Do /X Do")),
		"own length":   file("<</Pages 2 0 R>>", "<</Kids [<</Contents 3 0 R>>]>>", "<</Length 3 0 R>>\nstream\nx\nendstream"),
		"huge table":   bytes.Replace(plain, []byte("xref\n0 12"), []byte("xref\n0 2000000000"), 1),
		"huge size":    bytes.Replace(plain, []byte("/Size 12"), []byte("/Size 9223372036854775807"), 1),
		"huge font":    paper("BT /F 1e308 Tf (x) Tj 1e308 1e308 Td (y) Tj ET", ""),
		"widths":       bytes.Replace(plain, []byte("3 5 700"), []byte("0 9e9 7"), 1),
		"bad encrypt":  bytes.Replace(plain, []byte("/Size"), []byte("/Encrypt <</Filter /Standard /V 9>> /Size"), 1),
		"start in mud": bytes.Replace(plain, []byte("startxref\n"), []byte("startxref\n9"), 1),
	} {
		page, err := hasty.Convert(body)
		if err == nil && len(page) == 0 || err != nil && len(err.Error()) > 2*maxMessage {
			t.Errorf("%s: %d bytes, %v", name, len(page), err)
		}
	}
	good()
	if _, err := (&Converter{Command: []string{"/no/such/program"}}).Convert(plain); err == nil {
		t.Error("a program that is missing converts")
	}
}

// TestDamaged: no cut and no flipped bytes make Convert panic; a cut file is an error.
func TestDamaged(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	for n := range 2000 {
		body := bytes.Clone(plain)
		if n%2 == 0 {
			body = body[:random.IntN(len(body))]
		} else {
			for range 1 + random.IntN(8) {
				body[random.IntN(len(body))] = byte(random.IntN(256))
			}
		}
		var out bytes.Buffer
		if err := Convert(&out, bytes.NewReader(body), int64(len(body))); err == nil && !strings.HasPrefix(out.String(), "<!doctype html>") {
			t.Fatalf("%d: %q", n, out.String())
		}
	}
}

// FuzzConvert: whatever the file, Convert returns a page or an error, and no page without its head.
func FuzzConvert(f *testing.F) {
	f.Add(plain)
	f.Add(paper("BT /F 10 Tf (a) Tj ET", "BT /G 10 Tf <0002> Tj ET"))
	f.Fuzz(func(t *testing.T, body []byte) {
		if len(body) > 1<<16 {
			return
		}
		var out bytes.Buffer
		err := Convert(&out, bytes.NewReader(body), int64(len(body)))
		if err == nil && !strings.HasPrefix(out.String(), "<!doctype html>") {
			t.Fatalf("%q", out.String())
		}
	})
}

func BenchmarkConvert(b *testing.B) {
	text := strings.Repeat("0 -12 Td [(the) -300 (words) -300 (of) -300 (a) -300 (line) -300 (of) -300 (text)] TJ\n", 50)
	body := paper("BT /F 10 Tf 50 700 Td "+text+" ET", "BT /F 10 Tf 50 700 Td "+text+" ET")
	b.ReportAllocs()
	for b.Loop() {
		var out bytes.Buffer
		if err := Convert(&out, bytes.NewReader(body), int64(len(body))); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(2*b.N)/b.Elapsed().Seconds(), "pages/s")
}

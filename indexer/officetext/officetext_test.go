package officetext

import (
	"archive/zip"
	"bytes"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"anatomy/vocab"
	"anatomy/xmlcharset"
)

// files are the parts of a zip file by name.
type files map[string]string

// pack writes a zip file. A file "mimetype" comes first.
func pack(t testing.TB, all files, method uint16) []byte {
	t.Helper()
	var b bytes.Buffer
	z := zip.NewWriter(&b)
	names := slices.Sorted(maps.Keys(all))
	slices.SortStableFunc(names, func(a, _ string) int {
		if a == "mimetype" {
			return -1
		}
		return 0
	})
	for _, name := range names {
		w, err := z.CreateHeader(&zip.FileHeader{Name: name, Method: method})
		if err == nil {
			_, err = w.Write([]byte(all[name]))
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// convert converts a document that has to have text.
func convert(t *testing.T, body []byte) string {
	t.Helper()
	page, _, err := Convert(body)
	if err != nil {
		t.Fatal(err)
	}
	return string(page)
}

// checkPage compares a page with the pieces that it has to have, in order, and must not have.
func checkPage(t *testing.T, page string, want, not []string) {
	t.Helper()
	rest := page
	for _, s := range want {
		_, after, ok := strings.Cut(rest, s)
		if !ok {
			t.Fatalf("no %q where expected in\n%.5000s", s, page)
		}
		rest = after
	}
	for _, s := range not {
		if strings.Contains(page, s) {
			t.Errorf("%q in\n%.5000s", s, page)
		}
	}
}

// TestPrograms: documents that programs wrote (python-docx, python-pptx, openpyxl, odfpy, EbookLib) have
// their title, date, headings, text, links and tables.
func TestPrograms(t *testing.T) {
	const link = `<a href="http://a.test/rance">its operator</a>`
	const head, date = "<title>Tidal power</title>", `name=dcterms.modified content="2024-06-07`
	const cells = "<tr><td>Rance</td><td>240 MW</td></tr>"
	cases := map[string]struct {
		medium vocab.Medium
		want   []string
	}{
		"word.docx":   {vocab.DOCX, []string{`<html lang="en-GB">`, head, date, `<h1 id="section-1">Tidal power stations</h1>`, `<h1 id="section-2">Turbines</h1>`, "The estuary of the Rance has", link, cells}},
		"slides.pptx": {vocab.PPTX, []string{head, date, `id="slide-1"`, ">Tidal power stations</h2>", `id="slide-2"`, ">Turbines</h2>", "estuary of the Rance", link, cells, "mind the gates"}},
		"book.xlsx":   {vocab.XLSX, []string{head, date, ">Turbines</h2>", "<td>Rance</td><td>240 MW</td><td>1966-11-26</td><td>0.3</td></tr>", `href="http://a.test/rance"`}},
		"text.odt":    {vocab.ODT, []string{`<html lang="en-GB">`, head, date, ">Turbines</h1>", "estuary of the Rance, says", link, cells}},
		"sheet.ods":   {vocab.ODS, []string{`<html lang="en-GB">`, head, date, ">Turbines</h2>", cells, ">Words</h2>", "estuary of the Rance, says", link}},
		"slides.odp":  {vocab.ODP, []string{`<html lang="en-GB">`, head, date, `id="slide-1"`, ">Turbines</h2>", "estuary of the Rance, says", link, "240 MW"}},
		"book.epub":   {vocab.EPUB, []string{`<html lang="en-GB">`, head, `name=dcterms.created content="2024-06-07"`, ">Turbines</h1>", "estuary of the Rance, says", link, cells}},
		"text.rtf":    {vocab.RTF, []string{head, date, ">Turbines</h1>", "estuary of the Rance, says", link, "Saint’s dépôt, €uro 😀 Прилив</p>", "<p>240 MW</p>"}},
	}
	for name, c := range cases {
		body, err := os.ReadFile(filepath.Join("testdata", name))
		if err != nil {
			t.Fatal(err)
		}
		page, medium, err := Convert(body)
		if err != nil || medium != c.medium || !IsOffice(body) {
			t.Errorf("%s: %s %v", name, medium, err)
		}
		checkPage(t, string(page), c.want, []string{"hidden words", "Furniture", "c2.xhtml"})
	}
}

// document returns a Word file with these paragraphs.
func document(paragraphs string) files {
	return files{"word/document.xml": "<w:document><w:body>" + paragraphs + "</w:body></w:document>"}
}

// TestWord: the styles of headings, fields, changes and hidden text are read as Word shows them.
func TestWord(t *testing.T) {
	all := document(`<w:p><w:pPr><w:pStyle w:val="Kop1"/><w:tabs><w:tab w:val="left"/></w:tabs></w:pPr><w:r><w:t>Chapter</w:t></w:r></w:p>
<w:p><w:pPr><w:pStyle w:val="Own"/></w:pPr><w:r><w:t>Derived</w:t></w:r></w:p>
<w:p><w:pPr><w:outlineLvl w:val="2"/></w:pPr><w:r><w:t>Outlined</w:t></w:r></w:p>
<w:p><w:r><w:t>a</w:t><w:tab/><w:t>b &lt;i&gt;</w:t></w:r><w:del><w:r><w:t>gone</w:t></w:r></w:del><w:r><w:rPr><w:vanish/></w:rPr><w:t>hidden</w:t></w:r></w:p>
<w:p><w:r><w:fldChar w:fldCharType="begin"/></w:r><w:r><w:instrText> HYPERLINK "/next?a=1&amp;b" </w:instrText></w:r><w:r><w:fldChar w:fldCharType="separate"/></w:r><w:r><w:t>on</w:t></w:r><w:r><w:fldChar w:fldCharType="end"/></w:r><w:r><w:t>ward</w:t></w:r></w:p>
<w:p><mc:AlternateContent><mc:Choice><w:txbxContent><w:p><w:r><w:t>boxed</w:t></w:r></w:p></w:txbxContent></mc:Choice><mc:Fallback><w:p><w:r><w:t>boxed</w:t></w:r></w:p></mc:Fallback></mc:AlternateContent></w:p>`)
	all["_rels/.rels"] = `<Relationships><Relationship Id="r1" Type="http://x/officeDocument" Target="/word/document.xml"/></Relationships>`
	all["word/_rels/document.xml.rels"] = `<Relationships><Relationship Id="r1" Type="http://x/styles" Target="styles.xml"/><Relationship Id="r2" Type="http://x/footnotes" Target="footnotes.xml"/></Relationships>`
	all["word/styles.xml"] = `<w:styles><w:style w:styleId="Kop1"><w:name w:val="heading 1"/></w:style><w:style w:styleId="Mid"><w:name w:val="mid"/><w:basedOn w:val="Kop1"/></w:style><w:style w:styleId="Own"><w:name w:val="own"/><w:basedOn w:val="Mid"/></w:style><w:style w:styleId="A"><w:basedOn w:val="A"/></w:style></w:styles>`
	all["word/footnotes.xml"] = `<w:footnotes><w:footnote><w:p><w:r><w:t>noted</w:t></w:r></w:p></w:footnote></w:footnotes>`
	page := convert(t, pack(t, all, zip.Deflate))
	checkPage(t, page, []string{
		"<title>Chapter</title>", `<h1 id="section-1">Chapter</h1>`, `<h1 id="section-2">Derived</h1>`, `<h3 id="section-3">Outlined</h3>`,
		"<p>a b &lt;i&gt;</p>", `<p><a href="/next?a=1&amp;b">on</a>ward</p>`, "<p>boxed</p>", "<p>noted</p>",
	}, []string{"gone", "hidden"})
	if strings.Count(page, "boxed") != 1 {
		t.Error(page)
	}
}

// TestWorkbook: cells are read as Excel shows them: shared strings, days, numbers of 15 digits.
func TestWorkbook(t *testing.T) {
	book := func(epoch string) []byte {
		return pack(t, files{
			"xl/workbook.xml":            `<workbook><workbookPr date1904="` + epoch + `"/><sheets><sheet name="One" r:id="r1"/><sheet name="Two" state="hidden" r:id="r1"/></sheets></workbook>`,
			"xl/_rels/workbook.xml.rels": `<R><Relationship Id="r1" Type="t/worksheet" Target="/xl/one.xml"/><Relationship Id="r2" Type="t/sharedStrings" Target="strings.xml"/><Relationship Id="r3" Type="t/styles" Target="styles.xml"/></R>`,
			"xl/strings.xml":             `<sst><si><r><t>rich </t></r><r><t>text</t></r><rPh><t>sound</t></rPh></si></sst>`,
			"xl/styles.xml":              `<s><numFmts><numFmt numFmtId="200" formatCode="[Red]&quot;day&quot; yyyy"/><numFmt numFmtId="201" formatCode="[Red]0.0 &quot;d&quot;"/></numFmts><cellStyleXfs><xf numFmtId="14"/></cellStyleXfs><cellXfs><xf numFmtId="0"/><xf numFmtId="14"/><xf numFmtId="200"/><xf numFmtId="201"/></cellXfs></s>`,
			"xl/one.xml":                 `<x:sheet><x:sheetData><x:row><x:c t="s"><x:v>0</x:v></x:c><x:c s="1"><x:v>45419.5</x:v></x:c><x:c s="2"><x:v>45419</x:v></x:c><x:c s="3"><x:v>45419</x:v></x:c><x:c><x:f>1+1</x:f><x:v>0.30000000000000004</x:v></x:c><x:c t="inlineStr"><x:is><x:t>in line</x:t></x:is></x:c><x:c t="s"><x:v>7</x:v></x:c></x:row></x:sheetData></x:sheet>`,
		}, zip.Deflate)
	}
	const rest = "<td>45419</td><td>0.3</td><td>in line</td><td></td></tr>"
	checkPage(t, convert(t, book("0")), []string{"<title>rich text", ">One</h2>", "<td>rich text</td><td>2024-05-07</td><td>2024-05-07</td>" + rest}, []string{"Two", "1+1", "sound"})
	checkPage(t, convert(t, book("1")), []string{"<td>rich text</td><td>2028-05-08</td><td>2028-05-08</td>" + rest}, nil)
}

// TestTitles: a title that a program or the name of a file gave is none.
func TestTitles(t *testing.T) {
	for stated, want := range map[string]string{
		"Own title": "Own title", "": "Chapter", "Untitled": "Chapter", "draft.docx": "Chapter", "PowerPoint Presentation": "Chapter",
		"Microsoft Word - Report 4": "Report 4",
	} {
		all := document(`<w:p><w:r><w:t>text</w:t></w:r></w:p><w:p><w:pPr><w:outlineLvl w:val="0"/></w:pPr><w:r><w:t>Chapter</w:t></w:r></w:p>`)
		all["_rels/.rels"] = `<R><Relationship Id="a" Type="x/core-properties" Target="core.xml"/></R>`
		all["core.xml"] = "<c><dc:title>" + stated + "</dc:title></c>"
		checkPage(t, convert(t, pack(t, all, zip.Deflate)), []string{"<title>" + want + "</title>"}, nil)
	}
}

// TestHostile: files that are not documents, or are made to cost much, are refused or cut.
func TestHostile(t *testing.T) {
	text := "<w:p><w:r><w:t>word</w:t></w:r></w:p>"
	many := files{}
	for i := range maxFiles + 1 {
		many[fmt.Sprint("word/", i)] = ""
	}
	maps.Copy(many, document(text))
	whole := pack(t, document(text), zip.Deflate)
	for name, c := range map[string]struct {
		body []byte
		want error // nil: any
	}{
		"bomb":        {pack(t, document(text+strings.Repeat("<w:x/>", 2<<20)), zip.Deflate), ErrBomb},
		"many files":  {pack(t, many, zip.Store), nil},
		"other zip":   {pack(t, files{"a.txt": "text"}, zip.Deflate), ErrFormat},
		"no text":     {pack(t, document("<w:p/>"), zip.Deflate), ErrNoText},
		"deep":        {pack(t, document(strings.Repeat("<w:p>", maxDepth)+text), zip.Store), nil},
		"no part":     {pack(t, files{"mimetype": "application/epub+zip"}, zip.Deflate), nil},
		"cut":         {whole[:len(whole)-30], zip.ErrFormat},
		"no document": {[]byte("PK\x03\x04"), zip.ErrFormat},
		"no RTF text": {[]byte(`{\rtf1{\pict 00}}`), ErrNoText},
		"deep RTF":    {[]byte(`{\rtf1` + strings.Repeat("{", 100_000)), nil},
	} {
		if page, _, err := Convert(c.body); err == nil || page != nil || c.want != nil && !errors.Is(err, c.want) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if _, _, err := Convert(whole); err != nil {
		t.Error(err)
	}
}

// TestBounds: text, links, files and tokens beyond a bound are left out, and the rest is kept.
func TestBounds(t *testing.T) {
	const paragraph = "<w:p><w:r><w:t>%s</w:t></w:r></w:p>"
	first := fmt.Sprintf(paragraph, "first")
	last := fmt.Sprintf(paragraph, "last")
	link := `<w:p><w:fldSimple w:instr="HYPERLINK &quot;http://a.test/&quot;"><w:r><w:t>x</w:t></w:r></w:fldSimple></w:p>`
	long := strings.Repeat("x", xmlcharset.MaxToken-10)
	for name, middle := range map[string]string{
		"text":    strings.Repeat(fmt.Sprintf(paragraph, long), maxText/xmlcharset.MaxToken+1),
		"spaces":  strings.Repeat("<w:r><w:tab/></w:r>", 10) + strings.Repeat("<w:t>"+strings.Repeat(" ", xmlcharset.MaxToken-10)+"</w:t>", maxText/xmlcharset.MaxToken+1),
		"run":     fmt.Sprintf(paragraph, strings.Repeat("x", 2*xmlcharset.MaxToken)),
		"tag":     "<w:x" + strings.Repeat(" a", xmlcharset.MaxToken) + "/>",
		"comment": "<!--" + strings.Repeat("x", 2*xmlcharset.MaxToken) + "-->",
		"charset": `<?xml encoding="latin1"?><?xml encoding="latin1"?>`,
		"size":    strings.Repeat("<w:x>"+long+"</w:x>", maxInflated/xmlcharset.MaxToken+1),
		"tokens":  strings.Repeat("<w:x/>", maxTokens/2),
	} {
		if (name == "size" || name == "tokens") && testing.Short() {
			continue
		}
		page := convert(t, pack(t, document(first+middle+last), zip.Store))
		checkPage(t, page, []string{"first"}, []string{"last"})
		if len(page) > maxHTML+maxText {
			t.Errorf("%s: a page of %d bytes", name, len(page))
		}
	}
	page := convert(t, pack(t, document(strings.Repeat(link, maxLinks+10)+last), zip.Store))
	if n := strings.Count(page, "<a href"); n != maxLinks || !strings.Contains(page, "last") {
		t.Errorf("%d links", n)
	}
}

// TestSpaces: spaces count as text, in cells with a shared string, too.
func TestSpaces(t *testing.T) {
	spaces := strings.Repeat(" ", xmlcharset.MaxToken-10)
	p := new(page)
	for range maxText/len(spaces) + 10 {
		p.writeString(spaces)
	}
	if len(p.words) > maxText || len(p.block) > maxText || !p.full() || p.hasText {
		t.Errorf("%d bytes of words and %d of HTML", len(p.words), len(p.block))
	}
	a, err := openArchive(pack(t, files{"s": "<sst><si><t>a" + spaces + "b</t></si></sst>"}, zip.Store))
	if err != nil {
		t.Fatal(err)
	}
	var b workbook
	if err := b.readShared(a, "s"); err != nil || len(b.shared) != 1 || b.shared[0] != "a b" {
		t.Errorf("%d strings, %v", len(b.shared), err)
	}
}

// TestLongURL: a link to a URL longer than maxURL is text, so that links cannot multiply it.
func TestLongURL(t *testing.T) {
	p := new(page)
	for _, n := range []int{maxURL, maxURL + 1} {
		p.link(strings.Repeat("u", n))
		p.writeString("text")
		p.endBlock()
	}
	if n := bytes.Count(p.out, []byte("<a href")); n != 1 || bytes.Count(p.out, []byte("text")) != 2 {
		t.Errorf("%d links", n)
	}
}

// TestFullBlock: the current block counts.
func TestFullBlock(t *testing.T) {
	p := new(page)
	p.writeString(strings.Repeat(`"`, maxText-1))
	if !p.full() {
		t.Errorf("%d bytes of HTML", len(p.block))
	}
}

// TestStatedSize: the ratio of a bomb does not depend on the size that the zip file states.
func TestStatedSize(t *testing.T) {
	body := pack(t, document(strings.Repeat(" ", 20<<20)), zip.Deflate)
	a, err := openArchive(body)
	if err != nil {
		t.Fatal(err)
	}
	for _, stated := range []uint64{1 << 40, 1 << 62} {
		a.room = maxInflated
		a.files["word/document.xml"].CompressedSize64 = stated
		if _, err := a.readAll("word/document.xml", maxInflated); !errors.Is(err, ErrBomb) {
			t.Errorf("%d bytes stated: %v", stated, err)
		}
	}
}

// TestNotes: the notes of RTF follow their paragraph, whose style they leave as it is. Deleted text is
// left out, and so are bytes of \bin.
func TestNotes(t *testing.T) {
	page := convert(t, []byte(`{\rtf1{\stylesheet{\s1 heading 1;}}`+
		`\pard\s1 Head word{\footnote\pard\s0 {\field{\*\fldinst HYPERLINK "u"}{\fldrslt Note}}\par two.}.\par `+
		`\pard kept{\deleted gone}{\v gone} text{\pict\bin9 }gone{\bin0}} on\par}`))
	checkPage(t, page, []string{">Head word.</h1>", "<p>Note two.</p>", "<p>kept text on</p>"}, []string{"gone", "href"})
}

// TestOpenDocument: the title of a picture is left out, that of the document in a field is text.
func TestOpenDocument(t *testing.T) {
	page := convert(t, pack(t, files{
		"mimetype":    "application/vnd.oasis.opendocument.text",
		"content.xml": "<o><text:p>The <text:title>Tides</text:title> are<svg:title>picture</svg:title> high</text:p></o>",
	}, zip.Deflate))
	checkPage(t, page, []string{"The Tides are high"}, []string{"picture"})
}

// TestChapter: elements of HTML without an end tag lose nothing, and readings of ruby text are left out.
func TestChapter(t *testing.T) {
	all := maps.Clone(parts[4])
	all["a"] = `<html><head><meta charset="utf-8"><link href="s"><title>left out</title></head><body><p>one<br>two<br/>three<br></br>four</p>
<hr><p><ruby>本<rp>(</rp><rt>hon</rt><rp>)</rp></ruby></p></body></html>`
	checkPage(t, convert(t, pack(t, all, zip.Deflate)), []string{"<p>one two three four</p>", "<p>本</p>"}, []string{"left out</p>", "hon"})

	all["a"] = "<body><p>text</p>" + strings.Repeat("<br>", 2*maxDepth) + "<p>last</p></body>"
	checkPage(t, convert(t, pack(t, all, zip.Deflate)), []string{"last"}, nil)
}

// TestParts: the diagrams of slides are bounded, and names of parts do not depend on case.
func TestParts(t *testing.T) {
	var diagrams strings.Builder
	for i := range maxParts + 10 {
		fmt.Fprintf(&diagrams, `<Relationship Id="d%d" Type="x/diagramData" Target="/PPT/Diagram.xml"/>`, i)
	}
	page := convert(t, pack(t, files{
		"ppt/presentation.xml":            `<p><p:sldId r:id="r1"/></p>`,
		"ppt/_rels/presentation.xml.rels": `<R><Relationship Id="r1" Target="Slide.xml"/></R>`,
		"ppt/slide.xml":                   "<p:sld/>",
		"ppt/_rels/slide.xml.rels":        "<R>" + diagrams.String() + "</R>",
		"ppt/diagram.xml":                 "<a:p><a:t>box</a:t></a:p>",
	}, zip.Store))
	if n := strings.Count(page, "<p>box</p>"); n != maxParts-1 {
		t.Errorf("%d diagrams", n)
	}
}

// TestXString: characters that XML cannot hold are decoded in shared strings, in line, and in values.
func TestXString(t *testing.T) {
	page := convert(t, pack(t, files{
		"xl/workbook.xml":            `<w><sheet name="a" r:id="r1"/></w>`,
		"xl/_rels/workbook.xml.rels": `<R><Relationship Id="r1" Target="1.xml"/><Relationship Id="r2" Type="t/sharedStrings" Target="s.xml"/></R>`,
		"xl/s.xml":                   `<sst><si><t>one_x000D_two</t></si></sst>`,
		"xl/1.xml":                   `<s><row><c t="s"><v>0</v></c><c t="inlineStr"><is><t>a_x005F_b_x0000_c _x00e9_</t></is></c><c t="str"><v>d_x000D_e _x12_</v></c></row></s>`,
	}, zip.Deflate))
	checkPage(t, page, []string{"<td>one two</td><td>a_b c é</td><td>d e _x12_</td>"}, nil)
}

// TestChainedStyles: the level of a style does not depend on the order in which bases are resolved.
func TestChainedStyles(t *testing.T) {
	var styles strings.Builder
	styles.WriteString(`<style styleId="0"><name val="heading 1"/></style>`)
	for i := 1; i <= 30; i++ {
		fmt.Fprintf(&styles, `<style styleId="%d"><basedOn val="%d"/></style>`, i, i-1)
	}
	a, err := openArchive(pack(t, files{"s": "<s>" + styles.String() + "</s>"}, zip.Store))
	if err != nil {
		t.Fatal(err)
	}
	levels := headingStyles(a, "s")
	for i := range 31 {
		if is := levels[fmt.Sprint(i)] == 1; is != (i <= 10) {
			t.Errorf("style %d is a heading: %v", i, is)
		}
	}
}

// TestEntities: no entity of a document is resolved, whether it is one of a file or of others.
func TestEntities(t *testing.T) {
	secret := filepath.Join(t.TempDir(), "secret")
	if err := os.WriteFile(secret, []byte("secret words"), 0o600); err != nil {
		t.Fatal(err)
	}
	all := files{"word/document.xml": `<!DOCTYPE w [<!ENTITY a SYSTEM "file://` + secret + `"><!ENTITY b "aaaa"><!ENTITY c "&b;&b;">]><w:document><w:p><w:r><w:t>before &a; &c; after</w:t></w:r></w:p></w:document>`}
	checkPage(t, convert(t, pack(t, all, zip.Deflate)), []string{"before &amp;a; &amp;c; after"}, []string{"secret words", "aaaa"})
}

// TestDamaged: of a presentation with a broken slide the others are read.
func TestDamaged(t *testing.T) {
	slide := func(s string) string {
		return "<p:sld><p:sp><p:txBody><a:p><a:r><a:t>" + s + "</a:t></a:r></a:p></p:txBody></p:sp></p:sld>"
	}
	page := convert(t, pack(t, files{
		"ppt/presentation.xml":            `<p><p:sldIdLst><p:sldId id="1" r:id="r3"/><p:sldId id="2" r:id="r1"/><p:sldId id="3" r:id="r9"/><p:sldId id="4" r:id="r2"/></p:sldIdLst></p>`,
		"ppt/_rels/presentation.xml.rels": `<R><Relationship Id="r1" Target="1.xml"/><Relationship Id="r2" Target="2.xml"/><Relationship Id="r3" Target="../3.xml"/></R>`,
		"ppt/1.xml":                       "<p:sld><p:sp <<< broken",
		"ppt/2.xml":                       slide("second"),
		"3.xml":                           slide("third"),
	}, zip.Deflate))
	checkPage(t, page, []string{"third", "second"}, nil)
}

// parts are the files of a zip file that FuzzConvert fills.
var parts = []files{
	{"word/document.xml": "", "word/styles.xml": "", "word/_rels/document.xml.rels": `<R><Relationship Id="r1" Type="x/styles" Target="styles.xml"/></R>`},
	{"ppt/presentation.xml": `<p><p:sldId r:id="r1"/></p>`, "ppt/_rels/presentation.xml.rels": `<R><Relationship Id="r1" Target="1.xml"/></R>`, "ppt/1.xml": ""},
	{"xl/workbook.xml": `<w><sheet name="a" r:id="r1"/></w>`, "xl/_rels/workbook.xml.rels": `<R><Relationship Id="r1" Target="1.xml"/></R>`, "xl/1.xml": ""},
	{"mimetype": "application/vnd.oasis.opendocument.text", "content.xml": "", "meta.xml": ""},
	{"mimetype": "application/epub+zip", "META-INF/container.xml": `<c><rootfile full-path="o.opf"/></c>`, "o.opf": `<p><item id="a" href="a" media-type="x/xhtml"/><itemref idref="a"/></p>`, "a": ""},
}

// FuzzConvert converts bytes as they are, and as the files of documents.
func FuzzConvert(f *testing.F) {
	names, err := filepath.Glob("testdata/*.*")
	if err != nil || len(names) == 0 {
		f.Fatal(names, err)
	}
	for _, name := range names {
		body, err := os.ReadFile(name)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(uint8(len(parts)), body)
	}
	for i := range parts {
		f.Add(uint8(i), []byte(`<w:p><w:r><w:t>text</w:t></w:r></w:p><text:h text:outline-level="2">head</text:h><c t="n"><v>1</v></c>`))
		f.Add(uint8(i), []byte(`<body><h1>a</h1><table><tr><td>b<p>c</td></tr></table><a href="http://a">d</a><w:fldChar w:fldCharType="end"/></v></t></p>`))
	}
	f.Fuzz(func(t *testing.T, format uint8, data []byte) {
		body := data
		if int(format) < len(parts) {
			all := maps.Clone(parts[format])
			for name, content := range all {
				if content == "" {
					all[name] = string(data)
				}
			}
			body = pack(t, all, zip.Store)
		}
		page, _, err := Convert(body)
		switch {
		case (err == nil) != (page != nil):
			t.Fatalf("%d bytes and the error %v", len(page), err)
		case !utf8.Valid(page):
			t.Fatal("not UTF-8")
		case len(page) > maxHTML+6*maxText:
			t.Fatalf("a page of %d bytes", len(page))
		case bytes.Contains(page, []byte("<script")):
			t.Fatalf("a script in %.1000s", page)
		}
	})
}

package indexer

import (
	"fmt"
	"strings"
	"testing"

	"anatomy/vocab"
)

// lines returns n lines of a program, made of a format with the number of the line.
func lines(n int, format string) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, format, i+1)
	}
	return b.String()
}

const navigation = `<div class="sphinxsidebar"><h3>Navigation</h3><ul>
	<li><a href="a.html">Installation guide</a></li><li><a href="b.html">Spiders</a></li>
	<li><a href="c.html">Selectors</a></li><li><a href="genindex.html">index</a></li></ul></div>`

// TestGenre checks the genre of pages as documentation generators write them, and of pages that look
// like another genre by one sort of evidence alone.
func TestGenre(t *testing.T) {
	prose := strings.Repeat("<p>The spider follows links, and each response goes to its callback.</p>", 20)
	code := lines(40, "    def process_%d(self, request, spider):\n        return request.meta\n")
	entries := lines(60, `<tr><td><a href="i.html">name%d</a></td><td><a href="c.html">Class</a></td></tr>`)
	for _, c := range []struct {
		name, url, title, body string
		want                   vocab.Genre
	}{
		{"Sphinx, viewcode", "/_modules/scrapy/retry.html", "scrapy.retry — Scrapy 2.8 documentation",
			navigation + `<h1>Source code for scrapy.retry</h1><div class="highlight"><pre>` +
				`<a class="viewcode-back" href="../topics.html#retry">[docs]</a>` + code + "</pre></div>",
			vocab.SourceListing},
		{"the same elsewhere, in another language", "/code/retry.html", "scrapy.retry",
			`<h1>Quellcode</h1><pre><a href="../topics.html#retry">[docs]</a>` + code + "</pre>",
			vocab.SourceListing},
		{"rustdoc", "/src/core/ops.rs.html", "ops.rs - source",
			`<pre class="rust"><code>` + lines(30, "<a href=#%[1]d id=%[1]d>%[1]d</a>    pub fn add(self, rhs: u32) -> u32\n") +
				"</code></pre>", vocab.SourceListing},
		{"Doxygen", "/queue_8h_source.html", "Lib: core/queue.h Source File",
			`<p>Go to the <a href="queue_8h.html">documentation of this file</a>.</p><div class="fragment">` +
				lines(30, `<div class="line"><a name="l%05[1]d"></a><span class="lineno">%[1]d</span> int push(Queue *q);</div>`) +
				"</div>", vocab.SourceListing},
		{"javadoc", "/src-html/org/Queue.html", "Source code",
			"<pre>" + lines(30, `<span class="source-line-no">%03[1]d</span><a id="line.%[1]d"></a>  void push(Object o) {}`+"\n") +
				"</pre>", vocab.SourceListing},
		{"Haddock", "/docs/src/Data-Queue.html", "",
			"<pre>" + lines(30, `<a name="line-%d"></a><span class="hs-identifier">push</span> q x = x : q`+"\n") +
				"</pre>", vocab.SourceListing},
		{"a repository's viewer", "/cgit/queue/tree/queue.c", "queue.c - queue",
			"<table><tr><td><pre>" + lines(30, "<a id='n%[1]d' href='#n%[1]d'>%[1]d</a>\n") + "</pre></td><td><pre><code>" +
				code + "</code></pre></td></tr></table>", vocab.SourceListing},

		{"about source control", "/src/guide/source-control.html", "Source control — Guide",
			"<h1>Source control</h1>" + prose + "<pre>git clone queue\ngit add queue.c</pre>", vocab.OtherGenre},
		{"about source code", "/guide/source.html", "Source code of the examples",
			"<h1>Source code of the examples</h1>" + prose, vocab.OtherGenre},
		{"a chapter with a long example", "/guide/tutorial.html", "Tutorial",
			prose + "<pre>" + code + code + "</pre>" + prose, vocab.OtherGenre},
		{"a chapter with an example whose lines are numbered", "/tutorial_queue.html", "Lib: Using a queue",
			"<h1>Source code of the sample</h1>" + lines(40, `<div class="line"><a name="l%05[1]d"></a> int push(Queue *q);</div>`) +
				"<h1>Explanation</h1>" + prose + "<h1>Result</h1>" + prose, vocab.OtherGenre},
		{"a manual page as typed text", "/man/queue.1.html", "queue(1)",
			"<pre>" + strings.Repeat("NAME\n  queue - add to a queue\n", 40) + "</pre>", vocab.OtherGenre},
		{"a page with numbered footnotes", "/guide/notes.html", "Notes",
			lines(30, `<p id="%d">A note that explains a detail of the guide in some words.</p>`), vocab.OtherGenre},
		{"an empty page", "/src/empty.rs.html", "empty.rs - source", "", vocab.OtherGenre},

		{"Sphinx, index", "/genindex.html", "Index — Scrapy 2.8 documentation",
			navigation + `<h1 id="index">Index</h1><table>` + entries + "</table>", vocab.IndexPage},
		{"javadoc, all classes", "/allclasses-index.html", "All Classes and Interfaces (Java SE 17)",
			"<h1>All Classes and Interfaces</h1><table>" + entries + "</table>", vocab.IndexPage},
		{"Doxygen, members", "/classQueue-members.html", "Lib: Member List",
			"<p>This is the complete list of members for Queue.</p><table>" + entries + "</table>", vocab.IndexPage},
		{"javadoc, a class without uses", "/java.base/java/util/class-use/Queue.html", "Uses of Class java.util.Queue (Java SE 17)",
			`<h1>Uses of Class<br>java.util.Queue</h1>No usage of java.util.Queue`, vocab.IndexPage},
		{"javadoc, uses of a package", "/java/util/package-use.html", "Uses of Package java.util (Lib)",
			"<h1>Uses of Package java.util</h1>" + prose, vocab.IndexPage},
		{"javadoc, hierarchy", "/java/util/package-tree.html", "java.util Class Hierarchy (Lib)",
			"<h1>Hierarchy For Package java.util</h1>" + prose, vocab.IndexPage},
		{"javadoc, all hierarchies", "/api/overview-tree.html", "Class Hierarchy (Lib)",
			"<h1>Hierarchy For All Packages</h1>" + prose, vocab.IndexPage},
		{"about the uses of a class", "/guide/uses.html", "Uses of class attributes — Guide", prose, vocab.OtherGenre},
		{"about a class hierarchy", "/guide/shapes.html", "Lib: Class Hierarchy", prose, vocab.OtherGenre},
		{"an article beside the uses", "/class-use/intro.html", "How to read this list", prose, vocab.OtherGenre},
		{"Texinfo, index", "/Function-Index.html", "Function Index (GNU Queue)",
			"<h2>Appendix A Function Index</h2><table>" + entries + "</table>", vocab.IndexPage},
		{"a server's list of files", "/files/", "Index of /files/",
			"<h1>Index of /files/</h1><ul>" + lines(40, `<li><a href="f%[1]d">f%[1]d</a>`) + "</ul>", vocab.IndexPage},
		{"a class named Index", "/api/pandas.Index.html", "pandas.Index — pandas documentation",
			"<h1>pandas.Index</h1><table>" + entries + "</table>", vocab.OtherGenre},
		{"about an index", "/sql/index.html", "Create an index", "<h1>Index</h1>" + prose, vocab.OtherGenre},
		{"a table of contents", "/contents.html", "Contents",
			"<ul>" + lines(60, `<li><a href="c%[1]d.html">Chapter %[1]d</a>`) + "</ul>", vocab.OtherGenre},
		{"a glossary that explains", "/glossary.html", "Glossary",
			"<h1>Glossary</h1><dl>" + lines(30, `<dt><a href="i.html">term%d</a><dd>What it means in a sentence of its own.`) +
				"</dl>", vocab.OtherGenre},

		{"release notes", "/releases/1.10.5.html", "Django 1.10.5 release notes — Django 3.2 documentation",
			"<h1>Django 1.10.5 release notes</h1>" + prose, vocab.Changelog},
		{"a list of releases", "/changes.html", "Changelog — Flask",
			"<h1>Changelog</h1>" + lines(5, "<h2>Version 2.%d.0</h2>"+prose), vocab.Changelog},
		{"one release", "/releaselog/3_7.html", "SQLite Release 3.7.15 On 2012-12-12", prose, vocab.Changelog},
		{"what's new", "/whatsnew/3.9.html", "What’s New In Python 3.9 — Python documentation", prose, vocab.Changelog},
		{"a method named release", "/auto_ptr/release.html", "std::auto_ptr::release", prose, vocab.OtherGenre},
		{"a dialog of histories", "/history.html", "4.3. Document History Dialog", prose, vocab.OtherGenre},
		{"a section on changes", "/classLine.html", "Lib: Line Class Reference",
			prose + "<h1>Changes in Lib 9.0</h1>" + prose, vocab.OtherGenre},
		{"how to write release notes", "/guide/notes.html", "Writing release notes",
			"<h1>Writing release notes</h1>" + prose, vocab.OtherGenre},
	} {
		page := vocab.Page{
			URL: "http://example.org" + c.url, ContentType: "text/html; charset=utf-8",
			Body: []byte("<title>" + c.title + "</title><body>" + c.body),
		}
		var buf Buffer
		d, err := Parse(&page, &buf)
		if err != nil {
			t.Fatal(err)
		}
		if d.Info.Genre != c.want {
			t.Errorf("%s is a %s, want a %s", c.name, d.Info.Genre, c.want)
		}
	}
}

// TestLineNumbers checks which ids are numbers of lines.
func TestLineNumbers(t *testing.T) {
	for ids, want := range map[string]int{
		"1 2 3": 3, "1 3 4": 1, "57 103 160": 0, "L1 L2 x L9": 3, "l00001 l00001 l00007": 2, "line-1 local-2 line-2": 2,
		"line.1 line.2": 2, "n1 n2 n2": 2, "id1 id2 id3": 0, "section-1 section-2": 0, "cb1-1 cb1-2": 0,
		"line L -1 line12345678": 1, "3 2 1": 1,
	} {
		var n parts
		for id := range strings.FieldsSeq(ids) {
			n.ids = append(n.ids, id...)
			n.idEnds = append(n.idEnds, len(n.ids))
		}
		if got := n.numberedLines(); got != want {
			t.Errorf("%s: %d lines, want %d", ids, got, want)
		}
	}
}

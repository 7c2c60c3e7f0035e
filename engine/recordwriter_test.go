package engine

import (
	"testing"

	"github.com/cockroachdb/pebble/v2/vfs"

	"anatomy/disk/docindex"
	"anatomy/disk/repository"
	"anatomy/urlserver"
	"anatomy/vocab"
	"anatomy/weburl"
)

// TestDocumentsOutliveTheirRecords: after a crash the document index knows every document that a record names.
func TestDocumentsOutliveTheirRecords(t *testing.T) {
	testOutlive(t, func(urls *urlserver.Server, docs []vocab.DocID) error {
		repo, err := repository.Open(t.TempDir(), repository.Options{})
		if err != nil {
			return err
		}
		defer repo.Close()
		redirect := repository.Record{Kind: repository.RedirectRecord, Location: "/to", Of: docs[1], Page: vocab.Page{Doc: docs[0], URL: "http://a.test/from"}}
		_, err = recordWriter{repo, urls}.Append([]repository.Record{redirect})
		return err
	})
}

// TestDocumentsOutliveTheirLinks: after a crash the document index knows every document that a link
// run names. Else another URL gets its docID, and with it the texts of links to the first.
func TestDocumentsOutliveTheirLinks(t *testing.T) {
	testOutlive(t, func(urls *urlserver.Server, docs []vocab.DocID) error {
		c := Crawl{stages: &stages{urls: urls}}
		named := 0
		err := c.eachDurable(docs[0], func(docindex.Record) error { named++; return nil })
		if named != len(docs) {
			t.Errorf("%d documents named, want %d", named, len(docs))
		}
		return err
	})
}

// testOutlive fails unless the document index has documents after a crash that write relied on.
func testOutlive(t *testing.T, write func(urls *urlserver.Server, docs []vocab.DocID) error) {
	t.Helper()
	mem := vfs.NewCrashableMem()
	urls, err := urlserver.Open("data", urlserver.Options{FS: mem})
	if err != nil {
		t.Fatal(err)
	}
	defer urls.Close()
	var docs []vocab.DocID
	for _, raw := range []string{"http://a.test/from", "http://a.test/to"} {
		u, err := weburl.Parse(raw)
		if err != nil {
			t.Fatal(err)
		}
		doc, err := urls.Add([]urlserver.Found{{URL: u}})
		if err != nil {
			t.Fatal(err)
		}
		docs = append(docs, doc...)
	}
	if err := write(urls, docs); err != nil {
		t.Fatal(err)
	}
	after, err := urlserver.Open("data", urlserver.Options{FS: mem.CrashClone(vfs.CrashCloneCfg{})})
	if err != nil {
		t.Fatal(err)
	}
	defer after.Close()
	for _, doc := range docs {
		if r, ok, err := after.Get(doc); err != nil || !ok {
			t.Errorf("document %d after a crash: %v %v %v", doc, r.URL, ok, err)
		}
	}
}

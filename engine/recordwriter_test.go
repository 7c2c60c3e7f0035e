package engine

import (
	"testing"

	"github.com/cockroachdb/pebble/v2/vfs"

	"anatomy/disk/repository"
	"anatomy/urlserver"
	"anatomy/vocab"
	"anatomy/weburl"
)

// TestDocumentsOutliveTheirRecords: after a crash the document index knows every document that a record names.
func TestDocumentsOutliveTheirRecords(t *testing.T) {
	mem := vfs.NewCrashableMem()
	urls, err := urlserver.Open("data", urlserver.Options{FS: mem})
	if err != nil {
		t.Fatal(err)
	}
	defer urls.Close()
	repo, err := repository.Open(t.TempDir(), repository.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer repo.Close()
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
	redirect := repository.Record{Kind: repository.RedirectRecord, Location: "/to", Of: docs[1], Page: vocab.Page{Doc: docs[0], URL: "http://a.test/from"}}
	if _, err := (recordWriter{repo, urls}).Append([]repository.Record{redirect}); err != nil {
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

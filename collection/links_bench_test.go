package collection_test

import (
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"anatomy/collection"
	"anatomy/disk/datadir"
	"anatomy/disk/linkdb"
	"anatomy/internal/test/testweb"
	"anatomy/vocab"
	"anatomy/weburl"
)

// million is the number of pages of BenchmarkLinks.
const million = 1_000_000

// millionURL returns the URL of a page of BenchmarkLinks.
func millionURL(page int) string {
	return fmt.Sprintf("https://host%d.test/documents/chapter%d.html", page%100, page)
}

// millionDoc returns the document of a page of BenchmarkLinks, which may be beyond the last or before the
// first.
func millionDoc(page int) vocab.DocID { return vocab.DocID((page+million)%million + 1) }

// writeMillion writes a data folder with a million pages of seven links each. Every 50th page has no link
// to it, and another document in eight is an alias of a page.
func writeMillion(b *testing.B) string {
	dir := filepath.Join(b.TempDir(), "data")
	folder, err := datadir.Create(dir)
	testweb.Must(b, err)
	defer folder.Close()
	run, err := linkdb.Create(datadir.Links(dir, "1"))
	testweb.Must(b, err)
	const aliases = million / 8
	for page := range million + aliases {
		run.Name(linkdb.Name{Doc: vocab.DocID(page + 1), URL: millionURL(page)})
	}
	for i := range aliases {
		run.Alias(linkdb.Alias{Doc: vocab.DocID(million + 1 + i), Of: millionDoc(8 * i)})
	}
	apart := []int{1, 2, 3, 40, 500, 6000, 70_000} // pages between both ends of a link
	isOrphan := func(page int) bool { return page%50 == 7 }
	for page := range million {
		s := linkdb.Source{Doc: millionDoc(page)}
		for _, n := range apart {
			if to := page + n; to < million && !isOrphan(to) {
				s.Targets = append(s.Targets, linkdb.Target{Doc: millionDoc(to)})
			}
		}
		run.Links(s)
	}
	for page := range million {
		if isOrphan(page) {
			continue
		}
		text := linkdb.AnchorText{Text: fmt.Sprint("chapter ", page)}
		for i := len(apart) - 1; i >= 0; i-- {
			if from := page - apart[i]; from >= 0 {
				text.Sources = append(text.Sources, millionDoc(from))
			}
		}
		if len(text.Sources) > 0 {
			run.Anchors(linkdb.Anchors{Doc: millionDoc(page), Texts: []linkdb.AnchorText{text}})
		}
	}
	testweb.Must(b, run.Finish())
	_, err = folder.Publish(datadir.Manifest{Links: []string{"1"}, Known: million + aliases, Next: 2})
	testweb.Must(b, err)
	return dir
}

// BenchmarkLinks measures questions about links among a million pages: the first one, with all that is
// read once; the document of a URL; the links from and to a page; and the list of orphans. The metric is
// the processor's time, which does not depend on other load.
func BenchmarkLinks(b *testing.B) {
	dir := writeMillion(b)
	random := rand.New(rand.NewPCG(1, 2))
	url := func() weburl.URL {
		u, err := weburl.Parse(millionURL(random.IntN(million)))
		testweb.Must(b, err)
		return u
	}
	open := func(b *testing.B) *collection.Links {
		l, err := collection.OpenLinks(dir)
		testweb.Must(b, err)
		return l
	}
	ask := func(b *testing.B, l *collection.Links) {
		doc, err := l.Doc(url())
		testweb.Must(b, err)
		r, err := l.Of(b.Context(), doc, 20)
		if testweb.Must(b, err); r.OutCount == 0 {
			b.Fatal("no links")
		}
	}
	measure := func(name string, f func(b *testing.B, l *collection.Links)) {
		b.Run(name, func(b *testing.B) {
			l := open(b)
			defer l.Close()
			ask(b, l)
			began := usedCPU(b)
			for b.Loop() {
				f(b, l)
			}
			b.ReportMetric(float64((usedCPU(b)-began).Microseconds())/float64(b.N), "CPU-µs/op")
		})
	}
	measure("first", func(b *testing.B, _ *collection.Links) {
		l := open(b)
		ask(b, l)
		testweb.Must(b, l.Close())
	})
	measure("doc", func(b *testing.B, l *collection.Links) {
		_, err := l.Doc(url())
		testweb.Must(b, err)
	})
	measure("links", ask)
	measure("orphans", func(b *testing.B, l *collection.Links) {
		n := 0
		testweb.Must(b, l.Orphans(b.Context(), func(vocab.DocID, string) error { n++; return nil }))
		if n < million/50 {
			b.Fatalf("%d orphans", n)
		}
	})
}

// usedCPU returns the CPU time of the process.
func usedCPU(b *testing.B) time.Duration {
	var u syscall.Rusage
	testweb.Must(b, syscall.Getrusage(syscall.RUSAGE_SELF, &u))
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

package urlserver

import (
	"fmt"
	"testing"
	"time"

	"github.com/cockroachdb/pebble/v2/vfs"

	"anatomy/vocab"
	"anatomy/weburl"
)

// pageLinks are 60 links of page i, of which 48 are to pages found before and 12 are new, spread
// over a hundred sites.
func pageLinks(b *testing.B, buf []Found, i int) []Found {
	buf = buf[:0]
	for k := range 60 {
		n := i*12 + k
		if k >= 12 {
			n = max(0, i*12-1-(k*k*37)%4000)
		}
		u, err := weburl.Parse(fmt.Sprintf("https://www.site%d.example.org.test/section/%d/page-%d.html", n%100, n%17, n))
		if err != nil {
			b.Fatal(err)
		}
		buf = append(buf, Found{URL: u, Depth: uint16(1 + n%5)})
	}
	return buf
}

func openBench(b *testing.B, fs vfs.FS) *Server {
	s, err := Open("data", Options{Delay: -1, Scope: weburl.AnyScope, FS: fs})
	if err != nil {
		b.Fatal(err)
	}
	return s
}

// BenchmarkAdd adds the 60 links of a page, of which 80 % were seen before.
func BenchmarkAdd(b *testing.B) {
	for _, policy := range []Policy{BreadthFirst, CrawlAbility} {
		b.Run(policy.String(), func(b *testing.B) { benchmarkAdd(b, policy) })
	}
}

func benchmarkAdd(b *testing.B, policy Policy) {
	s, err := Open("data", Options{Delay: -1, Scope: weburl.AnyScope, FS: vfs.NewMem(), Policy: policy})
	if err != nil {
		b.Fatal(err)
	}
	defer s.Close()
	var found []Found
	b.ReportAllocs()
	for i := 0; i < b.N; i++ {
		b.StopTimer()
		found = pageLinks(b, found, i)
		b.StartTimer()
		if _, err := s.Add(found); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(60*float64(b.N)/b.Elapsed().Seconds(), "links/s")
	seen := s.Stats().Seen
	b.ReportMetric(100*float64(seen.Cache)/float64(seen.Cache+seen.Disk+seen.New), "%cached")
}

// BenchmarkGrantComplete fetches one URL, without its links.
func BenchmarkGrantComplete(b *testing.B) {
	s := openBench(b, vfs.NewMem())
	defer s.Close()
	var found []Found
	for i := 0; s.Stats().Queued < uint64(b.N); i++ {
		found = pageLinks(b, found, i)
		if _, err := s.Add(found); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportAllocs()
	b.ResetTimer()
	now := epoch
	var results []Result
	for n := 0; n < b.N; {
		l, _, ok := s.Grant(now)
		if !ok {
			b.Fatal("nothing to take")
		}
		results = results[:0]
		for _, t := range l.URLs {
			results = append(results, Result{Doc: t.Doc, Outcome: vocab.Fetched, Status: 200, Fetched: now,
				Address: vocab.MakeAddress(1, int64(t.Doc)*4000, 0), Content: vocab.ContentID{byte(t.Doc), byte(t.Doc >> 8), byte(t.Doc >> 16)}})
		}
		n += len(l.URLs)
		if err := s.Complete(now, results); err != nil {
			b.Fatal(err)
		}
		if err := s.Release(now, vocab.HostReport{Lease: l.ID, AnswerTime: time.Millisecond}); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "URLs/s")
}

// BenchmarkDiskBytes measures the index on a real disk after 240,000 URLs, a tenth of them fetched.
func BenchmarkDiskBytes(b *testing.B) {
	for b.Loop() {
		dir := b.TempDir()
		s, err := Open(dir, Options{Delay: -1, Scope: weburl.AnyScope})
		if err != nil {
			b.Fatal(err)
		}
		var found []Found
		for i := range 20_000 {
			found = pageLinks(b, found, i)
			if _, err := s.Add(found); err != nil {
				b.Fatal(err)
			}
		}
		for range 750 {
			l, _, _ := s.Grant(epoch)
			var results []Result
			for _, t := range l.URLs {
				results = append(results, Result{Doc: t.Doc, Outcome: vocab.Fetched, Status: 200, Fetched: epoch, Address: 1 << 30, Content: vocab.ContentID{byte(t.Doc)}})
			}
			if err := s.Complete(epoch, results); err != nil {
				b.Fatal(err)
			}
			s.Release(epoch, vocab.HostReport{Lease: l.ID})
		}
		known := s.Stats().Known
		if err := s.db.Tidy(); err != nil {
			b.Fatal(err)
		}
		b.ReportMetric(float64(s.db.DiskBytes())/float64(known), "bytes/URL")
		if err := s.Close(); err != nil {
			b.Fatal(err)
		}
		start := time.Now()
		if s, err = Open(dir, Options{Delay: -1, Scope: weburl.AnyScope}); err != nil {
			b.Fatal(err)
		}
		b.ReportMetric(float64(time.Since(start).Milliseconds()), "ms/open")
		s.Close()
	}
}

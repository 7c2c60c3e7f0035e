package repository

import (
	"bytes"
	"compress/gzip"
	"fmt"
	"math/rand/v2"
	"net/url"
	"os"
	"slices"
	"syscall"
	"testing"
	"time"

	"github.com/klauspost/compress/zstd"

	"anatomy/vocab"
)

// realPages reads the repository that ANATOMY_REPOSITORY names, such as the one of a crawl of docsweb, host by
// host in the order of writing. Without it the benchmark is skipped.
func realPages(b *testing.B) (hosts [][]Record, pages, size int) {
	dir := os.Getenv("ANATOMY_REPOSITORY")
	if dir == "" {
		b.Skip("ANATOMY_REPOSITORY names no repository")
	}
	r, err := OpenReader(dir)
	if err != nil {
		b.Fatal(err)
	}
	defer r.Close()
	number := map[string]int{}
	err = r.Scan(0, func(_ vocab.Address, rec *Record) error {
		u, err := url.Parse(rec.Page.URL)
		if err != nil || rec.Kind != PageRecord {
			return err
		}
		if _, ok := number[u.Host]; !ok {
			number[u.Host] = len(hosts)
			hosts = append(hosts, nil)
		}
		page := *rec
		page.Page.Body = bytes.Clone(rec.Page.Body)
		hosts[number[u.Host]] = append(hosts[number[u.Host]], page)
		pages, size = pages+1, size+len(page.Page.Body)
		return nil
	})
	if err != nil || pages == 0 {
		b.Fatal("no pages in ", dir, err)
	}
	return hosts, pages, size
}

var orders = []string{"crawl", "random"}

func inOrder(hosts [][]Record, order string) {
	if order != "random" {
		return
	}
	random := rand.New(rand.NewPCG(1, 2))
	for _, h := range hosts {
		random.Shuffle(len(h), func(i, j int) { h[i], h[j] = h[j], h[i] })
	}
}

// BenchmarkAppend compares sizes of blocks and levels of compression with gzip, page by page.
func BenchmarkAppend(b *testing.B) {
	hosts, pages, size := realPages(b)
	b.Run("gzip-6", func(b *testing.B) {
		stored := 0
		start := processorTime(b)
		for b.Loop() {
			stored = gzipEach(b, hosts)
		}
		reportSpeed(b, size, start)
		b.ReportMetric(float64(stored)/float64(pages), "B/page")
	})
	for _, order := range orders {
		inOrder(hosts, order)
		for _, level := range []zstd.EncoderLevel{zstd.SpeedDefault, zstd.SpeedBetterCompression} {
			for _, kib := range []int{64, 128, 256, 512, 1024} {
				b.Run(fmt.Sprintf("%s/%v/%dK", order, level, kib), func(b *testing.B) {
					var stored int64
					start := processorTime(b)
					for b.Loop() {
						stored = appendAll(b, b.TempDir(), hosts, Options{BlockBytes: kib << 10, Level: level})
					}
					reportSpeed(b, size, start)
					b.ReportMetric(float64(stored)/float64(pages), "B/page")
				})
			}
		}
	}
}

// reportSpeed reports megabytes by second of processor time, which other work on the machine
// disturbs less than the clock.
func reportSpeed(b *testing.B, size int, start time.Duration) {
	b.ReportMetric(float64(size)*float64(b.N)/1e6/(processorTime(b)-start).Seconds(), "MB/cpu-s")
}

func processorTime(b *testing.B) time.Duration {
	var usage syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &usage); err != nil {
		b.Fatal(err)
	}
	return time.Duration(usage.Utime.Nano() + usage.Stime.Nano())
}

func gzipEach(b *testing.B, hosts [][]Record) (stored int) {
	var buf bytes.Buffer
	w, err := gzip.NewWriterLevel(&buf, 6)
	if err != nil {
		b.Fatal(err)
	}
	for _, h := range hosts {
		for i := range h {
			buf.Reset()
			w.Reset(&buf)
			if _, err := w.Write(h[i].Page.Body); err != nil {
				b.Fatal(err)
			}
			if err := w.Close(); err != nil {
				b.Fatal(err)
			}
			stored += buf.Len()
		}
	}
	return stored
}

func appendAll(b *testing.B, dir string, hosts [][]Record, o Options) (stored int64) {
	r, err := Open(dir, o)
	if err != nil {
		b.Fatal(err)
	}
	for _, h := range hosts {
		mustAppend(b, r, h...)
	}
	stored = r.end
	if err := r.Close(); err != nil {
		b.Fatal(err)
	}
	return stored
}

// BenchmarkRead reads pages at random addresses, without the cache.
func BenchmarkRead(b *testing.B) {
	hosts, _, _ := realPages(b)
	for _, level := range []zstd.EncoderLevel{zstd.SpeedDefault, zstd.SpeedBetterCompression} {
		for _, kib := range []int{256, 512, 1024} {
			b.Run(fmt.Sprintf("%v/%dK", level, kib), func(b *testing.B) {
				r := mustOpen(b, b.TempDir(), Options{BlockBytes: kib << 10, Level: level, CacheBytes: -1})
				var addresses []vocab.Address
				for _, h := range hosts {
					addresses = append(addresses, mustAppend(b, r, h...)...)
				}
				readRandom(b, r, addresses)
			})
		}
	}
}

func readRandom(b *testing.B, r *Repository, addresses []vocab.Address) {
	random := rand.New(rand.NewPCG(1, 2))
	var took []time.Duration
	b.ReportAllocs()
	for b.Loop() {
		start := time.Now()
		if _, err := r.Read(addresses[random.IntN(len(addresses))]); err != nil {
			b.Fatal(err)
		}
		took = append(took, time.Since(start))
	}
	slices.Sort(took)
	b.ReportMetric(float64(took[len(took)/2].Microseconds()), "p50-µs")
	b.ReportMetric(float64(took[len(took)*95/100].Microseconds()), "p95-µs")
}

// BenchmarkScan reads everything in order.
func BenchmarkScan(b *testing.B) {
	hosts, _, size := realPages(b)
	dir := b.TempDir()
	appendAll(b, dir, hosts, Options{})
	r, err := OpenReader(dir)
	if err != nil {
		b.Fatal(err)
	}
	defer r.Close()
	b.SetBytes(int64(size))
	b.ReportAllocs()
	for b.Loop() {
		if err := r.Scan(0, func(vocab.Address, *Record) error { return nil }); err != nil {
			b.Fatal(err)
		}
	}
}

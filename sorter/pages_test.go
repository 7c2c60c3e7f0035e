package sorter_test

import (
	"context"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"anatomy/disk/barrel"
	"anatomy/disk/segment"
	"anatomy/indexer"
	"anatomy/sorter"
	"anatomy/vocab"
)

// BenchmarkPages sorts the HTML files below $ANATOMY_PAGES, each folder there taken for a host: as
// one batch, as ten batches, and the merge of ten segments.
func BenchmarkPages(b *testing.B) {
	root := os.Getenv("ANATOMY_PAGES")
	if root == "" {
		b.Skip("ANATOMY_PAGES names no folder")
	}
	dir := b.TempDir()
	for _, batches := range []int{1, 10} {
		files, text := indexPages(b, root, dir, batches)
		inputs := make([]sorter.Input, len(files))
		for i, f := range files {
			inputs[i] = sorter.Barrel(f, nil)
		}
		b.Run(fmt.Sprintf("batches%d", batches), func(b *testing.B) { build(b, dir, inputs, text) })
		if batches == 1 {
			continue
		}
		for i := range inputs {
			part := filepath.Join(dir, fmt.Sprint("part", i))
			if _, err := sorter.Build(context.Background(), sorter.Options{Dir: part, Inputs: inputs[i : i+1]}); err != nil {
				b.Fatal(err)
			}
			s, err := segment.Open(part, nil)
			if err != nil {
				b.Fatal(err)
			}
			defer s.Close()
			inputs[i] = sorter.Segment(s, nil)
		}
		b.Run(fmt.Sprintf("segments%d", batches), func(b *testing.B) { build(b, dir, inputs, text) })
	}
}

// indexPages writes the pages to files of barrels, and returns the size of their texts in bytes.
func indexPages(b *testing.B, root, dir string, batches int) (files []*barrel.File, text int64) {
	b.Helper()
	var paths []string
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err == nil && d.Type().IsRegular() && strings.Contains(d.Name(), ".htm") {
			paths = append(paths, path)
		}
		return err
	})
	if err != nil || len(paths) == 0 {
		b.Fatalf("%d pages: %v", len(paths), err)
	}
	var buf indexer.Buffer
	for i := range batches {
		batch := indexer.NewBatch(indexer.BatchOptions{})
		for k := i; k < len(paths); k += batches {
			body, err := os.ReadFile(paths[k])
			if err != nil {
				b.Fatal(err)
			}
			rel, _ := filepath.Rel(root, paths[k])
			host, path, _ := strings.Cut(rel, "/")
			page := &vocab.Page{Doc: vocab.DocID(k + 1), URL: "http://" + host + ".test/" + path, Body: body, ContentType: "text/html; charset=utf-8"}
			doc, err := indexer.Parse(page, &buf)
			if err != nil {
				b.Logf("%s: %v", paths[k], err)
				continue
			}
			text += int64(len(doc.Info.Text))
			if err := batch.Add(doc, 1); err != nil {
				b.Fatal(err)
			}
		}
		path := filepath.Join(dir, fmt.Sprintf("barrels%d-%d", batches, i))
		if err := batch.Write(path); err != nil {
			b.Fatal(err)
		}
		f, err := barrel.Open(path)
		if err != nil {
			b.Fatal(err)
		}
		b.Cleanup(func() { f.Close() })
		files = append(files, f)
	}
	return files, text
}

func build(b *testing.B, dir string, inputs []sorter.Input, text int64) {
	var stats sorter.Stats
	start := cpuTime()
	for b.Loop() {
		out := filepath.Join(dir, "out")
		os.RemoveAll(out)
		var err error
		if stats, err = sorter.Build(context.Background(), sorter.Options{Dir: out, Inputs: inputs}); err != nil {
			b.Fatal(err)
		}
	}
	cpu := (cpuTime() - start).Seconds() / float64(b.N)
	s := stats.Segment
	per := func(n int64) float64 { return float64(n) / float64(s.Docs) }
	b.ReportMetric(float64(text)/1e6/cpu, "MB/CPUs")
	b.ReportMetric(cpu/float64(s.Docs)*1e6, "CPUms/1000docs")
	b.ReportMetric(per(s.Full.PostingBytes), "postingB/doc")
	b.ReportMetric(per(s.Full.HitBytes), "hitB/doc")
	b.ReportMetric(per(s.Short.PostingBytes+s.Short.HitBytes), "shortB/doc")
	b.ReportMetric(per(s.DocBytes), "textB/doc")
	b.ReportMetric(per(s.Bytes), "B/doc")
	b.ReportMetric(float64(s.Full.HitBytes)/float64(s.Full.Hits), "B/hit")
	b.ReportMetric(float64(s.Full.PostingBytes)/float64(s.Full.Postings), "B/posting")
	b.Logf("%d bytes of text: %+v", text, stats)
}

// cpuTime is what this process has used.
func cpuTime() time.Duration {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		return 0
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

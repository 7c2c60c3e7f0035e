package bucket

import (
	"bytes"
	"context"
	"io"
	"math/rand/v2"
	"os"
	"strings"
	"syscall"
	"testing"
	"time"
)

// BenchmarkBucket measures the processor time of this process alone, without the server's.
func BenchmarkBucket(b *testing.B) {
	buckets := map[string]Bucket{"folder": openTemp(b)}
	if program := os.Getenv("ANATOMY_VERSITYGW"); program != "" {
		buckets["versitygw"] = startVersitygw(b, program)
	}
	content := make([]byte, 64<<20)
	rand.NewChaCha8([32]byte{}).Read(content)
	ctx := context.Background()
	for kind, bucket := range buckets {
		b.Run(kind+"/put64M", func(b *testing.B) {
			perMB(b, len(content), func() error {
				return bucket.Put(ctx, "large", bytes.NewReader(content), int64(len(content)))
			})
		})
		b.Run(kind+"/get64M", func(b *testing.B) {
			perMB(b, len(content), func() error { return discard(bucket, "large", 0, -1) })
		})
		b.Run(kind+"/get16K", func(b *testing.B) {
			offset := int64(0)
			perMB(b, 16<<10, func() error {
				offset = (offset + 1_000_003) % (60 << 20)
				return discard(bucket, "large", offset, 16<<10)
			})
		})
		b.Run(kind+"/put1K", func(b *testing.B) {
			perMB(b, 1<<10, func() error {
				return bucket.Put(ctx, "dir/small", strings.NewReader(string(content[:1<<10])), 1<<10)
			})
		})
	}
}

func discard(b Bucket, name string, offset, size int64) error {
	r, err := b.Get(context.Background(), name, offset, size)
	if err != nil {
		return err
	}
	defer r.Close()
	_, err = io.CopyBuffer(io.Discard, struct{ io.Reader }{r}, make([]byte, 256<<10))
	return err
}

// perMB reports the processor time of calls that transfer size bytes each.
func perMB(b *testing.B, size int, call func() error) {
	b.SetBytes(int64(size))
	before := cpu(b)
	for b.Loop() {
		if err := call(); err != nil {
			b.Fatal(err)
		}
	}
	used := (cpu(b) - before).Seconds() * 1e6 / float64(b.N)
	b.ReportMetric(used, "cpu-µs/op")
	b.ReportMetric(used/float64(size)*(1<<20), "cpu-µs/MB")
}

func cpu(b *testing.B) time.Duration {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		b.Fatal(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

package rankvector

import (
	"encoding/binary"
	"encoding/hex"
	"errors"
	"math"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/cespare/xxhash/v2"
	"pgregory.net/rapid"

	"anatomy/disk/durable"
	"anatomy/disk/durable/durabletest"
)

func tiny() *Vector {
	return &Vector{
		Damping: 0.85, Tolerance: 1e-9, Residual: 5e-10, Iterations: 42, Links: 2, Recorded: 5,
		Personalized: "site:a.test", Computed: time.Unix(1_790_000_000, 0).UTC(),
		Ranks: []float32{0, 0.25, 0.75},
	}
}

// The bytes of a tiny vector are part of the format: change them only with its version.
func TestGolden(t *testing.T) {
	data, err := tiny().encode()
	if err != nil {
		t.Fatal(err)
	}
	want := strings.Join(strings.Fields(`
		616e617472616e6b 02000000 0b000000
		333333333333eb3f 95d626e80b2e113e 95d626e80b2e013e
		2a00000000000000 803bb16a00000000 0200000000000000 0300000000000000 0500000000000000
		736974653a612e74657374
		00000000 0000803e 0000403f
`), "")
	got := hex.EncodeToString(data)
	if got = got[:len(got)-2*sumSize]; got != want {
		t.Errorf("bytes are\n%s, want\n%s", got, want)
	}
}

// A vector of version 1 is read, without the number of recorded links.
func TestReadVersion1(t *testing.T) {
	data, err := hex.DecodeString(strings.Join(strings.Fields(`
		616e617472616e6b 01000000 0b000000
		333333333333eb3f 95d626e80b2e113e 95d626e80b2e013e
		2a00000000000000 803bb16a00000000 0200000000000000 0300000000000000
		736974653a612e74657374
		00000000 0000803e 0000403f
`), ""))
	if err != nil {
		t.Fatal(err)
	}
	got, err := decode(binary.LittleEndian.AppendUint64(data, xxhash.Sum64(data)))
	want := tiny()
	want.Recorded = 0
	if err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("read %+v, %v", got, err)
	}
}

func TestNames(t *testing.T) {
	dir := t.TempDir()
	for _, file := range []string{"default.rank", "a-1.rank", "A.rank", ".rank", "default.rank.123.tmp", "-x.rank"} {
		if err := Write(filepath.Join(dir, file), tiny()); err != nil {
			t.Fatal(err)
		}
	}
	if names, err := Names(dir); err != nil || !reflect.DeepEqual(names, []string{"a-1", "default"}) {
		t.Errorf("names %v, %v", names, err)
	}
	if names, err := Names(dir + "/absent"); err != nil || len(names) > 0 {
		t.Errorf("names of no folder %v, %v", names, err)
	}
}

func TestReadReturnsWhatWasWritten(t *testing.T) {
	dir := t.TempDir()
	rapid.Check(t, func(t *rapid.T) {
		path := filepath.Join(dir, "v.rank")
		v := tiny()
		v.Personalized = rapid.String().Draw(t, "personalized")
		v.Ranks = rapid.SliceOf(rapid.Float32Range(0, 1)).Draw(t, "ranks")
		v.Links = rapid.Uint64().Draw(t, "links")
		if err := Write(path, v); err != nil {
			t.Fatal(err)
		}
		got, err := Read(path)
		if err != nil || len(got.Ranks) != len(v.Ranks) {
			t.Fatalf("read %v, %v", got, err)
		}
		if len(v.Ranks) > 0 && !reflect.DeepEqual(got, v) {
			t.Fatalf("read %v, wrote %v", got, v)
		}
	})
	if left, _ := filepath.Glob(filepath.Join(dir, "*.tmp")); len(left) > 0 {
		t.Errorf("left behind: %v", left)
	}
}

// A vector is the old or the new one, whole, after a crash at any call.
func TestVectorAfterCrash(t *testing.T) {
	fresh := tiny()
	fresh.Iterations = 43
	durabletest.EachStop(t,
		func(d *durabletest.Disk) error {
			return errors.Join(durable.MkdirAll(d, "/rank"), write(d, "/rank/default.rank", tiny()))
		},
		func(d *durabletest.Disk) error { return write(d, "/rank/default.rank", fresh) },
		func(after *durabletest.Disk, done bool) {
			b, err := after.ReadFile("/rank/default.rank")
			if err != nil {
				t.Fatal(err)
			}
			v, err := decode(b)
			if err != nil || v.Iterations != 43 && (done || v.Iterations != 42) {
				t.Fatalf("done %v: %+v, %v", done, v, err)
			}
		})
}

func TestEveryDamagedByteIsSeen(t *testing.T) {
	path := filepath.Join(t.TempDir(), "v.rank")
	if err := Write(path, tiny()); err != nil {
		t.Fatal(err)
	}
	if _, err := Read(path); err != nil {
		t.Fatal(err)
	}
	whole, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	for i := range whole {
		bad := append([]byte(nil), whole...)
		bad[i] ^= 0x10
		if _, err := decode(bad); err == nil {
			t.Errorf("damage at byte %d is not seen", i)
		}
		if _, err := decode(whole[:i]); err == nil {
			t.Errorf("a cut at byte %d is not seen", i)
		}
	}
}

func TestRanksThatAreNoShareAreRefused(t *testing.T) {
	path := filepath.Join(t.TempDir(), "v.rank")
	if err := Write(path, tiny()); err != nil {
		t.Fatal(err)
	}
	for _, bad := range []float32{-0.1, 1.5, float32(math.NaN()), float32(math.Inf(1))} {
		v := tiny()
		v.Ranks[2] = bad
		if err := Write(path, v); err == nil || !strings.Contains(err.Error(), "document 2") {
			t.Errorf("rank %v: %v", bad, err)
		}
	}
	if v, err := Read(path); err != nil || v.Ranks[2] != 0.75 {
		t.Errorf("the old vector was not kept: %v, %v", v, err)
	}
}

func FuzzDecode(f *testing.F) {
	data, err := tiny().encode()
	if err != nil {
		f.Fatal(err)
	}
	f.Add(data)
	f.Add(data[:headerSize])
	f.Fuzz(func(t *testing.T, b []byte) { _, _ = decode(b) })
}

func BenchmarkRead(b *testing.B) {
	v := tiny()
	v.Ranks = make([]float32, 1<<20)
	path := filepath.Join(b.TempDir(), "v.rank")
	if err := Write(path, v); err != nil {
		b.Fatal(err)
	}
	b.SetBytes(4 << 20)
	b.ReportAllocs()
	for b.Loop() {
		if _, err := Read(path); err != nil {
			b.Fatal(err)
		}
	}
}

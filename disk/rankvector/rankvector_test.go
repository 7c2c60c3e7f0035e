package rankvector

import (
	"encoding/binary"
	"encoding/hex"
	"errors"
	"math"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/cespare/xxhash/v2"
	"pgregory.net/rapid"

	"anatomy/disk/datadir"
)

func tiny() *Vector {
	return &Vector{
		Damping: 0.85, Tolerance: 1e-9, Residual: 5e-10, Iterations: 42, Links: 2, LinkChanges: 5,
		Personalized: "site:a.test", Computed: time.Unix(1_790_000_000, 0).UTC(),
		Ranks: []float32{0, 0.25, 0.75},
	}
}

// The bytes of a tiny vector are part of the format: change them only with its version.
func TestGolden(t *testing.T) {
	data, err := tiny().Encode()
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

// A vector of version 1 is read, without the number of changes.
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
	want.LinkChanges = 0
	if err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("read %+v, %v", got, err)
	}
}

// A vector is current under its name until another replaces it, and then its file is gone.
func TestPublish(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "data")
	w, err := datadir.Create(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer w.Close()
	for _, name := range []string{Default, "a-1", Default} {
		v := tiny()
		v.Personalized = name
		if err := Publish(dir, name, v); err != nil {
			t.Fatal(err)
		}
		if got, err := ReadFolder(dir, name); err != nil || !reflect.DeepEqual(got, v) {
			t.Errorf("%s: read %+v, %v", name, got, err)
		}
	}
	m, err := datadir.ReadManifest(dir)
	files, failed := filepath.Glob(datadir.Rank(dir, "*"))
	if names := m.RankNames(); err != nil || failed != nil || len(files) != 2 || !slices.Equal(names, []string{"a-1", Default}) {
		t.Errorf("names %v, files %v", names, files)
	}
	for _, name := range []string{"A", "", "-x", ".", "a/b", "a.b"} {
		if err := Publish(dir, name, tiny()); err == nil {
			t.Errorf("a vector named %q", name)
		}
	}
	if v, err := ReadFolder(dir, "absent"); v != nil || err != nil {
		t.Errorf("a vector that is not there: %v, %v", v, err)
	}
	if _, err := ReadFolder(dir+"/absent", Default); !errors.Is(err, datadir.ErrNone) {
		t.Errorf("a vector of no folder: %v", err)
	}
}

// write writes the file of a vector.
func write(t interface{ Fatal(...any) }, path string, v *Vector) {
	b, err := v.Encode()
	if err == nil {
		err = os.WriteFile(path, b, 0o600)
	}
	if err != nil {
		t.Fatal(err)
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
		write(t, path, v)
		got, err := Read(path)
		if err != nil || len(got.Ranks) != len(v.Ranks) {
			t.Fatalf("read %v, %v", got, err)
		}
		if len(v.Ranks) > 0 && !reflect.DeepEqual(got, v) {
			t.Fatalf("read %v, wrote %v", got, v)
		}
	})
}

func TestEveryDamagedByteIsSeen(t *testing.T) {
	path := filepath.Join(t.TempDir(), "v.rank")
	write(t, path, tiny())
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
	dir := filepath.Join(t.TempDir(), "data")
	w, err := datadir.Create(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer w.Close()
	if err := Publish(dir, Default, tiny()); err != nil {
		t.Fatal(err)
	}
	for _, bad := range []float32{-0.1, 1.5, float32(math.NaN()), float32(math.Inf(1))} {
		v := tiny()
		v.Ranks[2] = bad
		if err := Publish(dir, Default, v); err == nil || !strings.Contains(err.Error(), "document 2") {
			t.Errorf("rank %v: %v", bad, err)
		}
	}
	if v, err := ReadFolder(dir, Default); err != nil || v.Ranks[2] != 0.75 {
		t.Errorf("the old vector was not kept: %v, %v", v, err)
	}
}

func FuzzDecode(f *testing.F) {
	data, err := tiny().Encode()
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
	write(b, path, v)
	b.SetBytes(4 << 20)
	b.ReportAllocs()
	for b.Loop() {
		if _, err := Read(path); err != nil {
			b.Fatal(err)
		}
	}
}

package replica_test

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"anatomy/cluster/bucket/buckettest"
	"anatomy/cluster/replica"
	"anatomy/disk/datadir"
	"anatomy/disk/durable/durabletest"
	"anatomy/disk/rankvector"
	"anatomy/disk/segment"
	"anatomy/engine"
	"anatomy/internal/test/testweb"
	"anatomy/ranking"
	"anatomy/upkeep"
)

// lacking matches the paths of the files that a light copy lacks.
var lacking = regexp.MustCompile(`^(repository/.*|index/[^/]+/(postings|hits|texts))$`)

// filesOf returns the sizes and parts of the files that a copy of a generation has, by path.
func filesOf(g *replica.Generation, isLight bool) map[string]string {
	all := map[string]string{}
	for _, file := range g.Files {
		if isLight && lacking.MatchString(file.Path) {
			if dir, isPostings := strings.CutSuffix(file.Path, "/postings"); isPostings {
				all[dir+"/light"] = "0"
			}
			continue
		}
		all[file.Path] = fmt.Sprint(file.Size)
		for _, part := range file.Parts {
			all[file.Path] += " " + part.Sum.String()
		}
	}
	return all
}

// filesIn returns the same of a folder, whose files are divided into parts like those of a generation.
func filesIn(t *testing.T, dir string, g *replica.Generation) map[string]string {
	t.Helper()
	parts := map[string][]replica.Part{}
	for _, file := range g.Files {
		parts[file.Path] = file.Parts
	}
	own := []string{"LOCK", "LOCK.pid", "MANIFEST.lock", "cluster"}
	all := map[string]string{}
	must(t, filepath.WalkDir(dir, func(name string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() {
			return err
		}
		below, err := filepath.Rel(dir, name)
		must(t, err)
		if below = filepath.ToSlash(below); slices.Contains(own, strings.Split(below, "/")[0]) {
			return nil
		}
		content, err := os.ReadFile(name)
		all[below] = fmt.Sprint(len(content))
		for _, part := range parts[below] {
			n := min(int(part.Size), len(content))
			all[below] += fmt.Sprintf(" %x", sha256.Sum256(content[:n]))
			content = content[n:]
		}
		return err
	}))
	return all
}

// A switcher is a follower of a test that switches between light and whole.
type switcher struct {
	*replica.Follower
	b       *buckettest.Memory
	dir     string
	isLight atomic.Bool
}

func (s *switcher) open(t *testing.T) {
	t.Helper()
	f, err := replica.NewFollower(t.Context(), replica.FollowerOptions{Bucket: s.b, Dir: s.dir, Light: s.isLight.Load})
	must(t, err)
	s.Follower = f
}

// hasExactly fails unless the folder has the files of the newest generation, and is sound.
func (s *switcher) hasExactly(t *testing.T) {
	t.Helper()
	name, g, err := replica.Latest(t.Context(), s.b)
	must(t, err)
	want := s.isLight.Load()
	if st := s.Status(); st.Generation != name.String() || st.Light != want || datadir.IsLight(s.dir) != want {
		t.Errorf("the folder has generation %s and is light: %v, want %s, %v", st.Generation, st.Light, name, want)
	}
	testweb.SameMaps(t, "files", filesIn(t, s.dir, g), filesOf(g, want))
	testweb.Checked(t, s.dir)
}

// TestSwitch switches a follower between light and whole at random moments, with new generations
// between them. The bucket, the disk or the process fails meanwhile. The folder is sound each time, and
// has exactly the files of the generation that it should have after the next success.
func TestSwitch(t *testing.T) {
	web := testweb.Generate(t, 6, 60, 0)
	dir, b := filepath.Join(t.TempDir(), "data"), &buckettest.Memory{}
	options := web.Options(dir, web.Seed)
	options.URLs.MaxPages = 10
	testweb.Crawl(t, options)
	p := publisher(t, b, dir)
	must(t, p.Publish(t.Context()))
	s := &switcher{b: b, dir: filepath.Join(t.TempDir(), "copy")}
	s.open(t)
	faults := durabletest.UseFaults(t)
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	r := rand.New(rand.NewPCG(seed, 1))
	failed, switches := 0, 0
	for range 60 {
		if r.IntN(2) == 0 {
			switches++
			s.isLight.Store(!s.isLight.Load())
		}
		if r.IntN(6) == 0 && options.URLs.MaxPages < 60 {
			options.URLs.MaxPages += 10
			testweb.Crawl(t, options)
			must(t, p.Publish(t.Context()))
		}
		var calls atomic.Int32
		most := int32(r.IntN(20))
		stop := func() bool { return false }
		if r.IntN(2) == 0 {
			b.Set(func(context.Context, string, string) error {
				if calls.Add(1) > most {
					return buckettest.ErrAway
				}
				return nil
			})
		} else {
			faults.FailAt(1+r.IntN(120), syscall.EIO, false)
			stop = faults.Stop
		}
		err := s.Follow(t.Context())
		hasFailed := stop()
		b.Set(nil)
		if err != nil {
			failed++
			if !errors.Is(err, buckettest.ErrAway) && !hasFailed {
				t.Fatal(err)
			}
			if s.Status().Generation != "" {
				testweb.Checked(t, s.dir)
			}
		}
		if r.IntN(4) == 0 { // as after a kill
			must(t, s.Close())
			s.open(t)
		}
		if r.IntN(3) == 0 {
			must(t, s.Follow(t.Context()))
			s.hasExactly(t)
		}
		if t.Failed() {
			break
		}
	}
	if failed < 3 || switches < 10 {
		t.Errorf("%d failures and %d switches", failed, switches)
	}
	s.isLight.Store(false)
	must(t, s.Follow(t.Context()))
	s.hasExactly(t)
	must(t, s.Close())
	same(t, s.dir, dir)
}

// TestSwitchAgain: after any write has failed while a folder changed from light to whole, or the other
// way, the next call completes the change, or returns to what the folder was.
func TestSwitchAgain(t *testing.T) {
	b, _, _, _ := published(t)
	s := &switcher{b: b, dir: filepath.Join(t.TempDir(), "copy")}
	s.open(t)
	must(t, s.Follow(t.Context()))
	faults := durabletest.UseFaults(t)
	for _, from := range []bool{false, true} {
		for _, then := range []bool{false, true} {
			n := 0
			for hasFailed := true; hasFailed; n++ {
				s.isLight.Store(from)
				must(t, s.Follow(t.Context()))
				s.isLight.Store(!from)
				faults.FailAt(n+1, syscall.EIO, false)
				err := s.Follow(t.Context())
				if hasFailed = faults.Stop(); !hasFailed {
					must(t, err)
				}
				s.isLight.Store(then)
				must(t, s.Follow(t.Context()))
				s.hasExactly(t)
			}
			if n < 5 {
				t.Errorf("from light: %v, %d writes", from, n)
			}
		}
	}
}

// TestLightCopy: a light copy copies little, and nothing again when it becomes whole. Ranks are computed
// over it, and it is not opened for writing.
func TestLightCopy(t *testing.T) {
	b, dir, _, _ := published(t)
	_, g, err := replica.Latest(t.Context(), b)
	must(t, err)
	var bulk int64
	for _, file := range g.Files {
		if lacking.MatchString(file.Path) {
			bulk += file.Size
		}
	}
	s := &switcher{b: b, dir: filepath.Join(t.TempDir(), "light")}
	s.isLight.Store(true)
	s.open(t)
	must(t, s.Follow(t.Context()))
	s.hasExactly(t)
	if n := s.Status().Bytes; bulk == 0 || n != g.Size()-bulk {
		t.Errorf("%d bytes were copied, want %d without %d", n, g.Size()-bulk, bulk)
	}
	var checked []string
	must(t, upkeep.Check(t.Context(), s.dir, upkeep.CheckReport{
		Checked: func(structure, found string) { checked = append(checked, structure+" "+found) },
		Problem: func(err error) { t.Error(err) },
	}))
	if !strings.Contains(strings.Join(checked, "\n"), "copy light") {
		t.Errorf("the check of a light copy does not say so: %q", checked)
	}
	vector := func(dir string) *rankvector.Vector {
		file := filepath.Join(t.TempDir(), "vector")
		_, err := ranking.Compute(t.Context(), dir, ranking.Options{
			Put: func(_ int, name string, content []byte) error {
				if name == ranking.Default {
					return os.WriteFile(file, content, 0o600)
				}
				return nil
			},
		})
		must(t, err)
		v, err := rankvector.Read(file)
		must(t, err)
		v.Computed = time.Time{}
		return v
	}
	if got, want := vector(s.dir), vector(dir); want.Pages() == 0 || !reflect.DeepEqual(got, want) {
		t.Errorf("over the light copy: %+v, over the folder: %+v", got, want)
	}
	must(t, s.Close())
	again := testweb.Generate(t, 6, 60, 0).Options(s.dir)
	if c, err := engine.Open(t.Context(), again); !errors.Is(err, datadir.ErrLight) {
		t.Errorf("a crawl of a light copy: %v", err)
		if err == nil {
			c.Close()
		}
	}
	s.isLight.Store(false)
	s.open(t)
	if !s.Status().Light {
		t.Error("after a restart the copy is not light")
	}
	must(t, s.Follow(t.Context()))
	if n := s.Status().Bytes; n != bulk {
		t.Errorf("%d bytes were copied to make it whole, want %d", n, bulk)
	}
	s.hasExactly(t)
	m, err := datadir.ReadManifest(s.dir)
	must(t, err)
	for _, name := range m.Segments {
		must(t, segment.Check(datadir.Segment(s.dir, name)))
	}
	must(t, s.Close())
}

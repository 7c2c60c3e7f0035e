package segment

import (
	"math"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// A disk that is full, here a file that may grow no more, is an error with the path, and leaves nothing.
// The limit holds for a process of its own, since the test's may need to write.
func TestDiskFull(t *testing.T) {
	dir := os.Getenv("SEGMENT_TEST_DISK_FULL")
	if dir == "" {
		dir = filepath.Join(t.TempDir(), "segment")
		child := exec.Command(os.Args[0], "-test.run=^TestDiskFull$", "-test.v")
		child.Env = append(os.Environ(), "SEGMENT_TEST_DISK_FULL="+dir)
		if out, err := child.CombinedOutput(); err != nil || strings.Count(string(out), dir+": ") < 3 {
			t.Fatalf("%v\n%s", err, out)
		}
		return
	}
	x := makeIndex(rand.New(rand.NewPCG(1, 2)), 200, 10)
	for _, limit := range []uint64{0, 500, 4000} {
		if err := syscall.Setrlimit(syscall.RLIMIT_FSIZE, &syscall.Rlimit{Cur: limit, Max: math.MaxUint64}); err != nil {
			t.Fatal(err)
		}
		err := x.tryWrite(dir)
		t.Log(err)
		if err == nil || !strings.Contains(err.Error(), dir) {
			t.Errorf("files of at most %d bytes: %v", limit, err)
		}
		if left, _ := filepath.Glob(dir + "*"); len(left) > 0 {
			t.Errorf("files of at most %d bytes: %v are left", limit, left)
		}
	}
}

// tryWrite leaves errors to Finish.
func (x index) tryWrite(dir string) error {
	w, err := Create(dir, Options{})
	if err != nil {
		return err
	}
	for _, info := range x.docs {
		w.AddDoc(info)
	}
	for _, word := range x.sorted() {
		w.StartTerm([]byte(word))
		for _, ord := range ordinals(x.words[word]) {
			w.AddPosting(ord, x.words[word][ord])
		}
		w.EndTerm()
	}
	_, err = w.Finish()
	return err
}

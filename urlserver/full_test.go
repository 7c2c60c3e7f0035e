package urlserver

import (
	"strings"
	"sync/atomic"
	"syscall"
	"testing"

	"github.com/cockroachdb/pebble/v2/vfs"
	"github.com/cockroachdb/pebble/v2/vfs/errorfs"

	"anatomy/vocab"
)

// TestFullDisk makes every write fail from some moment on: Complete fails, nothing is acknowledged,
// and the folder is intact once there is room again.
func TestFullDisk(t *testing.T) {
	var full atomic.Bool
	mem := vfs.NewCrashableMem()
	fs := errorfs.Wrap(mem, errorfs.InjectorFunc(func(op errorfs.Op) error {
		if full.Load() && op.Kind == errorfs.OpFileWrite {
			return syscall.ENOSPC
		}
		return nil
	}))
	s, err := Open("data", Options{Delay: -1, FS: fs})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := s.Add([]Found{{URL: mustParse(t, "http://a.test/"), Seed: true}}); err != nil {
		t.Fatal(err)
	}
	s.Grant(epoch)
	if err := s.MakeDurable(1); err != nil {
		t.Fatal(err)
	}
	full.Store(true)
	err = s.Complete(epoch, []Result{{Doc: 1, Outcome: vocab.Fetched}})
	if err == nil || !strings.Contains(err.Error(), "no space left on device") {
		t.Fatalf("Done on a full disk: %v", err)
	}
	if _, wait, ok := s.Grant(epoch); ok || wait == 0 || s.Err() == nil {
		t.Errorf("after it: %v %v %v", ok, wait, s.Err())
	}
	if _, err := s.Add(nil); err != nil {
		t.Errorf("Add of nothing: %v", err)
	}
	if _, err := s.Add([]Found{{URL: mustParse(t, "http://a.test/x")}}); err == nil {
		t.Error("Add goes on")
	}
	if err := s.Close(); err == nil {
		t.Error("Close says nothing")
	}
	s, err = Open("data", Options{Delay: -1, FS: mem.CrashClone(vfs.CrashCloneCfg{})})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	if l, _, ok := s.Grant(epoch); !ok || l.URLs[0].Doc != 1 {
		t.Errorf("with room again: %v", l)
	}
}

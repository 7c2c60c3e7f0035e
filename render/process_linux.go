package render

import (
	"bufio"
	"bytes"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"
)

const nobody = 65534 // user and group

// chownToBrowser changes the owner of a folder to the user that the browser runs as. It fails if that
// user cannot reach the folder.
func chownToBrowser(dir string) error {
	if os.Getuid() != 0 {
		return nil
	}
	for above := filepath.Dir(dir); above != filepath.Dir(above); above = filepath.Dir(above) {
		if info, err := os.Stat(above); err == nil && info.Mode()&0o001 == 0 {
			return fmt.Errorf("started by root, it runs as the user nobody, who cannot enter the temporary folder %s; set TMPDIR to another", above)
		}
	}
	return os.Chown(dir, nobody, nobody)
}

// lockFolder locks a folder until the file that it returns is closed, or this process ends. It returns
// nil if another process has the lock, or the file system has no such locks.
func lockFolder(dir string) *os.File {
	f, err := os.Open(dir)
	if err != nil {
		return nil
	}
	if err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB); err != nil {
		f.Close()
		return nil
	}
	return f
}

// staleAfter is the age at which the profile of a live process is certainly locked.
const staleAfter = time.Minute

// removeStaleProfiles deletes the profiles of killed processes of this user. prefix begins their names.
func removeStaleProfiles(prefix string) {
	all, _ := filepath.Glob(filepath.Join(os.TempDir(), prefix+"*"))
	for _, dir := range all {
		info, err := os.Lstat(dir)
		if err != nil || !info.IsDir() || !isOwn(info) || time.Since(info.ModTime()) < staleAfter {
			continue
		}
		if lock := lockFolder(dir); lock != nil {
			_ = os.RemoveAll(dir) // the next start tries again
			lock.Close()
		}
	}
}

// isOwn reports whether a file belongs to this user or to the one that its browsers run as.
func isOwn(info fs.FileInfo) bool {
	stat, ok := info.Sys().(*syscall.Stat_t)
	return ok && (int(stat.Uid) == os.Getuid() || os.Getuid() == 0 && stat.Uid == nobody)
}

// confine starts a command without network, not as root, and ends it with this process. Chromium's
// own sandbox refuses root.
func confine(c *exec.Cmd) {
	c.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	if os.Getuid() == 0 {
		c.SysProcAttr.Credential = &syscall.Credential{Uid: nobody, Gid: nobody}
		c.SysProcAttr.Cloneflags = syscall.CLONE_NEWNET
	}
}

// A process is one of the browser.
type process struct {
	parent int
	bytes  int64 // of memory that is its own or shared by no file
}

// processes returns all processes of the system.
func processes() map[int]process {
	all := map[int]process{}
	names, _ := filepath.Glob("/proc/[0-9]*/status")
	for _, name := range names {
		text, err := os.ReadFile(name)
		if err != nil {
			continue // it has ended
		}
		pid, _ := strconv.Atoi(strings.Split(name, "/")[2])
		var p process
		for lines := bufio.NewScanner(bytes.NewReader(text)); lines.Scan(); {
			key, value, _ := strings.Cut(lines.Text(), ":")
			n, _ := strconv.ParseInt(strings.TrimSuffix(strings.TrimSpace(value), " kB"), 10, 64)
			switch key {
			case "PPid":
				p.parent = int(n)
			case "RssAnon", "RssShmem":
				p.bytes += n << 10
			}
		}
		all[pid] = p
	}
	return all
}

// family returns the process and its descendants.
func family(pid int) map[int]process {
	all := processes()
	members := map[int]process{}
	if p, ok := all[pid]; ok {
		members[pid] = p
	}
	for grown := true; grown; {
		grown = false
		for child, p := range all {
			_, known := members[child]
			if _, ok := members[p.parent]; ok && !known {
				members[child], grown = p, true
			}
		}
	}
	return members
}

// memory returns the bytes of a process and its descendants.
func memory(pid int) (total int64) {
	for _, p := range family(pid) {
		total += p.bytes
	}
	return total
}

// end ends a process and its descendants.
func end(pid int) {
	for member := range family(pid) {
		_ = syscall.Kill(member, syscall.SIGKILL)
	}
}

// size returns the bytes of the files in a folder.
func size(dir string) (total int64) {
	_ = filepath.WalkDir(dir, func(_ string, d fs.DirEntry, err error) error {
		if err == nil && d.Type().IsRegular() {
			if info, err := d.Info(); err == nil {
				total += info.Size()
			}
		}
		return nil
	})
	return total
}

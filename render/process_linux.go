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

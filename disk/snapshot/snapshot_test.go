package snapshot

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"testing"
)

// TestDeletedMeanwhile: parcels and files at the top that are deleted while a folder is copied are not
// an error, and what stays is copied.
func TestDeletedMeanwhile(t *testing.T) {
	const files = 50
	dir, root := t.TempDir(), t.TempDir()
	box := filepath.Join(dir, "parcels", "5")
	must(t, os.MkdirAll(box, 0o700))
	must(t, os.WriteFile(filepath.Join(box, "stays"), []byte("x"), 0o600))
	stop, ended := make(chan struct{}), make(chan error, 1)
	go func() { // deletes them in the reverse of the order in which they are copied
		var err error
		for err == nil {
			select {
			case <-stop:
				ended <- nil
				return
			default:
			}
			for i := range 2 * files {
				in := []string{box, dir}[i%2]
				err = errors.Join(err, os.WriteFile(filepath.Join(in, fmt.Sprintf("%03d", i)), nil, 0o600))
			}
			for i := 2*files - 1; i >= 0; i-- {
				err = errors.Join(err, os.Remove(filepath.Join([]string{box, dir}[i%2], fmt.Sprintf("%03d", i))))
			}
		}
		ended <- err
	}()
	defer func() {
		close(stop)
		must(t, <-ended)
	}()
	for i := range 30 {
		to := filepath.Join(root, fmt.Sprint(i))
		must(t, os.Mkdir(to, 0o700))
		must(t, linkTop(dir, to, func(string) bool { return true }))
		if _, err := os.Stat(filepath.Join(to, "parcels", "5", "stays")); err != nil {
			t.Fatal(err)
		}
	}
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

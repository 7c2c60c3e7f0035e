package control

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
	"path/filepath"

	"anatomy/disk/datadir"
	"anatomy/vocab"
)

// maxSocketPath is the longest path of a Unix socket in bytes: systems allow 104 or 108 with the
// final zero.
const maxSocketPath = 103

// Listen opens the control socket of the data folder dir, whose lock the caller holds: an existing
// socket is left from a crawl that was killed. If the path is too long for a socket, the socket is
// in a temporary folder and a symbolic link points to it.
func Listen(dir string) (net.Listener, error) {
	folder, path := datadir.Control(dir), datadir.ControlSocket(dir)
	if err := errors.Join(Remove(dir), os.Mkdir(folder, 0o700)); err != nil {
		return nil, err
	}
	if len(path) > maxSocketPath {
		elsewhere, err := os.MkdirTemp("", "anatomy-")
		if err != nil {
			return nil, err
		}
		target := filepath.Join(elsewhere, filepath.Base(path))
		if err := os.Symlink(target, path); err != nil {
			return nil, err
		}
		path = target
	}
	listener, err := net.Listen("unix", path)
	if err != nil {
		return nil, err
	}
	return listener, os.Chmod(path, 0o600)
}

// Remove removes the control socket of the data folder dir, with its temporary folder if it has
// one.
func Remove(dir string) error {
	var err error
	if path, there := os.Readlink(datadir.ControlSocket(dir)); there == nil {
		err = errors.Join(os.Remove(path), os.Remove(filepath.Dir(path))) // fails if not empty
		if errors.Is(err, fs.ErrNotExist) {
			err = nil
		}
	}
	return errors.Join(err, os.RemoveAll(datadir.Control(dir)))
}

// dial connects to the control socket of the data folder dir. The error wraps vocab.ErrNoCrawl if
// no process answers there.
func dial(ctx context.Context, dir string) (net.Conn, error) {
	path := datadir.ControlSocket(dir)
	if elsewhere, err := os.Readlink(path); err == nil {
		path = elsewhere
	}
	var d net.Dialer
	conn, err := d.DialContext(ctx, "unix", path)
	if err != nil && ctx.Err() == nil {
		err = fmt.Errorf("%s: %w", dir, vocab.ErrNoCrawl)
	}
	return conn, err
}

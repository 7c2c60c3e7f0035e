package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"anatomy/cluster/bucket"
	"anatomy/cluster/replica"
)

// replicas makes two copies.
func (b *bench) replicas() (done string, err error) {
	_, g, err := b.newest()
	if err != nil {
		return "", err
	}
	b.had = needs(g)
	if b.copied, err = b.follow("copy", b.bucket); err != nil {
		return "", err
	}
	second, err := b.follow("second", b.bucket)
	if err != nil {
		return "", err
	}
	if err := second.Close(); err != nil {
		return "", err
	}
	for _, folder := range []string{"copy", "second"} {
		if err := b.compare(folder, b.said); err != nil {
			return "", err
		}
		if _, err := b.anatomy("check", "--data", b.path(folder)); err != nil {
			return "", err
		}
	}
	return fmt.Sprintf("two copies of %d bytes answer five queries as the owner does, with the same scores; check finds nothing",
		second.Status().Bytes), nil
}

// access reads a copy with commands that know of no cluster.
func (b *bench) access() (string, error) {
	out, err := b.anatomy("search", "--data", b.path("copy"), "rare7")
	if err == nil && !strings.Contains(out, "/7") {
		err = fmt.Errorf("search prints\n%s", out)
	}
	if err == nil {
		out, err = b.anatomy("stats", "--data", b.path("copy"))
	}
	if err == nil && out == "" {
		err = errors.New("stats prints nothing")
	}
	return "anatomy search and anatomy stats read the copy", err
}

// nearest queries a copy without the bucket.
func (b *bench) nearest() (string, error) {
	restore, err := b.hide()
	if err != nil {
		return "", err
	}
	err = b.compare("copy", b.said)
	if b.copied.Follow(b.ctx) == nil {
		err = errors.Join(err, errors.New("the follower does not notice that the bucket is away"))
	}
	return "the bucket was taken away: the copy answers as before", errors.Join(err, restore())
}

// hide takes the bucket away until restore is called.
func (b *bench) hide() (restore func() error, err error) {
	away := b.path("bucket.away")
	if err := os.Rename(b.path("bucket"), away); err != nil {
		return nil, err
	}
	return func() error { return os.Rename(away, b.path("bucket")) }, nil
}

// writeOnce publishes the folder again.
func (b *bench) writeOnce() (string, error) {
	before, err := b.objects("objects/")
	if err != nil {
		return "", err
	}
	if _, err := b.cluster("adopt", "--data", b.path("owner")); err != nil {
		return "", err
	}
	after, err := b.objects("objects/")
	if err != nil {
		return "", err
	}
	for name, o := range before {
		if after[name] != o {
			return "", fmt.Errorf("%s was written again", name)
		}
	}
	return fmt.Sprintf("published again: none of %d objects was written again; all %d have the SHA-256 in their names",
		len(before), len(after)), b.verify(after)
}

// grow publishes a folder twice while a crawl appends to its repository.
func (b *bench) grow() (string, error) {
	b.site.allow(firstPages + 20)
	m, err := b.startCrawl("owner")
	if err != nil {
		return "", err
	}
	defer m.stop()
	err = b.until("the crawl fetches", func() (bool, error) { return b.site.count() > firstPages, nil })
	if err != nil {
		return "", err
	}
	p, err := b.publisher("owner")
	if err != nil {
		return "", err
	}
	before, err := b.grown(p, replica.File{})
	if err != nil {
		return "", err
	}
	put := p.Status().Bytes
	b.site.allow(firstPages + 25)
	after, err := b.grown(p, before)
	if err != nil {
		return "", err
	}
	if after.Parts[0] != before.Parts[0] {
		return "", fmt.Errorf("%s was put again from its beginning", after.Path)
	}
	end := after.Size - before.Size
	return fmt.Sprintf("%s grew by %d bytes to %d: its first object stayed, and %d bytes were put, index included",
		after.Path, end, after.Size, p.Status().Bytes-put), nil
}

// grown publishes until the last file of the repository is longer than it was, or is the first one
// with pages of this crawl.
func (b *bench) grown(p *replica.Publisher, was replica.File) (last replica.File, err error) {
	if was.Path == "" {
		_, g, err := b.newest()
		if err != nil {
			return last, err
		}
		was = lastFile(g)
	}
	return last, b.until("the repository grows", func() (bool, error) {
		if err := p.Publish(b.ctx); err != nil {
			return false, err
		}
		_, g, err := b.newest()
		if err != nil {
			return false, err
		}
		last = lastFile(g)
		return last.Path > was.Path || last.Size > was.Size, nil
	})
}

// lastFile returns the file of the repository that grows.
func lastFile(g *replica.Generation) (last replica.File) {
	for _, f := range g.Files {
		if path.Ext(f.Path) == ".repo" {
			last = f
		}
	}
	return last
}

// A breaking content fails after some bytes.
type breaking struct{ left int }

var errBroken = errors.New("the connection broke")

func (c *breaking) ReadAt(p []byte, _ int64) (int, error) {
	if len(p) > c.left {
		return 0, errBroken
	}
	c.left -= len(p)
	return len(p), nil
}

// staging breaks a put off.
func (b *bench) staging() (string, error) {
	const name, size = "objects/00/unfinished", 8 << 20
	err := b.bucket.Put(b.ctx, name, &breaking{size / 2}, size)
	if !errors.Is(err, errBroken) {
		return "", fmt.Errorf("a put that breaks off returns %w", err)
	}
	if _, err := b.bucket.Get(b.ctx, name, 0, -1); !errors.Is(err, bucket.ErrNotExist) {
		return "", fmt.Errorf("get of what was not put returns %w", err)
	}
	left, err := filepath.Glob(filepath.Join(b.path("bucket"), "objects", "00", "unfinished*"))
	if err == nil && len(left) > 0 {
		err = fmt.Errorf("%s is left", left)
	}
	return "a put of 8 MiB broke off at the half: there is no such object, and nothing is left of it", err
}

// checksums flips a bit of an object that the copy lacks, and of every object on its way once.
func (b *bench) checksums() (string, error) {
	name, err := b.lacking()
	if err != nil {
		return "", err
	}
	restore, err := b.change(name, flip)
	if err != nil {
		return "", err
	}
	failed := b.copied.Follow(b.ctx)
	damage := new(replica.DamageError)
	if !errors.As(failed, &damage) || damage.Object != name {
		return "", fmt.Errorf("%s was damaged, and the copy says: %w", name, failed)
	}
	if err := b.compare("copy", b.said); err != nil {
		return "", err
	}
	if err := restore(); err != nil {
		return "", err
	}
	noisy := &noise{Bucket: b.bucket, seen: map[string]bool{}}
	f, err := b.follow("noisy", noisy)
	if err == nil {
		err = f.Close()
	}
	if err == nil {
		err = b.copied.Follow(b.ctx)
	}
	if err == nil {
		b.said, err = b.answers("copy")
	}
	if err == nil {
		err = b.compare("noisy", b.said)
	}
	return fmt.Sprintf("a bit of %.20s… was flipped: the copy names it, and keeps what it has; "+
		"a bit of each of %d objects was flipped on its way: each is fetched again", name, len(noisy.seen)), err
}

// lacking returns the name of an object of the newest generation that the copy does not have.
func (b *bench) lacking() (string, error) {
	_, g, err := b.newest()
	if err != nil {
		return "", err
	}
	for _, name := range slices.Sorted(maps.Keys(needs(g))) {
		if !b.had[name] {
			return name, nil
		}
	}
	return "", errors.New("the copy has all objects")
}

// A noise is a bucket behind a connection that flips a bit of each object once.
type noise struct {
	bucket.Bucket

	mu   sync.Mutex
	seen map[string]bool
}

func (n *noise) Get(ctx context.Context, name string, offset, size int64) (io.ReadCloser, error) {
	r, err := n.Bucket.Get(ctx, name, offset, size)
	n.mu.Lock()
	defer n.mu.Unlock()
	if err != nil || n.seen[name] || !strings.HasPrefix(name, "objects/") {
		return r, err
	}
	n.seen[name] = true
	defer r.Close()
	content, err := io.ReadAll(r)
	if err != nil {
		return nil, err
	}
	return io.NopCloser(strings.NewReader(string(flip(content)))), nil
}

// replicateAgain deletes an object, and puts it again from a copy.
func (b *bench) replicateAgain() (string, error) {
	_, g, err := b.newest()
	if err != nil {
		return "", err
	}
	name := slices.Min(slices.Collect(maps.Keys(needs(g))))
	if _, err := b.change(name, func([]byte) []byte { return nil }); err != nil {
		return "", err
	}
	if out, err := b.cluster("check"); err == nil || !strings.Contains(out, name) {
		return "", fmt.Errorf("%s is missing, and cluster check says %w\n%s", name, err, out)
	}
	if _, err := b.cluster("check", "--repair", "--data", b.path("copy")); err != nil {
		return "", err
	}
	_, err = b.cluster("check")
	return fmt.Sprintf("%.20s… was deleted: cluster check names it, and puts it again from a copy", name), err
}

// diskFailure damages a file of a copy, and then loses the whole copy.
func (b *bench) diskFailure() (string, error) {
	files, err := filepath.Glob(filepath.Join(b.path("second"), "index", "*", "postings"))
	if err != nil || len(files) == 0 {
		return "", fmt.Errorf("no file to damage: %w", err)
	}
	content, err := os.ReadFile(files[0])
	if err == nil {
		err = os.WriteFile(files[0], flip(content), 0o600)
	}
	if err != nil {
		return "", err
	}
	if out, err := b.anatomy("check", "--data", b.path("second")); err == nil || !strings.Contains(out, filepath.Dir(files[0])) {
		return "", fmt.Errorf("%s is damaged, and check says %w\n%s", files[0], err, out)
	}
	if err := os.RemoveAll(b.path("second")); err != nil {
		return "", err
	}
	f, err := b.follow("second", b.bucket)
	if err == nil {
		err = f.Close()
	}
	if err == nil {
		err = b.compare("second", b.said)
	}
	return "a bit of a copy's index was flipped: check names the file; the copy was deleted, and copied again", err
}

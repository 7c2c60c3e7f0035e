package division

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"strings"

	"anatomy/cluster/bucket"
	"anatomy/cluster/lease"
	"anatomy/cluster/replica"
	"anatomy/disk/datadir"
	"anatomy/disk/durable"
	"anatomy/disk/shards"
)

const (
	urlsPrefix = "urls/"
	maxSmall   = 16 << 20 // maximum size in bytes of an object outside the shards
)

// Shard returns the part of a bucket that belongs to a shard.
func Shard(b bucket.Bucket, shard int) bucket.Bucket {
	return bucket.Below(b, prefix(shard))
}

// prefix returns the prefix of the names of a shard's objects.
func prefix(shard int) string { return fmt.Sprintf("shards/%d", shard) }

func get(ctx context.Context, b bucket.Bucket, name string) ([]byte, error) {
	r, err := b.Get(ctx, name, 0, -1)
	if err != nil {
		return nil, err
	}
	defer r.Close()
	content, err := io.ReadAll(io.LimitReader(r, maxSmall+1))
	if err == nil && len(content) > maxSmall {
		err = fmt.Errorf("%s in %s is too large", name, b)
	}
	return content, err
}

func put(ctx context.Context, b bucket.Bucket, name string, content []byte) error {
	return b.Put(ctx, name, bytes.NewReader(content), int64(len(content)))
}

// Read returns the shard map of the collection in a bucket. The error wraps [replica.ErrNoCluster]
// if the bucket has no collection, and is a [*replica.FormatError] if the collection is not
// divided.
func Read(ctx context.Context, b bucket.Bucket) (*shards.Map, error) {
	_, m, err := read(ctx, b)
	return m, err
}

func read(ctx context.Context, b bucket.Bucket) (content []byte, m *shards.Map, err error) {
	divided, err := replica.IsDivided(ctx, b)
	if err == nil && !divided {
		err = &replica.FormatError{Found: replica.Format}
	}
	if err == nil {
		content, err = get(ctx, b, shards.FileName)
	}
	if errors.Is(err, bucket.ErrNotExist) {
		err = fmt.Errorf("%w: %s", replica.ErrNoCluster, b)
	}
	if err != nil {
		return nil, nil, err
	}
	if m, err = shards.Decode(content); err != nil {
		return nil, nil, fmt.Errorf("%s in %s is damaged: %w", shards.FileName, b, err)
	}
	return content, m, nil
}

// Create creates a divided collection in a bucket that has none. create makes the shards in dir,
// which must not belong to another collection. If another machine is creating the collection,
// Create blocks until it exists.
func Create(ctx context.Context, b bucket.Bucket, dir, machine string, create func() error) error {
	if _, err := Read(ctx, b); !errors.Is(err, replica.ErrNoCluster) {
		return err
	}
	l, err := lease.Acquire(ctx, lease.Options{Bucket: b, Machine: machine, Wait: true})
	if err != nil {
		return err
	}
	renewing, stop := context.WithCancel(ctx)
	ended := make(chan error, 1)
	go func() { ended <- l.Run(renewing, func() {}) }()
	err = createFiles(ctx, b, dir, create, l.Check)
	stop()
	return errors.Join(err, <-ended, l.Release(ctx))
}

// createFiles creates the collection. SHARDS is put last, unless fence fails: another machine may have
// taken over while this one slept, and created the collection.
func createFiles(
	ctx context.Context, b bucket.Bucket, dir string, create func() error, fence func(context.Context) error,
) error {
	if _, err := Read(ctx, b); !errors.Is(err, replica.ErrNoCluster) {
		return err
	}
	if err := replica.InitializeDivided(ctx, b); err != nil {
		return err
	}
	if err := create(); err != nil {
		return err
	}
	if err := ShareSettings(ctx, b, dir, slog.New(slog.DiscardHandler)); err != nil {
		return err
	}
	content, err := os.ReadFile(datadir.Shards(dir))
	if err != nil {
		return err
	}
	if err := fence(ctx); err != nil {
		return err
	}
	return put(ctx, b, shards.FileName, content)
}

// Join initializes a folder, which need not exist, as a copy of the collection in a bucket, with
// its settings. The error wraps [replica.ErrOther] if the folder contains something else.
func Join(ctx context.Context, b bucket.Bucket, dir string) (*shards.Map, error) {
	content, m, err := read(ctx, b)
	if err != nil {
		return nil, err
	}
	has, err := os.ReadFile(datadir.Shards(dir))
	switch {
	case err == nil && !bytes.Equal(has, content):
		return nil, fmt.Errorf("%w: %s", replica.ErrOther, dir)
	case errors.Is(err, os.ErrNotExist):
		if err := datadir.CheckVersion(dir); !errors.Is(err, datadir.ErrNone) {
			return nil, fmt.Errorf("%w: %s", replica.ErrOther, dir)
		}
		if err := durable.MkdirAll(durable.OS, dir); err != nil {
			return nil, err
		}
		if err := m.Write(dir); err != nil {
			return nil, err
		}
	case err != nil:
		return nil, err
	}
	return m, ShareSettings(ctx, b, dir, slog.New(slog.DiscardHandler))
}

// AddURLs queues URLs in the bucket. The owner of each URL's shard adds it to its seeds.
func AddURLs(ctx context.Context, b bucket.Bucket, urls []string) error {
	if len(urls) == 0 {
		return nil
	}
	content := []byte(strings.Join(urls, "\n") + "\n")
	sum := sha256.Sum256(content)
	return put(ctx, b, urlsPrefix+hex.EncodeToString(sum[:]), content)
}

// urls returns the queued URLs that are not in known, by object.
func urls(ctx context.Context, b bucket.Bucket, known map[string][]string) (fresh map[string][]string, err error) {
	fresh = map[string][]string{}
	for o, err := range b.List(ctx, urlsPrefix, "") {
		if err != nil {
			return nil, err
		}
		if _, ok := known[o.Name]; ok {
			continue
		}
		content, err := get(ctx, b, o.Name)
		if err != nil {
			return nil, err
		}
		fresh[o.Name] = strings.Fields(string(content))
	}
	return fresh, nil
}

package bucket

import (
	"context"
	"io"
	"iter"
	"strings"
)

// Below returns a view of the objects of b whose names begin with prefix and a slash.
func Below(b Bucket, prefix string) Bucket { return &below{b, prefix + "/"} }

type below struct {
	whole  Bucket
	prefix string
}

func (b *below) Put(ctx context.Context, name string, content io.ReaderAt, size int64) error {
	return b.whole.Put(ctx, b.prefix+name, content, size)
}

func (b *below) Get(ctx context.Context, name string, offset, size int64) (io.ReadCloser, error) {
	return b.whole.Get(ctx, b.prefix+name, offset, size)
}

func (b *below) List(ctx context.Context, prefix, after string) iter.Seq2[Object, error] {
	if after != "" {
		after = b.prefix + after
	}
	return func(yield func(Object, error) bool) {
		for o, err := range b.whole.List(ctx, b.prefix+prefix, after) {
			o.Name = strings.TrimPrefix(o.Name, b.prefix)
			if !yield(o, err) {
				return
			}
		}
	}
}

func (b *below) Delete(ctx context.Context, name string) error {
	return b.whole.Delete(ctx, b.prefix+name)
}

func (b *below) String() string { return b.whole.String() + "/" + strings.TrimSuffix(b.prefix, "/") }

package replica

import (
	"bytes"
	"context"
	"crypto/rand"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"anatomy/cluster/bucket"
)

// DividedFormat is the format of the bucket of a divided collection, whose shards have owners of
// their own; see cluster/division. Programs that do not know the format reject the bucket.
const DividedFormat = 3

// An Identity is the content of anatomy.json.
type Identity struct {
	Format int    `json:"format"`
	ID     string `json:"id"` // random, 32 hexadecimal digits
}

const (
	identityName = "anatomy.json"
	maxIdentity  = 1 << 10
)

// ErrNotEmpty is the error for a bucket that has other objects than those of a collection.
var ErrNotEmpty = errors.New("the bucket is not empty and holds no collection of anatomy")

// ErrNoCluster is the error for a bucket without a collection.
var ErrNoCluster = errors.New("the bucket holds no collection")

// Identify returns the identity of a bucket. The error wraps [ErrNoCluster] if it has none, or is a
// *[FormatError].
func Identify(ctx context.Context, b bucket.Bucket) (i Identity, err error) {
	i, err = identify(ctx, b)
	if err == nil && i.Format != Format {
		return i, &FormatError{i.Format}
	}
	return i, err
}

// IsDivided reports whether a bucket is of [DividedFormat]. The error wraps [ErrNoCluster] if the bucket
// has no identity, or is a *[FormatError].
func IsDivided(ctx context.Context, b bucket.Bucket) (bool, error) {
	i, err := identify(ctx, b)
	if err == nil && i.Format != Format && i.Format != DividedFormat {
		err = &FormatError{i.Format}
	}
	return err == nil && i.Format == DividedFormat, err
}

func identify(ctx context.Context, b bucket.Bucket) (i Identity, err error) {
	content, err := readObject(ctx, b, identityName, maxIdentity)
	if errors.Is(err, bucket.ErrNotExist) {
		return i, fmt.Errorf("%w: %s", ErrNoCluster, b)
	}
	if err != nil {
		return i, err
	}
	if err := json.Unmarshal(content, &i); err != nil || len(i.ID) != 32 {
		return i, &DamageError{identityName, "", errors.New("it has an unknown format")}
	}
	return i, nil
}

// Usable fails unless a bucket has a collection with one owner, or may receive one.
func Usable(ctx context.Context, b bucket.Bucket) error {
	_, err := Identify(ctx, b)
	if !errors.Is(err, ErrNoCluster) {
		return err
	}
	return UsableDivided(ctx, b)
}

// UsableDivided fails if a bucket without a collection may not receive one.
func UsableDivided(ctx context.Context, b bucket.Bucket) error {
	if err := checkEmpty(ctx, b); err != nil {
		if _, now := identify(ctx, b); !errors.Is(now, ErrNoCluster) {
			return now // an owner has started meanwhile
		}
		return err
	}
	return nil
}

// checkEmpty fails if a bucket has objects other than those that nodes put before a collection
// exists.
func checkEmpty(ctx context.Context, b bucket.Bucket) error {
	for o, err := range b.List(ctx, "", "") {
		if err != nil {
			return err
		}
		if !isOfNode(o.Name) {
			return fmt.Errorf("%w: %s (found %q)", ErrNotEmpty, b, o.Name)
		}
	}
	return nil
}

// isOfNode reports whether nodes put the object before a collection exists.
func isOfNode(name string) bool {
	prefix, _, _ := strings.Cut(name, "/")
	return prefix == "owners" || prefix == "nodes" || prefix == "keys"
}

// Initialize returns the identity of a bucket, and creates one if it has none. Only the owner may
// call it: two concurrent calls could return different identities.
func Initialize(ctx context.Context, b bucket.Bucket) (Identity, error) {
	i, err := Identify(ctx, b)
	if !errors.Is(err, ErrNoCluster) {
		return i, err
	}
	if err := checkEmpty(ctx, b); err != nil {
		return i, err
	}
	if err := found(ctx, b, Format); err != nil {
		return i, err
	}
	return Identify(ctx, b)
}

// InitializeDivided is like Initialize for a bucket of [DividedFormat].
func InitializeDivided(ctx context.Context, b bucket.Bucket) error {
	divided, err := IsDivided(ctx, b)
	switch {
	case errors.Is(err, ErrNoCluster):
		if err := checkEmpty(ctx, b); err != nil {
			return err
		}
		return found(ctx, b, DividedFormat)
	case err == nil && !divided:
		err = fmt.Errorf("%s holds a collection with one owner", b)
	}
	return err
}

func found(ctx context.Context, b bucket.Bucket, format int) error {
	id := make([]byte, 16)
	rand.Read(id)
	content, err := json.Marshal(Identity{format, hex.EncodeToString(id)})
	if err != nil {
		return err
	}
	return b.Put(ctx, identityName, bytes.NewReader(content), int64(len(content)))
}

package replica

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"golang.org/x/sync/errgroup"

	"anatomy/cluster/bucket"
)

// A CheckReport is the result of Check.
type CheckReport struct {
	Generation string
	Objects    int
	Bytes      int64
	Broken     int            // missing or damaged objects
	Damaged    []*DamageError // of them, at most maxDamaged
	Repaired   int
}

const maxDamaged = 100

// Add adds the report on another shard.
func (r *CheckReport) Add(o *CheckReport) {
	r.Objects, r.Bytes, r.Broken, r.Repaired = r.Objects+o.Objects, r.Bytes+o.Bytes, r.Broken+o.Broken, r.Repaired+o.Repaired
	r.Damaged = append(r.Damaged, o.Damaged[:min(len(o.Damaged), maxDamaged-len(r.Damaged))]...)
}

// Check reads and verifies every object of the newest generation. The error wraps [ErrNoCluster] if
// there is none. If dir is not "", Check uploads damaged objects again from the files of that data
// folder where it has them. progress, which may be nil, is called with bytes.
func Check(
	ctx context.Context, b bucket.Bucket, dir string, progress func(done, all int64),
) (r CheckReport, err error) {
	name, g, err := Latest(ctx, b)
	if err == nil && g == nil {
		err = fmt.Errorf("%w: %s", ErrNoCluster, b)
	}
	if err != nil {
		return r, err
	}
	r.Generation = name.String()
	c := &checker{b: b, dir: dir, results: make(chan checkedObject)}
	var group errgroup.Group
	group.Go(func() error { defer close(c.results); return c.all(ctx, g) })
	all := g.Size()
	for one := range c.results {
		r.Objects++
		r.Bytes += one.size
		if one.damage != nil {
			r.Broken++
			if len(r.Damaged) < maxDamaged {
				r.Damaged = append(r.Damaged, one.damage)
			}
		}
		if one.isRepaired {
			r.Repaired++
		}
		if progress != nil {
			progress(r.Bytes, all)
		}
	}
	return r, group.Wait()
}

// A checker is the state of one Check.
type checker struct {
	b       bucket.Bucket
	dir     string
	results chan checkedObject
}

// A checkedObject is the result for one object.
type checkedObject struct {
	size       int64
	damage     *DamageError
	isRepaired bool
}

// all verifies each object of a generation once.
func (c *checker) all(ctx context.Context, g *Generation) error {
	seen := map[Sum]bool{}
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(transfers)
	for i := range g.Files {
		file := &g.Files[i]
		at := int64(0)
		for _, part := range file.Parts {
			from := at
			if at += part.Size; seen[part.Sum] {
				continue
			}
			seen[part.Sum] = true
			group.Go(func() error { return c.one(ctx, file, part, from) })
		}
	}
	return group.Wait()
}

func (c *checker) one(ctx context.Context, file *File, part Part, at int64) error {
	err := fetch(ctx, c.b, part, func([]byte) error { return nil })
	damage := new(DamageError)
	if err != nil && !errors.As(err, &damage) {
		return err
	}
	result := checkedObject{size: part.Size}
	if err != nil {
		damage.File = file.Path
		result.damage = damage
		if c.dir != "" {
			if result.isRepaired, err = c.repair(ctx, file, part, at); err != nil {
				return err
			}
		}
	}
	select {
	case c.results <- result:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// repair uploads an object again if the folder has its content.
func (c *checker) repair(ctx context.Context, file *File, part Part, at int64) (bool, error) {
	f, err := os.Open(filepath.Join(c.dir, filepath.FromSlash(file.Path)))
	if isMissing(err) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	defer f.Close()
	content := io.NewSectionReader(f, at, part.Size)
	if sum, err := sumOf(content); err != nil || sum != part.Sum {
		return false, err
	}
	return true, c.b.Put(ctx, part.Sum.object(), content, part.Size)
}

package replica

import (
	"context"
	"time"
)

const (
	collectEvery = 10 * time.Minute
	keptAll      = 10 * time.Minute // every generation is kept for so long
	keptFor      = 24 * time.Hour   // one for each keptAll
)

// collect deletes generations that are not kept, and objects that none of the kept ones names and
// that are a day old: a follower may still copy an older generation. Only the owner deletes, so that
// nobody names an object while it is deleted.
func (p *Publisher) collect(ctx context.Context) error {
	kept, now, err := p.thin(ctx)
	if err != nil {
		return err
	}
	named := map[Sum]bool{}
	for _, name := range kept {
		g, err := read(ctx, p.o.Bucket, name)
		if err != nil {
			return err // what it names is not known
		}
		for i := range g.Files {
			for _, part := range g.Files[i].Parts {
				named[part.Sum] = true
			}
		}
	}
	p.mu.Lock()
	p.has = named
	p.mu.Unlock()
	for o, err := range p.o.Bucket.List(ctx, objectsPrefix, "") {
		if err != nil {
			return err
		}
		sum, ok := parseObject(o.Name)
		if !ok || named[sum] || now.Sub(o.Changed) < keptFor {
			continue
		}
		if err := p.o.Fence(ctx); err != nil {
			return &fenceError{err}
		}
		if err := p.o.Bucket.Delete(ctx, o.Name); err != nil {
			return err
		}
	}
	return nil
}

// thin deletes generations: of those older than ten minutes it keeps one for each ten minutes of a
// day. It returns the names of those that are kept, the last of which is the newest, and the time of
// that one: the bucket's clock is the only one that is asked.
func (p *Publisher) thin(ctx context.Context) (kept []Name, now time.Time, err error) {
	var all []bucketName
	for o, err := range p.o.Bucket.List(ctx, generationsPrefix, "") {
		if err != nil {
			return nil, now, err
		}
		if n, err := ParseName(o.Name); err == nil {
			all = append(all, bucketName{n, o.Changed})
		}
	}
	if len(all) > 0 {
		now = all[len(all)-1].changed
	}
	for i, g := range all {
		age := now.Sub(g.changed)
		same := i+1 < len(all) && all[i+1].changed.Truncate(keptAll).Equal(g.changed.Truncate(keptAll))
		if i == len(all)-1 || age < keptAll || age < keptFor && !same {
			kept = append(kept, g.Name)
			continue
		}
		if err := p.o.Bucket.Delete(ctx, g.Name.String()); err != nil {
			return nil, now, err
		}
	}
	return kept, now, nil
}

// A bucketName is the name of a generation with the time when it was put.
type bucketName struct {
	Name
	changed time.Time
}

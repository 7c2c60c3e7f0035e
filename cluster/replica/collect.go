package replica

import (
	"context"
	"fmt"
	"strings"
	"time"
)

const (
	collectEvery = 10 * time.Minute
	keptAll      = 10 * time.Minute // every generation is kept for this time
	keptFor      = 24 * time.Hour   // then one per keptAll is kept for this time
)

// collect deletes expired generations, and objects that no kept generation refers to and that are
// older than a day: a follower may still be copying an older generation. Only the owner deletes, so
// no new generation can refer to an object while it is deleted.
func (p *Publisher) collect(ctx context.Context) error {
	if err := p.o.Fence(ctx); err != nil {
		return err
	}
	now, err := p.clock(ctx)
	if err != nil {
		return err
	}
	kept, err := p.thin(ctx, now)
	if err != nil {
		return err
	}
	named := map[Sum]int64{} // sizes of referenced objects
	for _, name := range kept {
		g, err := read(ctx, p.o.Bucket, name)
		if err != nil {
			return err // its objects are not known
		}
		for i := range g.Files {
			for _, part := range g.Files[i].Parts {
				named[part.Sum] = part.Size
			}
		}
	}
	has := map[Sum]bool{}
	for o, err := range p.o.Bucket.List(ctx, objectsPrefix, "") {
		if err != nil {
			return err
		}
		sum, ok := parseObject(o.Name)
		if size, needed := named[sum]; ok && needed {
			has[sum] = size == o.Size
			continue
		}
		if !ok || now.Sub(o.Changed) < keptFor {
			continue
		}
		if err := p.o.Bucket.Delete(ctx, o.Name); err != nil {
			return err
		}
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.has = has
	return nil
}

// clock returns the time by the bucket's clock. No other clock is used.
func (p *Publisher) clock(ctx context.Context) (now time.Time, err error) {
	if err := p.o.Bucket.Put(ctx, clockName, strings.NewReader(""), 0); err != nil {
		return now, err
	}
	for o, err := range p.o.Bucket.List(ctx, clockName, "") {
		return o.Changed, err
	}
	return now, fmt.Errorf("%s was put but is not listed", clockName)
}

const clockName = "clock"

// thin deletes generations. It keeps those of the last ten minutes, one per ten minutes of the last
// day, and the newest. It returns the names of the kept ones.
func (p *Publisher) thin(ctx context.Context, now time.Time) (kept []Name, err error) {
	var all []bucketName
	for o, err := range p.o.Bucket.List(ctx, generationsPrefix, "") {
		if err != nil {
			return nil, err
		}
		if n, err := ParseName(o.Name); err == nil {
			all = append(all, bucketName{n, o.Changed})
		}
	}
	for i, g := range all {
		age := now.Sub(g.changed)
		same := i+1 < len(all) && all[i+1].changed.Truncate(keptAll).Equal(g.changed.Truncate(keptAll))
		if i == len(all)-1 || age < keptAll || age < keptFor && !same {
			kept = append(kept, g.Name)
			continue
		}
		if err := p.o.Bucket.Delete(ctx, g.Name.String()); err != nil {
			return nil, err
		}
	}
	return kept, nil
}

// A bucketName is the name of a generation and the time when it was put.
type bucketName struct {
	Name
	changed time.Time
}

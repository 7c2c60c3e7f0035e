package replica

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"os"
	"path"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"github.com/cockroachdb/pebble/v2/vfs"
	"golang.org/x/sync/errgroup"

	"anatomy/cluster/bucket"
	"anatomy/disk/datadir"
	"anatomy/disk/durable"
	"anatomy/disk/shards"
)

// FollowerOptions configure a Follower.
type FollowerOptions struct {
	Bucket   bucket.Bucket
	Dir      string                // folder of the copy; created if missing
	Every    time.Duration         // interval between checks for a new generation; default 1 s
	Log      *slog.Logger          // default: discarded
	Progress func(done, all int64) // in bytes of a generation; may be nil

	// Light reports whether the copy should be light; a folder of shards cannot be. Each Follow calls it.
	// Default: the copy is whole.
	Light func() bool

	// Counts reports whether a listed generation is valid, that is, not put by a replaced owner.
	// Default: every generation is valid until a later one replaces it.
	Counts func(context.Context, Name) (bool, error)

	// OnCurrent is called with the generation that the folder is a copy of, when that becomes known
	// and whenever it changes; may be nil.
	OnCurrent func(*Generation)
}

const (
	followEvery = time.Second
	copyTries   = 3 // attempts to copy an object
)

// A Follower keeps a data folder equal to the newest generation of a bucket. No other process may
// write to the folder. Processes that search it see a generation once it is complete.
type Follower struct {
	o        FollowerOptions
	lock     io.Closer
	state    *state
	at       Name // of the current generation; zero for none
	reported Name // last argument of OnCurrent
	extent   extent

	mu        sync.Mutex // guards what follows
	status    FollowerStatus
	isWaiting bool // the bucket had no generation at the last attempt
}

// A FollowerStatus is the state of the copy.
type FollowerStatus struct {
	Generation string    // the current one; "" for none
	Made       time.Time // when the generation was made
	Light      bool      // files that light copies lack are missing, or may be
	Freshness
	Bytes int64 // copied so far
}

// ErrOther is the error for a folder that is not a copy of the bucket's collection.
var ErrOther = errors.New("the folder holds another collection than the bucket")

// ErrSpread is the error for a folder that is spread over several disks, which a copy cannot be.
var ErrSpread = errors.New("the data folder is spread over several disks, and cannot become a copy")

// NewFollower locks a folder. The error wraps [ErrOther] if the folder holds something other than a
// copy of the bucket's collection, or wraps [ErrSpread], or is a *[datadir.BusyError].
func NewFollower(ctx context.Context, o FollowerOptions) (*Follower, error) {
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	if o.Every == 0 {
		o.Every = followEvery
	}
	if o.Progress == nil {
		o.Progress = func(int64, int64) {}
	}
	if o.Counts == nil {
		o.Counts = func(context.Context, Name) (bool, error) { return true, nil }
	}
	if o.Light == nil {
		o.Light = func() bool { return false }
	}
	if o.OnCurrent == nil {
		o.OnCurrent = func(*Generation) {}
	}
	if disks, err := datadir.ReadDisks(durable.OS, o.Dir); err != nil {
		return nil, err
	} else if len(disks) > 0 {
		return nil, fmt.Errorf("%w: %s", ErrSpread, o.Dir)
	}
	known := readState(o.Dir)
	id, err := Identify(ctx, o.Bucket)
	switch other := errors.Is(err, ErrNoCluster) || errors.As(err, new(*FormatError)); {
	case err != nil && (other || known.Cluster == ""):
		return nil, err
	case err != nil: // the bucket cannot be read, but a copy exists
		o.Log.Warn("cannot read the bucket; continuing with the existing copy", "error", err)
		id.ID = known.Cluster
	}
	if err := durable.MkdirAll(durable.OS, o.Dir); err != nil {
		return nil, err
	}
	lock, err := datadir.Lock(o.Dir)
	if err != nil {
		return nil, err
	}
	f := &Follower{o: o, lock: lock, state: known}
	if err := belongs(o.Dir, f.state.Cluster, id.ID); err != nil {
		return nil, errors.Join(err, lock.Close())
	}
	f.state.Cluster, f.at = id.ID, f.state.last()
	f.status.Generation, f.status.Made = f.state.Generation, f.state.Made
	if f.extent, err = readExtent(o.Dir); err != nil {
		return nil, errors.Join(err, lock.Close())
	}
	f.status.Light = f.extent != whole
	if err := f.state.write(o.Dir); err != nil { // so that a copy interrupted by a kill has an ID
		return nil, errors.Join(err, lock.Close())
	}
	return f, nil
}

// Belongs fails with an error that wraps [ErrOther] if the bucket has a collection and the folder
// has another one.
func Belongs(ctx context.Context, b bucket.Bucket, dir string) error {
	newest, err := Newest(ctx, b)
	if err != nil || newest.IsZero() {
		return err
	}
	id, err := Identify(ctx, b)
	if err != nil {
		return err
	}
	return belongs(dir, readState(dir).Cluster, id.ID)
}

// belongs fails unless a folder belongs to a cluster, or is empty.
func belongs(dir, has, cluster string) error {
	if has == cluster {
		return nil
	}
	entries, err := os.ReadDir(dir)
	if isMissing(err) {
		return nil
	}
	for _, e := range entries {
		if !isOwn(e.Name()) {
			return fmt.Errorf("%w: %s", ErrOther, dir)
		}
	}
	return err
}

// Close unlocks the folder. A second call does nothing.
func (f *Follower) Close() error {
	lock := f.lock
	if f.lock = nil; lock == nil {
		return nil
	}
	return lock.Close()
}

// Status returns the state of the copy.
func (f *Follower) Status() FollowerStatus {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.status
}

// Run copies each new generation until ctx ends. While the bucket cannot be reached, or the newest
// generation is damaged, the last complete one stays current.
func (f *Follower) Run(ctx context.Context) error {
	for {
		f.Follow(ctx)
		select {
		case <-ctx.Done():
			return nil
		case <-time.After(f.o.Every):
		}
	}
}

// Follow makes the newest generation current, unless it already is.
func (f *Follower) Follow(ctx context.Context) error {
	began := time.Now()
	err := f.follow(ctx)
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.isWaiting { // another failure is the first one
		f.status.Failing = ""
	}
	f.isWaiting = errors.Is(err, ErrNoCluster)
	if f.status.record(ctx, began, err) && !f.isWaiting {
		f.o.Log.Warn("cannot update the copy; trying again", "bucket", f.o.Bucket, "error", err)
	}
	if err == nil {
		return nil
	}
	return fmt.Errorf("follow: %w", err)
}

func (f *Follower) follow(ctx context.Context) error {
	names, err := list(ctx, f.o.Bucket, f.at)
	if err != nil {
		return err
	}
	if len(names) == 0 {
		if f.at.IsZero() {
			return fmt.Errorf("%w yet: %s", ErrNoCluster, f.o.Bucket)
		}
		return f.reportCurrent(ctx)
	}
	newest := names[len(names)-1]
	if counts, err := f.o.Counts(ctx, newest); err != nil || !counts {
		return errors.Join(err, f.reportCurrent(ctx))
	}
	return f.MakeCurrent(ctx, newest)
}

// reportCurrent calls OnCurrent with the generation of a copy that existed before. If the folder is to
// become light, or whole, it makes that generation current again.
func (f *Follower) reportCurrent(ctx context.Context) error {
	isSame := f.extent == f.wanted()
	if f.at.IsZero() || isSame && f.at == f.reported {
		return nil
	}
	g, err := read(ctx, f.o.Bucket, f.at)
	if errors.Is(err, bucket.ErrNotExist) {
		return nil // a later one exists, or will
	}
	switch {
	case err != nil:
		return err
	case !isSame:
		return f.makeCurrent(ctx, g, f.at)
	}
	f.o.OnCurrent(g)
	f.reported = f.at
	return nil
}

// MakeCurrent makes a given generation current. A later Follow makes the newest one current again.
func (f *Follower) MakeCurrent(ctx context.Context, name Name) error {
	g, err := read(ctx, f.o.Bucket, name)
	if err != nil {
		return err
	}
	return f.makeCurrent(ctx, g, name)
}

func (f *Follower) makeCurrent(ctx context.Context, g *Generation, name Name) error {
	if err := f.apply(ctx, g, name); err != nil {
		return err
	}
	f.at, f.reported = name, name
	f.mu.Lock()
	f.status.Generation, f.status.Made = name.String(), g.Made
	f.mu.Unlock()
	f.o.OnCurrent(g)
	return nil
}

// Detach unlocks the folder and makes it an independent collection instead of a copy. The copy must
// not be light.
func (f *Follower) Detach() error {
	return errors.Join(os.RemoveAll(datadir.Cluster(f.o.Dir)), f.Close())
}

// apply makes the folder equal to a generation. Each step leaves a crash-consistent state that
// readers accept. The steps are: files that the present MANIFEST does not name, and the new ends of
// repository files; then the document index, which knows every indexed document; then the MANIFEST;
// then the deletion of files that are not named any more. If the folder has had another owner
// since, its files are staged beside it until all are copied. If the generation is of another
// folder altogether, VERSION is replaced first: until the MANIFEST is replaced, readers find that
// the two do not match, and the next call of apply continues from there. A first copy gets its VERSION
// last: until then searches do not take it for a data folder, and report that its documents are missing.
//
// Of a light copy, the generation has an empty file instead of the mapped files of each segment (see
// package segment), and no repository. Before the folder loses the first of these files, or gets it
// back, it is marked as a light copy, until it has all of them.
//
// In a folder of shards this applies to each shard. Searches accept shards of different ages, as
// during a crawl. The parcels between such shards are inconsistent, so no crawl may continue from
// there: the folder is marked as under repair.
func (f *Follower) apply(ctx context.Context, g *Generation, name Name) error {
	to := f.wanted()
	if f.extent != to {
		if err := f.setExtent(changing); err != nil {
			return err
		}
	}
	if to == light {
		g = g.lighten()
	}
	if err := f.copyAll(ctx, g); err != nil {
		return errors.Join(err, f.state.write(f.o.Dir)) // files already copied are not copied again
	}
	if g.Shards() > 0 {
		if err := shards.BeginRepair(f.o.Dir); err != nil {
			return err
		}
	}
	for _, folder := range g.dataFolders() {
		if err := f.replaceFolder(g, folder); err != nil {
			return err
		}
	}
	if g.Shards() > 0 {
		if err := f.replaceBetween(g); err != nil {
			return err
		}
	}
	f.state.Generation, f.state.Made = name.String(), g.Made
	if err := f.state.write(f.o.Dir); err != nil {
		return err
	}
	return f.setExtent(to)
}

// replaceFolder makes the files of one data folder of a generation current, and deletes other
// files.
func (f *Follower) replaceFolder(g *Generation, folder string) error {
	dir := filepath.Join(f.o.Dir, folder)
	if err := datadir.MakeFolders(dir); err != nil {
		return err
	}
	before, after := is(datadir.VersionName), none
	if errors.Is(datadir.CheckVersion(dir), datadir.ErrNone) {
		before, after = after, before
	}
	others := func(path string) bool { return path != datadir.VersionName && path != datadir.ManifestName }
	return datadir.WithManifest(dir, func() error {
		for _, install := range []func() error{
			func() error { return f.install(g, folder, before) },
			func() error { return f.install(g, folder, others) },
			func() error { return f.replaceDocIndex(folder) },
			func() error { return f.install(g, folder, is(datadir.ManifestName)) },
			func() error { return f.install(g, folder, after) },
			func() error { return f.dropPostings(g, folder) },
			func() error { return f.sweep(g, folder) },
		} {
			if err := install(); err != nil {
				return err
			}
		}
		return nil
	})
}

func none(string) bool                  { return false }
func is(name string) func(string) bool  { return func(path string) bool { return path == name } }
func not(name string) func(string) bool { return func(path string) bool { return path != name } }

// replaceBetween makes the files outside the shards current, and deletes other ones. Once SHARDS
// exists the folder can be searched.
func (f *Follower) replaceBetween(g *Generation) error {
	err := f.install(g, "", not(shards.FileName))
	if err == nil {
		err = f.install(g, "", is(shards.FileName))
	}
	if err == nil {
		err = f.sweep(g, "")
	}
	isRepaired := slices.ContainsFunc(g.Files, func(file File) bool { return file.Path == shards.RepairName })
	if err == nil && !isRepaired {
		err = shards.EndRepair(f.o.Dir)
	}
	return err
}

// incoming returns the folder of files that are copied and not current yet.
func (f *Follower) incoming() string { return filepath.Join(datadir.Cluster(f.o.Dir), "incoming") }

// copyAll copies the files that the folder does not have. Files that are to be replaced are staged
// in incoming.
func (f *Follower) copyAll(ctx context.Context, g *Generation) error {
	if err := os.RemoveAll(f.incoming()); err != nil {
		return err
	}
	for _, folder := range g.dataFolders() {
		if err := durable.MkdirAll(durable.OS, filepath.Join(f.incoming(), folder, datadir.DocIndexName)); err != nil {
			return err
		}
	}
	c := &copier{f: f, all: g.Size(), files: map[string]*knownFile{}, staged: map[string]bool{}}
	err := c.copy(ctx, g, func(p string) bool { return !isPostings(p) })
	if err == nil {
		err = c.copy(ctx, g, isPostings) // a light segment becomes whole with this file
	}
	if err != nil {
		for path, h := range c.files {
			if !c.staged[path] {
				f.state.Files[path] = h
			}
		}
		return err
	}
	f.state.Files = c.files
	return nil
}

// A copier copies the files of one generation.
type copier struct {
	f   *Follower
	all int64 // bytes of the generation

	mu     sync.Mutex
	files  map[string]*knownFile
	staged map[string]bool // files staged in incoming
	done   int64           // bytes of the generation copied so far
}

// copy ensures that the folder has the chosen files.
func (c *copier) copy(ctx context.Context, g *Generation, choose func(path string) bool) error {
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(transfers)
	for i := range g.Files {
		if file := &g.Files[i]; choose(file.Path) {
			group.Go(func() error { return c.file(ctx, file) })
		}
	}
	return group.Wait()
}

// file ensures that the folder has a file, current or staged.
func (c *copier) file(ctx context.Context, file *File) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	h, err := c.obtain(ctx, file)
	switch {
	case errors.As(err, new(*DamageError)): // it has the name of the file
		return err
	case err != nil:
		return fmt.Errorf("%s: %w", file.Path, err)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.files[file.Path] = h
	c.done += file.Size
	c.f.o.Progress(c.done, c.all)
	return nil
}

func (c *copier) obtain(ctx context.Context, file *File) (*knownFile, error) {
	dir := c.f.o.Dir
	final := filepath.Join(dir, filepath.FromSlash(file.Path))
	known := c.f.state.Files[file.Path]
	info, err := os.Stat(final)
	if err != nil && !isMissing(err) {
		return nil, err
	}
	intact := err == nil && known.isSame(info, info.Size())
	same := intact && slices.Equal(known.Parts, file.Parts)
	to := final
	switch {
	case isReplaced(file.Path):
		to = filepath.Join(c.f.incoming(), filepath.FromSlash(file.Path))
		if same {
			if !isOfDocIndex(file.Path) {
				return known, nil
			}
			c.stage(file.Path) // the next document index links to it
			return known, vfs.LinkOrCopy(vfs.Default, final, to)
		}
	case same:
		return known, nil
	case intact && isAppended(file.Path) && known.Size <= file.Size:
		return c.extend(ctx, file, final, common(known.Parts, file.Parts))
	case err == nil: // a file of another owner: readers may have it open
		to = filepath.Join(c.f.incoming(), filepath.FromSlash(file.Path))
	}
	if to != final {
		c.stage(file.Path)
	}
	var begins []Part
	if intact {
		begins = common(known.Parts, file.Parts)
	}
	return c.write(ctx, file, to, final, begins)
}

// write writes a file to a path. It reads leading parts that equal those of the current file from
// that file.
func (c *copier) write(ctx context.Context, file *File, to, final string, begins []Part) (*knownFile, error) {
	if err := durable.MkdirAll(durable.OS, filepath.Dir(to)); err != nil {
		return nil, err
	}
	w, err := durable.Create(durable.OS, to)
	if err != nil {
		return nil, err
	}
	defer w.Abort()
	write := func(b []byte) error { _, err := w.Write(b); return err }
	at := int64(0)
	for i, part := range file.Parts {
		has := false
		if i < len(begins) {
			has, err = copyPart(final, at, part, write)
		}
		if !has && err == nil {
			err = c.part(ctx, file, part, write)
		}
		if err != nil {
			return nil, err
		}
		at += part.Size
	}
	if err := w.Commit(); err != nil {
		return nil, err
	}
	return knownFileAt(to, file)
}

// copyPart calls use with the part of a file at an offset. has is false if the file does not contain it.
func copyPart(path string, at int64, part Part, use func([]byte) error) (has bool, err error) {
	f, err := os.Open(path)
	if err != nil {
		return false, nil
	}
	defer f.Close()
	err = withBuffer(part.Size, func(content []byte) error {
		if _, err := f.ReadAt(content, at); err != nil || sha256.Sum256(content) != part.Sum {
			return nil
		}
		has = true
		return use(content)
	})
	return has, err
}

// stage records that a file is staged.
func (c *copier) stage(path string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.staged[path] = true
}

// knownFileAt returns the record of a file that has just been written.
func knownFileAt(path string, file *File) (*knownFile, error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, err
	}
	return &knownFile{Size: info.Size(), Changed: info.ModTime().UnixNano(), Parts: file.Parts}, nil
}

// common returns the longest common prefix of a and b.
func common(a, b []Part) []Part {
	for i := range min(len(a), len(b)) {
		if a[i] != b[i] {
			return b[:i]
		}
	}
	return b[:min(len(a), len(b))]
}

// extend appends the missing parts to a file of the repository. Readers may have the file open: the
// owner only appends to it, so the bytes that they read do not change.
func (c *copier) extend(ctx context.Context, file *File, path string, parts []Part) (*knownFile, error) {
	err := durable.Overwrite(durable.OS, path, file.Size, func(out io.WriterAt) error {
		at := sizeOf(parts)
		for _, part := range file.Parts[len(parts):] {
			err := c.part(ctx, file, part, func(b []byte) error { _, err := out.WriteAt(b, at); return err })
			if err != nil {
				return err
			}
			at += part.Size
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	return knownFileAt(path, file)
}

// part calls use with the verified content of a part.
func (c *copier) part(ctx context.Context, file *File, part Part, use func([]byte) error) error {
	var err error
	for try := 0; try < copyTries; try++ {
		err = fetch(ctx, c.f.o.Bucket, part, func(content []byte) error {
			c.f.mu.Lock()
			c.f.status.Bytes += part.Size
			c.f.mu.Unlock()
			return use(content)
		})
		if !errors.As(err, new(*DamageError)) {
			return err
		}
	}
	damage := new(DamageError)
	if errors.As(err, &damage) {
		damage.File = file.Path
	}
	return err
}

// fetch calls use with the content of a part, once it is verified.
func fetch(ctx context.Context, b bucket.Bucket, part Part, use func([]byte) error) error {
	name := part.Sum.object()
	r, err := b.Get(ctx, name, 0, -1)
	if errors.Is(err, bucket.ErrNotExist) {
		return &DamageError{name, "", err}
	}
	if err != nil {
		return err
	}
	defer r.Close()
	return withBuffer(part.Size, func(content []byte) error {
		if _, err := io.ReadFull(r, content); err != nil {
			if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
				return &DamageError{name, "", errors.New("it is too short")}
			}
			return err
		}
		if n, _ := io.CopyN(io.Discard, r, 1); n > 0 {
			return &DamageError{name, "", errors.New("it is too long")}
		}
		if sha256.Sum256(content) != part.Sum {
			return &DamageError{name, "", errSum}
		}
		return use(content)
	})
}

// buffers hold parts, most of which are small.
var buffers = sync.Pool{New: func() any { b := make([]byte, 64<<10); return &b }}

// withBuffer calls use with a buffer of a size.
func withBuffer(size int64, use func([]byte) error) error {
	b := buffers.Get().(*[]byte)
	defer buffers.Put(b)
	if int64(cap(*b)) < size {
		*b = make([]byte, size)
	}
	return use((*b)[:size])
}

// replaceDocIndex makes the staged document index of a data folder current.
func (f *Follower) replaceDocIndex(folder string) error {
	dir := filepath.Join(f.o.Dir, folder)
	aside := datadir.DamagedDocIndex(dir)
	if err := os.RemoveAll(aside); err != nil {
		return err
	}
	fresh := datadir.FreshDocIndex(dir)
	if err := os.RemoveAll(fresh); err != nil {
		return err
	}
	if err := durable.Rename(durable.OS, filepath.Join(f.incoming(), folder, datadir.DocIndexName), fresh); err != nil {
		return err
	}
	if err := durable.ReplaceFolder(durable.OS, fresh, datadir.DocIndex(dir), aside); err != nil {
		return err
	}
	return os.RemoveAll(aside)
}

// install makes the chosen staged files of a shard, or those outside the shards, current, except
// those of the document index.
func (f *Follower) install(g *Generation, folder string, choose func(below string) bool) error {
	for i := range g.Files {
		p := g.Files[i].Path
		if shard, below := within(p); shard != folder || isOfDocIndex(p) || !choose(below) {
			continue
		}
		from := filepath.Join(f.incoming(), filepath.FromSlash(p))
		if _, err := os.Stat(from); isMissing(err) {
			continue // already current
		}
		to := filepath.Join(f.o.Dir, filepath.FromSlash(p))
		if err := durable.MkdirAll(durable.OS, filepath.Dir(to)); err != nil {
			return err
		}
		if err := durable.Rename(durable.OS, from, to); err != nil {
			return err
		}
	}
	return nil
}

// sweep deletes the files of a shard, or those outside the shards, that a generation does not have.
func (f *Follower) sweep(g *Generation, folder string) error {
	has := map[string]bool{}
	for i := range g.Files {
		for p := g.Files[i].Path; p != "."; p = path.Dir(p) {
			has[p] = true
		}
	}
	root := filepath.Join(f.o.Dir, folder)
	return filepath.WalkDir(root, func(name string, e fs.DirEntry, err error) error {
		if isMissing(err) {
			return nil
		} else if err != nil || name == root {
			return err
		}
		rel, err := filepath.Rel(f.o.Dir, name)
		if err != nil {
			return err
		}
		rel = filepath.ToSlash(rel)
		_, below := within(rel)
		top := topOf(below)
		switch {
		case e.IsDir() && (isOwn(top) || isShard(rel) && has[rel]):
			return fs.SkipDir
		case isOwn(top) || rel == shards.RepairName || has[rel] || e.IsDir() && below == top:
			return nil
		case e.IsDir():
			if err := os.RemoveAll(name); err != nil {
				return err
			}
			if err := durable.OS.SyncFolder(filepath.Dir(name)); err != nil {
				return err
			}
			return fs.SkipDir
		}
		return durable.Remove(durable.OS, name)
	})
}

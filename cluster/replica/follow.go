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
	Dir      string                // where the copy is kept; it may be missing
	Every    time.Duration         // between looks for a new generation; default 1 s
	Log      *slog.Logger          // default: discarded
	Progress func(done, all int64) // bytes of a generation, may be nil

	// Counts reports whether a generation that was listed is one of the collection, and not put by an
	// owner that was replaced. Default: what is in the bucket counts, until a later one replaces it.
	Counts func(context.Context, Name) (bool, error)

	// InForce is called with the generation that the folder is a copy of, when that is known and
	// whenever it changes; may be nil.
	InForce func(*Generation)
}

const (
	followEvery = time.Second
	copyTries   = 3 // of an object
)

// A Follower keeps a data folder equal to the newest generation of a bucket. Nobody else may write to
// the folder; processes that search it see each generation when it is whole.
type Follower struct {
	o     FollowerOptions
	lock  io.Closer
	state *state
	at    Name // of the generation in force; zero for none
	told  Name // that InForce was called with

	mu     sync.Mutex
	status FollowerStatus
}

// A FollowerStatus tells how old the copy is.
type FollowerStatus struct {
	Generation string    // in force; "" for none
	Made       time.Time // of the generation
	Freshness
	Bytes int64 // copied so far
}

// ErrOther says that a folder is no copy of a bucket's collection.
var ErrOther = errors.New("the folder holds another collection than the bucket")

// ErrSpread says that a folder is spread over several disks, which a copy cannot be.
var ErrSpread = errors.New("the data folder is spread over several disks, and cannot become a copy")

// NewFollower locks a folder. The error wraps [ErrOther] if it holds something else than a copy of
// the bucket's collection, or [ErrSpread], or is a *[datadir.BusyError].
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
	if o.InForce == nil {
		o.InForce = func(*Generation) {}
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
	case err != nil: // the bucket is away, and there is a copy
		o.Log.Warn("the bucket cannot be read; going on with the copy that there is", "error", err)
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
	if err := f.state.write(o.Dir); err != nil { // or what a kill leaves belongs to nothing
		return nil, errors.Join(err, lock.Close())
	}
	return f, nil
}

// Belongs returns an error that wraps [ErrOther] if a bucket holds a collection and a folder another
// one.
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

// belongs returns an error unless a folder is of a cluster, or empty.
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
// generation is damaged, the last whole one stays in force.
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

// Follow puts the newest generation in force, if it is not yet.
func (f *Follower) Follow(ctx context.Context) error {
	began := time.Now()
	err := f.follow(ctx)
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.status.note(ctx, began, err) && !errors.Is(err, ErrNoCluster) {
		f.o.Log.Warn("the copy is not brought up to date; trying again", "bucket", f.o.Bucket, "error", err)
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
		return f.tell(ctx)
	}
	newest := names[len(names)-1]
	if counts, err := f.o.Counts(ctx, newest); err != nil || !counts {
		return errors.Join(err, f.tell(ctx))
	}
	return f.Take(ctx, newest)
}

// tell calls InForce with the generation of a copy that was there before.
func (f *Follower) tell(ctx context.Context) error {
	if f.at == f.told {
		return nil
	}
	g, err := read(ctx, f.o.Bucket, f.at)
	if errors.Is(err, bucket.ErrNotExist) {
		return nil // a later one is there, or comes
	}
	if err == nil {
		f.o.InForce(g)
		f.told = f.at
	}
	return err
}

// Take puts a certain generation in force. Follow would put the newest one in force again.
func (f *Follower) Take(ctx context.Context, name Name) error {
	g, err := read(ctx, f.o.Bucket, name)
	if err == nil {
		err = f.apply(ctx, g, name)
	}
	if err != nil {
		return err
	}
	f.at, f.told = name, name
	f.mu.Lock()
	f.status.Generation, f.status.Made = name.String(), g.Made
	f.mu.Unlock()
	f.o.InForce(g)
	return nil
}

// Detach unlocks the folder and makes it one of its own, which is no copy any more.
func (f *Follower) Detach() error {
	return errors.Join(os.RemoveAll(datadir.Cluster(f.o.Dir)), f.Close())
}

// apply makes the folder what a generation says. Each step leaves a state that a crash of the owner
// could have left, and that readers understand: first files that the present MANIFEST does not name,
// and what the files of the repository have grown by; then the document index, which knows everything
// that is indexed; then the MANIFEST; and what is not named any more is deleted last. Files of a
// folder that had another owner since wait beside it until all is copied. If it is another folder
// altogether, its VERSION comes first: until the MANIFEST is there, readers find that the two do not
// belong together, and the next call of apply goes on from there.
//
// Of shards this holds for each. Searches understand it if some are newer than others, as beside a
// crawl. What the parcels between them say does not fit then, so no crawl may go on from there: the
// folder is marked as one under repair.
func (f *Follower) apply(ctx context.Context, g *Generation, name Name) error {
	if err := f.copyAll(ctx, g); err != nil {
		return errors.Join(err, f.state.write(f.o.Dir)) // what is here is not copied again
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
	return f.state.write(f.o.Dir)
}

// replaceFolder puts the files of a data folder of a generation in force, and deletes the others.
func (f *Follower) replaceFolder(g *Generation, folder string) error {
	dir := filepath.Join(f.o.Dir, folder)
	if err := datadir.MakeFolders(dir); err != nil {
		return err
	}
	return datadir.WithManifest(dir, func() error {
		for _, install := range []func() error{
			func() error { return f.install(g, folder, is(datadir.VersionName)) },
			func() error { return f.install(g, folder, not(datadir.ManifestName)) },
			func() error { return f.replaceDocIndex(folder) },
			func() error { return f.install(g, folder, is(datadir.ManifestName)) },
			func() error { return f.sweep(g, folder) },
		} {
			if err := install(); err != nil {
				return err
			}
		}
		return nil
	})
}

func is(name string) func(string) bool  { return func(path string) bool { return path == name } }
func not(name string) func(string) bool { return func(path string) bool { return path != name } }

// replaceBetween puts the files in force that are of no shard, and deletes the others. With SHARDS the
// folder can be searched.
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

// Folders of what is copied and not in force yet.
func (f *Follower) incoming() string { return filepath.Join(datadir.Cluster(f.o.Dir), "incoming") }

// copyAll copies the files that the folder does not have. Those that are replaced go to the folder of
// what is not in force.
func (f *Follower) copyAll(ctx context.Context, g *Generation) error {
	if err := os.RemoveAll(f.incoming()); err != nil {
		return err
	}
	for _, folder := range g.dataFolders() {
		if err := durable.MkdirAll(durable.OS, filepath.Join(f.incoming(), folder, datadir.DocIndexName)); err != nil {
			return err
		}
	}
	c := &copying{f: f, all: g.Size(), files: map[string]*held{}, waits: map[string]bool{}}
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(transfers)
	for i := range g.Files {
		file := &g.Files[i]
		group.Go(func() error { return c.file(ctx, file) })
	}
	if err := group.Wait(); err != nil {
		for path, h := range c.files {
			if !c.waits[path] {
				f.state.Files[path] = h
			}
		}
		return err
	}
	f.state.Files = c.files
	return nil
}

// A copying copies the files of one generation.
type copying struct {
	f   *Follower
	all int64 // bytes of the generation

	mu    sync.Mutex
	files map[string]*held
	waits map[string]bool // files that are incoming
	done  int64           // bytes of the generation that are here
}

// file makes sure that the folder has a file, in force or incoming.
func (c *copying) file(ctx context.Context, file *File) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	h, err := c.place(ctx, file)
	if err != nil {
		return fmt.Errorf("%s: %w", file.Path, err)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.files[file.Path] = h
	c.done += file.Size
	c.f.o.Progress(c.done, c.all)
	return nil
}

func (c *copying) place(ctx context.Context, file *File) (*held, error) {
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
			c.wait(file.Path) // the next document index shares it
			return known, vfs.LinkOrCopy(vfs.Default, final, to)
		}
	case same:
		return known, nil
	case intact && isAppended(file.Path) && known.Size <= file.Size:
		return c.extend(ctx, file, final, common(known.Parts, file.Parts))
	case err == nil: // of another owner: readers may have it open
		to = filepath.Join(c.f.incoming(), filepath.FromSlash(file.Path))
	}
	if to != final {
		c.wait(file.Path)
	}
	var begins []Part
	if intact {
		begins = common(known.Parts, file.Parts)
	}
	return c.write(ctx, file, to, final, begins)
}

// write writes a file to a path. Parts that the file in force begins with are read from it.
func (c *copying) write(ctx context.Context, file *File, to, final string, begins []Part) (*held, error) {
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
		var content []byte
		if i < len(begins) {
			content = partOf(final, at, part)
		}
		if content != nil {
			err = write(content)
		} else {
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
	return heldAt(to, file)
}

// partOf returns a part of a file from an offset, nil if the file does not have it.
func partOf(path string, at int64, part Part) []byte {
	f, err := os.Open(path)
	if err != nil {
		return nil
	}
	defer f.Close()
	content := make([]byte, part.Size)
	if _, err := f.ReadAt(content, at); err != nil || sha256.Sum256(content) != part.Sum {
		return nil
	}
	return content
}

// wait notes that a file is incoming.
func (c *copying) wait(path string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.waits[path] = true
}

// heldAt returns what is known of a file that was written now.
func heldAt(path string, file *File) (*held, error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, err
	}
	return &held{Size: info.Size(), Changed: info.ModTime().UnixNano(), Parts: file.Parts}, nil
}

// common returns the first parts that a and b have in common.
func common(a, b []Part) []Part {
	for i := range min(len(a), len(b)) {
		if a[i] != b[i] {
			return b[:i]
		}
	}
	return b[:min(len(a), len(b))]
}

// extend writes a file of the repository behind the parts that it has. Readers may have it open:
// what they read of it does not change, because the owner only appends to it.
func (c *copying) extend(ctx context.Context, file *File, path string, parts []Part) (*held, error) {
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
	return heldAt(path, file)
}

// part calls use with the verified content of a part.
func (c *copying) part(ctx context.Context, file *File, part Part, use func([]byte) error) error {
	var err error
	for try := 0; try < copyTries; try++ {
		var content []byte
		content, err = fetch(ctx, c.f.o.Bucket, part)
		if err == nil {
			c.f.mu.Lock()
			c.f.status.Bytes += part.Size
			c.f.mu.Unlock()
			return use(content)
		}
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

// fetch returns the content of a part.
func fetch(ctx context.Context, b bucket.Bucket, part Part) ([]byte, error) {
	name := part.Sum.object()
	r, err := b.Get(ctx, name, 0, -1)
	if errors.Is(err, bucket.ErrNotExist) {
		return nil, &DamageError{name, "", err}
	}
	if err != nil {
		return nil, err
	}
	defer r.Close()
	content := make([]byte, part.Size)
	if _, err := io.ReadFull(r, content); err != nil {
		if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
			return nil, &DamageError{name, "", errors.New("it is too short")}
		}
		return nil, err
	}
	if n, _ := io.CopyN(io.Discard, r, 1); n > 0 {
		return nil, &DamageError{name, "", errors.New("it is too long")}
	}
	if sha256.Sum256(content) != part.Sum {
		return nil, &DamageError{name, "", errSum}
	}
	return content, nil
}

// replaceDocIndex puts the incoming document index of a data folder in force.
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

// install puts certain incoming files of a shard, or those of none, in force, but for those of the
// document index.
func (f *Follower) install(g *Generation, folder string, choose func(below string) bool) error {
	for i := range g.Files {
		p := g.Files[i].Path
		if shard, below := within(p); shard != folder || isOfDocIndex(p) || !choose(below) {
			continue
		}
		from := filepath.Join(f.incoming(), filepath.FromSlash(p))
		if _, err := os.Stat(from); isMissing(err) {
			continue // in force already
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

// sweep deletes the files of a shard, or those of none, that a generation does not have.
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

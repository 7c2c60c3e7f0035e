package replica

import (
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"

	"anatomy/cluster/bucket"
	"anatomy/disk/datadir"
	"anatomy/disk/durable"
	"anatomy/disk/shards"
	"anatomy/disk/snapshot"
)

// PublisherOptions configure a Publisher.
type PublisherOptions struct {
	Bucket  bucket.Bucket
	Cluster string // ID of the bucket
	Dir     string // the data folder, or the folder of shards
	By      string // see Generation
	Epoch   uint64
	Owner   string // see Name

	// Snapshot makes a copy of the data folder and deletes it after use has returned.
	Snapshot func(ctx context.Context, use func(*snapshot.Snapshot) error) error

	// Fence returns an error that wraps ErrReplaced if another machine has become the owner. It is
	// called after the last object of a generation is put, and before the generation itself.
	Fence func(ctx context.Context) error

	// State identifies the state of the folder; it is "" while that is not known, and then nothing
	// is published. Default: names, sizes and times of the files.
	State func() string

	// Changes, used if State is nil, identifies the state of the document index while a crawl writes
	// it: a snapshot of an open index changes its files, so that each would look like a new state. It
	// returns "" while no crawl runs; then the files identify the state. Default: "".
	Changes func(context.Context) string

	// Received returns Generation.Received for the last copy made by Snapshot; may be nil.
	Received func() []uint64

	// OnCurrent is called with each valid generation, after Fence has confirmed that this machine is
	// still the owner; may be nil.
	OnCurrent func(*Generation)

	Every time.Duration // interval between generations; default 5 s
	Log   *slog.Logger  // default: discarded
}

const (
	publishEvery = 5 * time.Second
	publishLate  = time.Minute // time to publish the last generation after ctx has ended
	transfers    = 4           // concurrent uploads

	// publishShare bounds the time spent on generations, which every node copies: the pause between
	// two of them is publishShare times as long as one took, up to publishSlow.
	publishShare = 30
	publishSlow  = 15 * time.Second
)

// A Publisher publishes the generations of a data folder. No other process may write to the folder.
type Publisher struct {
	o         PublisherOptions
	state     *state
	fresh     bool         // this Publisher has published nothing yet
	has       map[Sum]bool // objects that generations in the bucket refer to
	number    uint64       // number of the last generation
	signature string       // of the folder at the last snapshot
	collected time.Time

	mu     sync.Mutex
	status PublisherStatus
}

// A Freshness records when a folder and the bucket last had the same state.
type Freshness struct {
	Checked time.Time
	Failing string // why not since then; "" if the last attempt succeeded
}

// record stores the result of an attempt that started at began. It reports whether this is the
// first of successive failures.
func (s *Freshness) record(ctx context.Context, began time.Time, err error) (first bool) {
	switch {
	case err == nil:
		s.Checked, s.Failing = began, ""
	case ctx.Err() == nil:
		first, s.Failing = s.Failing == "", err.Error()
	}
	return first
}

// A PublisherStatus is the difference between the bucket and the folder.
type PublisherStatus struct {
	Generation string // last published; "" for none
	Freshness
	Objects int64 // objects put so far
	Bytes   int64 // bytes of these objects
}

// NewPublisher returns a Publisher for a folder. The latest generation in the bucket, if any, must
// have been published from the folder or copied to it.
func NewPublisher(ctx context.Context, o PublisherOptions) (*Publisher, error) {
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	if o.Every == 0 {
		o.Every = publishEvery
	}
	if o.Changes == nil {
		o.Changes = func(context.Context) string { return "" }
	}
	p := &Publisher{o: o, state: readState(o.Dir), fresh: true, has: map[Sum]bool{}}
	if p.state.Cluster != o.Cluster {
		p.state = &state{Cluster: o.Cluster, Files: map[string]*knownFile{}}
		if err := p.state.write(o.Dir); err != nil {
			return nil, err
		}
	}
	newest, g, err := Latest(ctx, o.Bucket)
	if err != nil {
		return nil, err
	}
	if p.number = newest.Number; g != nil {
		err = p.recordObjects(ctx, g)
	}
	return p, err
}

// recordObjects records the objects of a generation that the bucket has in their full size.
func (p *Publisher) recordObjects(ctx context.Context, g *Generation) error {
	sizes := map[Sum]int64{}
	for i := range g.Files {
		for _, part := range g.Files[i].Parts {
			sizes[part.Sum] = part.Size
		}
	}
	for o, err := range p.o.Bucket.List(ctx, objectsPrefix, "") {
		if err != nil {
			return err
		}
		if sum, ok := parseObject(o.Name); ok && sizes[sum] == o.Size {
			p.has[sum] = true
		}
	}
	return nil
}

// Status returns the state of the bucket.
func (p *Publisher) Status() PublisherStatus {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.status
}

// Run publishes the folder whenever it has changed, and once more when ctx ends. It retries while
// the bucket cannot be reached. Its error wraps [ErrReplaced], or means that the last state is not
// in the bucket.
func (p *Publisher) Run(ctx context.Context) error {
	pause := p.o.Every
	for {
		select {
		case <-ctx.Done():
			late, cancel := context.WithTimeout(context.WithoutCancel(ctx), publishLate)
			defer cancel()
			return p.Publish(late)
		case <-time.After(pause):
		}
		began := time.Now()
		if err := p.Publish(ctx); errors.Is(err, ErrReplaced) {
			return err
		}
		pause = pauseAfter(p.o.Every, time.Since(began))
	}
}

// pauseAfter returns the pause between two generations, given the least one, and how long one took.
func pauseAfter(every, took time.Duration) time.Duration {
	return max(every, min(publishShare*took, publishSlow))
}

// ErrReplaced is the error of an owner that another machine has replaced.
var ErrReplaced = errors.New("the owner was replaced")

// Publish publishes the folder if it has changed.
func (p *Publisher) Publish(ctx context.Context) error {
	began := time.Now()
	err := p.publish(ctx)
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.status.record(ctx, began, err) {
		p.o.Log.Warn("cannot copy the data folder to the bucket; trying again", "bucket", p.o.Bucket, "error", err)
	}
	if err == nil {
		return nil
	}
	return fmt.Errorf("publish: %w", err)
}

func (p *Publisher) publish(ctx context.Context) error {
	dirs, err := shards.Folders(p.o.Dir)
	if err != nil {
		return err
	}
	if _, err := os.Stat(datadir.DocIndex(dirs[0])); isMissing(err) {
		return nil // the folder does not exist yet
	}
	if shards.IsUnderRepair(p.o.Dir) {
		return errors.New("the shards of the folder are inconsistent: they are of several generations, or under repair")
	}
	if time.Since(p.collected) > collectEvery {
		p.collected = time.Now()
		if err := p.collect(ctx); err != nil {
			p.o.Log.Warn("cannot delete old objects of the bucket; trying again later", "error", err)
		}
	}
	signature, err := p.stateNow(ctx, dirs)
	if err != nil || signature == p.signature {
		return err
	}
	err = p.o.Snapshot(ctx, func(s *snapshot.Snapshot) error { return p.upload(ctx, s) })
	if err != nil {
		return err
	}
	if p.signature, err = p.stateNow(ctx, dirs); err != nil || p.signature != signature {
		p.signature = "" // it changed meanwhile, or the snapshot changed it
	}
	return err
}

// stateNow identifies the state of the folder, or of the shards dirs.
func (p *Publisher) stateNow(ctx context.Context, dirs []string) (string, error) {
	if p.o.State != nil {
		return p.o.State(), nil
	}
	changes := p.o.Changes(ctx)
	signature, err := signatureOf(p.o.Dir, dirs, changes == "")
	return changes + signature, err
}

// emptyLog is the size in bytes of a log of the document index without records.
const emptyLog = 64

// changesWith reports whether a change of a file means that the data folder has changed. In the
// document index that applies to tables, and for logs with records; the other files are rewritten on
// each open.
func changesWith(dir, folder string, info fs.FileInfo) bool {
	switch {
	case folder == dir:
		return !info.IsDir() && !isOwn(info.Name())
	case folder == datadir.DocIndex(dir):
		extension := filepath.Ext(info.Name())
		return extension == ".sst" || extension == ".log" && info.Size() > emptyLog
	}
	return true
}

// signatureOf returns names, sizes and times of the files that change with a data folder, or with
// the shards dirs of a folder. Those of the document index are included if docIndex is set.
func signatureOf(dir string, dirs []string, docIndex bool) (signature string, err error) {
	if dirs[0] != dir {
		boxes, _ := datadir.Glob(shards.Parcels(dir), "*") // none yet, or a folder for each shard
		signature, err = signatureIn(dir, append(boxes, dir))
	}
	for _, folder := range dirs {
		subs := []string{folder, datadir.Repository(folder)}
		if docIndex {
			subs = append(subs, datadir.DocIndex(folder))
		}
		disks, failed := datadir.ReadDisks(durable.OS, folder)
		for _, d := range disks {
			subs = append(subs, d.Repository())
		}
		more, missing := signatureIn(folder, subs)
		signature, err = signature+more, errors.Join(err, failed, missing)
	}
	return signature, err
}

// signatureIn returns the signature of folders of the data folder dir.
func signatureIn(dir string, subs []string) (string, error) {
	var b bytes.Buffer
	for _, sub := range subs {
		entries, err := os.ReadDir(sub)
		if err != nil {
			return "", err
		}
		for _, e := range entries {
			info, err := e.Info()
			if isMissing(err) || err == nil && !changesWith(dir, sub, info) {
				continue
			} else if err != nil {
				return "", err
			}
			fmt.Fprintln(&b, e.Name(), info.Size(), info.ModTime().UnixNano())
		}
	}
	return b.String(), nil
}

// upload puts the missing objects of a snapshot, then its generation.
func (p *Publisher) upload(ctx context.Context, s *snapshot.Snapshot) error {
	if id, err := Identify(ctx, p.o.Bucket); err != nil {
		return err
	} else if id.ID != p.o.Cluster { // such as the mount point of an unmounted share
		return fmt.Errorf("%s now holds another collection", p.o.Bucket)
	}
	g := &Generation{Format: Format, Made: time.Now().UTC().Truncate(time.Second), By: p.o.By, End: s.End}
	files, err := p.files(ctx, s)
	if len(s.Ends) > 0 {
		g.Format = shardsFormat
	} else if err == nil {
		g.Folder, err = datadir.ReadID(s.Folder)
	}
	if err != nil {
		return err
	}
	for _, path := range slices.Sorted(maps.Keys(files)) {
		g.Files = append(g.Files, File{path, files[path].Size, files[path].Parts})
	}
	if p.o.Received != nil {
		g.Received = p.o.Received()
	}
	if err := p.o.Fence(ctx); err != nil {
		return err
	}
	name, err := p.put(ctx, g)
	if err != nil {
		return err
	}
	p.state = &state{Generation: name.String(), Made: g.Made, Cluster: p.o.Cluster, Files: files}
	p.fresh = false
	p.mu.Lock()
	p.status.Generation = p.state.Generation
	p.mu.Unlock()
	if err := p.state.write(p.o.Dir); err != nil || p.o.OnCurrent == nil {
		return err
	}
	if err := p.o.Fence(ctx); err != nil {
		return err // the next attempt puts it again
	}
	p.o.OnCurrent(g)
	return nil
}

// put puts a generation whose objects all exist.
func (p *Publisher) put(ctx context.Context, g *Generation) (Name, error) {
	b, err := encode(g)
	if err != nil {
		return Name{}, err
	}
	p.number++
	name := Name{p.o.Epoch, p.o.Owner, p.number, sha256.Sum256(b)}
	return name, p.o.Bucket.Put(ctx, name.String(), bytes.NewReader(b), int64(len(b)))
}

// files puts the files of a snapshot and returns them by path.
func (p *Publisher) files(ctx context.Context, s *snapshot.Snapshot) (map[string]*knownFile, error) {
	files := map[string]*knownFile{}
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(transfers)
	err := filepath.WalkDir(s.Folder, func(path string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() {
			return err
		}
		below, err := filepath.Rel(s.Folder, path)
		if err != nil {
			return err
		}
		below = filepath.ToSlash(below)
		info, err := os.Stat(path) // os.Stat, because files on other disks are symbolic links
		if err != nil {
			return err
		}
		size := s.SizeOf(below, info.Size())
		if size < 0 || !isLocal(below) {
			return nil
		}
		h := &knownFile{Size: size, Changed: info.ModTime().UnixNano()}
		files[below] = h
		if before := p.state.Files[below]; before.isSame(info, size) && p.hasAll(before.Parts) {
			h.Parts = before.Parts
			return nil
		}
		group.Go(func() error { return p.file(ctx, path, below, h) })
		return ctx.Err()
	})
	return files, errors.Join(group.Wait(), err)
}

func (p *Publisher) hasAll(parts []Part) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return !slices.ContainsFunc(parts, func(part Part) bool { return !p.has[part.Sum] })
}

// file puts the parts of a file that the bucket does not have, and sets h.Parts. If the file has
// grown, the first parts are kept.
func (p *Publisher) file(ctx context.Context, path, below string, h *knownFile) error {
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	defer f.Close()
	before := p.state.Files[below]
	if before != nil && before.Size < h.Size && !p.fresh && isAppended(below) {
		h.Parts = slices.Clone(keptParts(before.Parts, h.Size))
	}
	for at := sizeOf(h.Parts); at < h.Size; {
		part := Part{Size: min(maxPart, h.Size-at)}
		content := io.NewSectionReader(f, at, part.Size)
		if part.Sum, err = sumOf(content); err == nil {
			err = p.object(ctx, part, content)
		}
		if err != nil {
			return fmt.Errorf("%s: %w", below, err)
		}
		h.Parts = append(h.Parts, part)
		at += part.Size
	}
	return nil
}

// keptParts returns the leading parts of a file that are kept when it grows to size bytes. The last
// parts are replaced while they are no longer than the data after them. So the size of small parts
// at least halves from one to the next, and a byte is uploaded once per level.
func keptParts(parts []Part, size int64) []Part {
	rest := size - sizeOf(parts)
	for n := len(parts); n > 0 && parts[n-1].Size <= rest && parts[n-1].Size < maxPart; n-- {
		rest += parts[n-1].Size
		parts = parts[:n-1]
	}
	return parts
}

func sizeOf(parts []Part) (size int64) {
	for _, p := range parts {
		size += p.Size
	}
	return size
}

func sumOf(r io.Reader) (s Sum, err error) {
	h := sha256.New()
	_, err = io.Copy(h, r)
	h.Sum(s[:0])
	return s, err
}

// object puts an object unless the bucket has it.
func (p *Publisher) object(ctx context.Context, part Part, content io.ReaderAt) error {
	p.mu.Lock()
	has := p.has[part.Sum]
	p.mu.Unlock()
	if has {
		return nil
	}
	if err := p.o.Bucket.Put(ctx, part.Sum.object(), content, part.Size); err != nil {
		return err
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.has[part.Sum] = true
	p.status.Objects++
	p.status.Bytes += part.Size
	return nil
}

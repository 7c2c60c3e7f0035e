package upkeep

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"

	"anatomy/disk/datadir"
	"anatomy/disk/docindex"
	"anatomy/disk/durable"
	"anatomy/disk/parcel"
	"anatomy/disk/shards"
	"anatomy/engine"
	"anatomy/engine/collective"
	"anatomy/urlserver"
)

// A shardRepair repairs a folder of shards. Each data folder is repaired like a single one. A
// damaged index has links of other shards' pages, so all indexes are rebuilt: each shard sends the
// others their part of its links again, in parcels after the pending ones. So a damaged or missing
// parcel is replaced by an empty one, and damaged mentions are dropped.
type shardRepair struct {
	dir     string
	m       *shards.Map
	o       RepairOptions
	r       CheckReport
	found   []*findings // by shard
	rebuild bool        // indexes, links and ranks are to be rebuilt
	report  *RepairReport
}

// repairShards is Repair for a folder of shards.
func repairShards(ctx context.Context, dir string, o RepairOptions, r CheckReport, report *RepairReport) error {
	m, err := shards.Read(dir)
	if err == nil {
		err = shards.RefuseDivided(dir)
	}
	if err != nil {
		return err
	}
	found := 0
	first := CheckReport{Checked: r.Checked, Problem: func(error) { found++ }}
	if err := Check(ctx, dir, first); err != nil || found == 0 {
		return err
	}
	r.Checked = func(string, string) {}
	s := &shardRepair{dir: dir, m: m, o: o, r: r, rebuild: shards.IsUnderRepair(dir), report: report}
	if err := s.checkPresent(); err != nil {
		return err
	}
	for _, step := range []func(context.Context) error{s.begin, s.repositories} {
		if err := errors.Join(step(ctx), ctx.Err()); err != nil {
			return err
		}
	}
	for _, f := range s.found {
		report.Problems += f.problems
	}
	if s.rebuild {
		if _, err := Rebuild(ctx, dir, RebuildOptions{Log: o.Log, PDF: o.PDF}); err != nil {
			return err
		}
		report.Rebuilt = true
	}
	if err := shards.EndRepair(dir); err != nil {
		return err
	}
	report.Problems = max(report.Problems, 1) // an interrupted repair
	rest := CheckReport{Checked: r.Checked, Problem: func(problem error) { report.Remain++; r.Problem(problem) }}
	return Check(ctx, dir, rest)
}

// checkPresent fails if there is nothing of a shard, as before its disk is mounted. A repair would be of
// no use, and if it began, the folder could not be used afterwards.
func (s *shardRepair) checkPresent() error {
	for i := range s.m.Folders {
		folder := shards.Folder(s.dir, i)
		if err := datadir.CheckVersion(folder); errors.Is(err, datadir.ErrNone) && !datadir.IsUsed(folder) {
			return fmt.Errorf("shard %d of %d: %w", i, len(s.m.Folders), err)
		}
	}
	return nil
}

// begin makes the repairs that need no open crawl. No crawl runs meanwhile; later crawls refuse a
// folder whose repair is unfinished.
func (s *shardRepair) begin(ctx context.Context) (err error) {
	lock, err := datadir.Lock(s.dir)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, lock.Close()) }()
	for _, step := range []func(context.Context) error{
		func(context.Context) error { return shards.BeginRepair(s.dir) }, s.structures, s.between,
	} {
		if err := errors.Join(step(ctx), ctx.Err()); err != nil {
			return err
		}
	}
	return nil
}

// structures repairs the structures of each shard.
func (s *shardRepair) structures(ctx context.Context) error {
	for i := range s.m.Folders {
		folder, f, one := shards.Folder(s.dir, i), &findings{files: map[uint32]bool{}}, RepairReport{}
		s.found = append(s.found, f)
		r := s.r.ofShard(i)
		if err := repairVersion(folder, f, r); err != nil {
			return fmt.Errorf("shard %d: %w", i, err)
		}
		if err := repairStructures(ctx, folder, f, r, &one); err != nil && !isNew(err, folder) {
			return fmt.Errorf("shard %d: %w", i, err)
		}
		if one.Salvaged != nil {
			s.report.Salvaged = one.Salvaged.plus(s.report.Salvaged)
			s.rebuild = true // it may have lost its unsent links
			if err := s.receive(i); err != nil {
				return fmt.Errorf("shard %d: %w", i, err)
			}
		}
		s.rebuild = s.rebuild || f.index
	}
	_, err := shards.Folders(s.dir)
	return err
}

// receive restores in a rebuilt document index the numbers of the applied parcels: all parcels
// before the existing ones have been applied.
func (s *shardRepair) receive(shard int) (err error) {
	folder := shards.Folder(s.dir, shard)
	numbers := received(folder, len(s.m.Folders))
	ids, err := s.post().List(shard)
	if err != nil {
		return err
	}
	oldest := slices.Repeat([]uint64{0}, len(numbers))
	for _, id := range ids {
		if id.From < len(oldest) && (oldest[id.From] == 0 || id.Number < oldest[id.From]) {
			oldest[id.From] = id.Number
		}
	}
	for from, n := range oldest {
		numbers[from] = max(numbers[from], max(n, 1)-1)
	}
	w, err := datadir.OpenShard(folder)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, w.Close()) }()
	db, err := docindex.OpenFolder(w, docindex.Options{})
	if err != nil {
		return err
	}
	b := db.NewBatch()
	urlserver.PutReceivedParcels(b, numbers)
	return errors.Join(b.Commit(), db.Close())
}

func (s *shardRepair) post() *parcel.Folder {
	return parcel.NewFolder(durable.OS, shards.Parcels(s.dir))
}

// between repairs the data that shards have about one another.
func (s *shardRepair) between(context.Context) error {
	dirs, err := shards.Folders(s.dir)
	if err != nil {
		return err
	}
	r := CheckReport{Checked: s.r.Checked, Problem: func(err error) {
		s.report.Problems++
		s.rebuild = true
		s.r.Problem(err)
	}}
	var bad []parcel.ID
	between := sent{}
	between.readKnown(dirs)
	if err := between.checkParcels(s.dir, dirs, r, func(id parcel.ID) { bad = append(bad, id) }); err != nil {
		return err
	}
	for _, id := range bad {
		err = errors.Join(err, s.post().Replace(id))
	}
	before := s.report.Problems
	if err := errors.Join(err, checkForeign(s.dir, dirs, s.m, &between, r)); err != nil {
		return err
	}
	if s.report.Problems > before {
		for i := range dirs {
			err = errors.Join(err, shards.ForgetMentions(s.dir, i))
		}
	}
	return err
}

// repositories gives up the lost pages of the repositories. It first sets aside indexes that have
// such pages or cannot be opened.
func (s *shardRepair) repositories(ctx context.Context) error {
	damaged := func(f *findings) bool { return len(f.lost)+len(f.files) > 0 }
	if !slices.ContainsFunc(s.found, damaged) {
		return nil
	}
	s.rebuild = true
	for i, f := range s.found {
		if damaged(f) || f.index {
			if err := withoutIndex(shards.Folder(s.dir, i)); err != nil {
				return err
			}
		}
	}
	o := engine.Options{Log: s.o.Log, PDF: s.o.PDF, NoIndex: true}
	return collective.Maintain(ctx, s.dir, o, func(ctx context.Context, shard int, c *engine.Crawl) error {
		f := s.found[shard]
		if !damaged(f) {
			return nil
		}
		lost, files, err := c.DropDamage(ctx, f.lost, slices.Sorted(maps.Keys(f.files)))
		s.report.Lost, s.report.Files = append(s.report.Lost, lost...), s.report.Files+files
		return err
	})
}

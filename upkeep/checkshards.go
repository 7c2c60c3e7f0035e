package upkeep

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"anatomy/disk/datadir"
	"anatomy/disk/docindex"
	"anatomy/disk/durable"
	"anatomy/disk/parcel"
	"anatomy/disk/shards"
	"anatomy/engine/collective"
	"anatomy/urlserver"
	"anatomy/vocab"
	"anatomy/weburl"
)

// checkShards checks each shard and the parcels between them. It checks that each shard has the
// documents of its sites, and that the documents of other shards that it mentions exist there.
func checkShards(ctx context.Context, dir string, m *shards.Map, r CheckReport) error {
	if shards.IsUnderRepair(dir) {
		r.Problem(errors.New("shards: a repair was interrupted"))
	}
	dirs, err := shards.Folders(dir)
	if err != nil {
		r.Problem(err)
		return nil
	}
	if m.Suffixes != weburl.Suffixes() {
		again := "make the folder again with \"anatomy split\""
		if shards.IsLive(dir) {
			again = "crawl with the program that wrote it"
		}
		r.Problem(fmt.Errorf("shards: %w; %s", &collective.SuffixError{Have: m.Suffixes}, again))
	}
	for i, dir := range dirs {
		if err := checkFolder(ctx, dir, r.ofShard(i)); err != nil && !isNew(err, dir) {
			return err
		}
	}
	return checkBetween(dir, dirs, m, r)
}

// ofShard returns the report for one of several shards.
func (r CheckReport) ofShard(shard int) CheckReport {
	name := fmt.Sprintf("shard %d: ", shard)
	return CheckReport{
		Checked: func(structure, found string) { r.Checked(name+structure, found) },
		Problem: func(err error) { r.Problem(fmt.Errorf("%s%w", name, err)) },
	}
}

// checkBetween checks the data that shards have about one another.
func checkBetween(dir string, dirs []string, m *shards.Map, r CheckReport) error {
	s := sent{}
	switch {
	case shards.IsDivided(dir): // its shards are of different times
		s.known, s.waiting, s.divided = make([]vocab.DocID, len(dirs)), make([]int, len(dirs)), true
	case shards.IsLive(dir):
		s.readKnown(dirs)
		if err := s.checkParcels(dir, dirs, r, func(parcel.ID) {}); err != nil {
			return err
		}
	}
	return checkForeign(dir, dirs, m, &s, r)
}

// sent describes what shards have sent one another. A document that a shard mentions must be known
// in its own shard if it was known here when the manifest was published, and no parcel is in
// flight. Files are read in that order, because a crawl may be running.
type sent struct {
	known   []vocab.DocID // by shard: last document of the manifest; nil for shards made by a split
	waiting []int         // number of pending parcels, by receiver
	divided bool          // the shards are copies of different times
}

// readKnown reads the manifests.
func (s *sent) readKnown(dirs []string) {
	s.known = make([]vocab.DocID, len(dirs))
	for i, dir := range dirs {
		if m, err := datadir.ReadManifest(dir); err == nil { // the check of the shard reports other errors
			s.known[i] = m.Known
		}
	}
}

// isMentioned reports whether the shard of a document must know that another shard mentions it.
func (s *sent) isMentioned(shard int, doc vocab.DocID, of int) bool {
	return doc <= s.known[shard] && s.waiting[of] == 0
}

// checkParcels reads all parcels, and calls bad with the damaged or missing ones.
func (s *sent) checkParcels(dir string, dirs []string, r CheckReport, bad func(parcel.ID)) error {
	s.waiting = make([]int, len(dirs))
	post, sum := parcel.NewFolder(durable.OS, shards.Parcels(dir)), 0
	for to, folder := range dirs {
		var problems []func()
		for range checkTries {
			problems = nil
			applied := received(folder, len(dirs))
			var err error
			s.waiting[to], err = parcel.Check(post, to, applied, func(id parcel.ID, err error) {
				problems = append(problems, func() { bad(id); r.Problem(err) })
			})
			if err != nil {
				return err
			}
			if slices.Equal(applied, received(folder, len(dirs))) {
				break // no crawl applied and deleted parcels meanwhile
			}
		}
		for _, report := range problems {
			report()
		}
		sum += s.waiting[to]
	}
	r.Checked("parcels", fmt.Sprintf("%d wait to be applied", sum))
	return nil
}

// received returns the number of the last parcel that a shard has applied, by sender. The numbers
// are zero if the shard is new or cannot be read; the check of the shard reports the latter.
func received(folder string, n int) []uint64 {
	numbers := make([]uint64, n)
	docindex.Read(folder, func(db *docindex.DB) error {
		found, err := urlserver.ReceivedParcels(db, n)
		copy(numbers, found)
		return err
	})
	return numbers
}

// checkForeign compares the documents that shards mention with the documents of their shards.
func checkForeign(dir string, dirs []string, m *shards.Map, s *sent, r CheckReport) error {
	all, err := shards.ReadForeign(dir, len(dirs))
	if err != nil {
		r.Problem(err)
		return nil
	}
	own := make([]map[vocab.DocID]vocab.Fingerprint, len(dirs))
	for i := range own {
		own[i] = map[vocab.DocID]vocab.Fingerprint{}
	}
	if err := eachFingerprint(dirs, func(shard int, doc vocab.DocID, u *weburl.URL) {
		own[shard][doc] = u.Fingerprint()
	}); err != nil {
		return err
	}
	mentioned, unsent := 0, 0
	live := s.known != nil
	err = eachFingerprint(dirs, func(shard int, doc vocab.DocID, u *weburl.URL) {
		of, inner := all[shard].Outer(shard, doc).Shard()
		mentioned++
		isOwn := all[shard].IsOwn(doc)
		if live && isOwn && m.Of(u) != shard && !s.isMentioned(shard, doc, m.Of(u)) {
			unsent++ // the next crawl sends it to its shard
			return
		}
		if _, isThere := own[of][inner]; s.divided && !isThere {
			unsent++ // the copy of that shard is older
			return
		}
		if isOwn != (of == shard) || of != m.Of(u) || own[of][inner] != u.Fingerprint() {
			r.Problem(fmt.Errorf("shards: document %d of shard %d (%s) is not document %d of shard %d",
				doc, shard, u, inner, of))
		}
	})
	said := fmt.Sprintf("%d documents are in their shards or mentioned by others", mentioned)
	if unsent > 0 {
		said += fmt.Sprintf("; their shards do not know %d until the crawl goes on", unsent)
	}
	r.Checked("shards", said)
	return err
}

// eachFingerprint calls fn with each document of all shards and its URL.
func eachFingerprint(dirs []string, fn func(shard int, doc vocab.DocID, u *weburl.URL)) error {
	for i, dir := range dirs {
		err := docindex.Read(dir, func(db *docindex.DB) error {
			return db.Each(1, func(r docindex.Record) error {
				if u, err := weburl.Parse(r.URL); err == nil { // the check of the shard reports other URLs
					fn(i, r.Doc, &u)
				}
				return nil
			})
		})
		unreadable := errors.Is(err, docindex.ErrUnreadable) || errors.As(err, new(*datadir.MismatchError))
		if err != nil && !unreadable && !isNew(err, dir) { // the check of the shard reports that
			return err
		}
	}
	return nil
}

// isNew reports whether an error means that a crawl created a shard and ended before it stored
// anything.
func isNew(err error, shard string) bool {
	return errors.Is(err, datadir.ErrNone) && datadir.CheckVersion(shard) == nil
}

package upkeep

import (
	"context"
	"errors"
	"fmt"

	"anatomy/disk/datadir"
	"anatomy/disk/docindex"
	"anatomy/disk/shards"
	"anatomy/vocab"
	"anatomy/weburl"
)

// checkShards checks each shard, that it has the documents of its sites, and that the documents of
// others that it mentions are where it says.
func checkShards(ctx context.Context, dir string, m *shards.Map, r CheckReport) error {
	dirs, err := shards.Folders(dir)
	if err != nil {
		r.Problem(err)
		return nil
	}
	if list := weburl.Suffixes(); m.Suffixes != list {
		r.Problem(fmt.Errorf("shards: sites were determined by %q, and are now by %q; "+
			"make the folder again with \"anatomy split\"", m.Suffixes, list))
	}
	own := make([]map[vocab.DocID]vocab.Fingerprint, len(dirs))
	for i, dir := range dirs {
		name := fmt.Sprintf("shard %d: ", i)
		if err := checkFolder(ctx, dir, CheckReport{
			Checked: func(structure, found string) { r.Checked(name+structure, found) },
			Problem: func(err error) { r.Problem(fmt.Errorf("%s%w", name, err)) },
		}); err != nil && !isNew(err, dir) {
			return err
		}
		own[i] = map[vocab.DocID]vocab.Fingerprint{}
	}
	return errors.Join(
		eachFingerprint(dirs, func(shard int, doc vocab.DocID, u *weburl.URL) {
			own[shard][doc] = u.Fingerprint()
		}),
		checkForeign(dir, dirs, m, own, r),
	)
}

// checkForeign compares what shards mention with what the others have.
func checkForeign(
	dir string, dirs []string, m *shards.Map, own []map[vocab.DocID]vocab.Fingerprint, r CheckReport,
) error {
	all, err := shards.ReadForeign(dir, len(dirs))
	if err != nil {
		r.Problem(err)
		return nil
	}
	mentioned, unsent := 0, 0
	live := shards.IsLive(dir)
	err = eachFingerprint(dirs, func(shard int, doc vocab.DocID, u *weburl.URL) {
		of, inner := all[shard].Outer(shard, doc).Shard()
		mentioned++
		isOwn := all[shard].IsOwn(doc)
		if live && isOwn && m.Of(u) != shard {
			unsent++ // a crawl that goes on tells its shard
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

// eachFingerprint calls fn with the documents of all shards.
func eachFingerprint(dirs []string, fn func(shard int, doc vocab.DocID, u *weburl.URL)) error {
	for i, dir := range dirs {
		err := docindex.Read(dir, func(db *docindex.DB) error {
			return db.Each(1, func(r docindex.Record) error {
				if u, err := weburl.Parse(r.URL); err == nil { // the check of the shard names others
					fn(i, r.Doc, &u)
				}
				return nil
			})
		})
		if err != nil && !isNew(err, dir) {
			return err
		}
	}
	return nil
}

// isNew reports whether an error is that a crawl has made a shard and ended before it stored anything.
func isNew(err error, shard string) bool {
	return errors.Is(err, datadir.ErrNone) && datadir.CheckVersion(shard) == nil
}

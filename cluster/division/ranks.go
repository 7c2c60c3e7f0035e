package division

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path"
	"slices"
	"strings"

	"anatomy/cluster/bucket"
	"anatomy/disk/datadir"
	"anatomy/disk/shards"
)

// The vectors of one computation are objects in ranks/EPOCH-NUMBER/, with an index that is uploaded
// last. The epoch is that of the owner of shard 0. The newest two computations are kept.
const (
	ranksPrefix = "ranks/"
	rankIndex   = "index"
	maxVector   = 1 << 34 // bytes
)

// A vectorEntry is an entry of the index.
type vectorEntry struct {
	Shard int    `json:"shard"`
	Name  string `json:"name"` // name of the vector
	Size  int64  `json:"size"`
	Sum   string `json:"sum"` // SHA-256
}

// linksOf returns a string that identifies the state of the links of all shards, and the size of their links. The
// state has the mentions of documents too: a shard appends them after the links that need them, or without links.
func linksOf(dir string, n int) (state string, bytes int64, err error) {
	var b strings.Builder
	for shard := range n {
		folder := shards.Folder(dir, shard)
		m, err := datadir.ReadManifest(folder)
		if err != nil {
			return "", 0, err
		}
		mentions, err := shards.SizeOfMentions(dir, shard)
		if err != nil {
			return "", 0, err
		}
		fmt.Fprintln(&b, shard, m.Links, mentions)
		for _, name := range m.Links {
			info, err := os.Stat(datadir.Links(folder, name))
			if err != nil {
				return "", 0, err
			}
			bytes += info.Size()
		}
	}
	return b.String(), bytes, nil
}

// putRanks computes ranks and uploads them.
func putRanks(
	ctx context.Context, b bucket.Bucket, epoch uint64,
	compute func(ctx context.Context, put func(shard int, name string, content []byte) error) error,
) error {
	sets, err := rankSets(ctx, b)
	if err != nil {
		return err
	}
	number := uint64(1)
	if len(sets) > 0 {
		var before uint64
		if _, err := fmt.Sscanf(sets[len(sets)-1], ranksPrefix+"%x-%x/", &before, &number); err != nil {
			return err
		}
		number++
	}
	set := fmt.Sprintf("%s%016x-%016x/", ranksPrefix, epoch, number)
	var index []vectorEntry
	err = compute(ctx, func(shard int, name string, content []byte) error {
		sum := sha256.Sum256(content)
		index = append(index, vectorEntry{shard, name, int64(len(content)), hex.EncodeToString(sum[:])})
		return put(ctx, b, vectorName(set, shard, name), content)
	})
	if err != nil || len(index) == 0 {
		return err
	}
	content, err := json.Marshal(index)
	if err == nil {
		err = put(ctx, b, set+rankIndex, content)
	}
	if err != nil {
		return err
	}
	return deleteRanks(ctx, b, sets)
}

func vectorName(set string, shard int, name string) string {
	return fmt.Sprintf("%s%d-%s", set, shard, name)
}

// rankSets returns the complete computations, in ascending order.
func rankSets(ctx context.Context, b bucket.Bucket) (sets []string, err error) {
	for o, err := range b.List(ctx, ranksPrefix, "") {
		if err != nil {
			return nil, err
		}
		if set, name := path.Split(o.Name); name == rankIndex {
			sets = append(sets, set)
		}
	}
	return sets, nil
}

// deleteRanks deletes all computations in sets but the last two.
func deleteRanks(ctx context.Context, b bucket.Bucket, sets []string) error {
	if len(sets) == 0 {
		return nil
	}
	kept := sets[len(sets)-1]
	var old []string
	for o, err := range b.List(ctx, ranksPrefix, "") {
		if err != nil {
			return err
		}
		if o.Name < kept {
			old = append(old, o.Name)
		}
	}
	for _, name := range slices.Backward(old) { // the index first
		if err := b.Delete(ctx, name); err != nil {
			return err
		}
	}
	return nil
}

// installVectors makes the vectors of a shard current in its data folder.
func installVectors(ctx context.Context, b bucket.Bucket, set string, shard int, dir string) error {
	content, err := get(ctx, b, set+rankIndex)
	if err != nil {
		return err
	}
	var index []vectorEntry
	if err := json.Unmarshal(content, &index); err != nil {
		return fmt.Errorf("%s%s is damaged: %w", set, rankIndex, err)
	}
	for _, v := range index {
		if v.Shard != shard {
			continue
		}
		content, err := getVector(ctx, b, vectorName(set, shard, v.Name), &v)
		if err != nil {
			return err
		}
		if err := datadir.PublishRank(dir, v.Name, content); err != nil {
			return err
		}
	}
	return nil
}

func getVector(ctx context.Context, b bucket.Bucket, name string, v *vectorEntry) ([]byte, error) {
	r, err := b.Get(ctx, name, 0, -1)
	if err != nil {
		return nil, err
	}
	defer r.Close()
	content, err := io.ReadAll(io.LimitReader(r, min(v.Size, maxVector)+1))
	if err != nil {
		return nil, err
	}
	if sum := sha256.Sum256(content); hex.EncodeToString(sum[:]) != v.Sum {
		return nil, fmt.Errorf("%s: %w", name, errDamagedVector)
	}
	return content, nil
}

var errDamagedVector = errors.New("its SHA-256 differs from the index")

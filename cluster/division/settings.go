package division

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"

	"anatomy/cluster/bucket"
	"anatomy/config"
	"anatomy/disk/datadir"
	"anatomy/disk/durable"
)

var rulesName = filepath.Base(config.Path(""))

// Settings are files that an operator writes in the folder of any node, and that all nodes have alike.
// The bucket has each under its own name.
var settings = []string{rulesName, config.SynonymsName, datadir.JudgedName, datadir.WeightsName}

// replacedSuffix is added to the name of a file that was changed in two folders at once: the one that
// did not reach the bucket first.
const replacedSuffix = ".replaced"

// noFile is the sum of a file that does not exist.
const noFile = "none"

// ShareSettings makes the settings in a node's folder equal to those in the bucket. A file that was
// changed in the folder since the last call is uploaded, and one that was changed in the bucket is
// downloaded. Of a file that was changed in both, the bucket's counts, and the other one is renamed.
// A file that cannot be parsed is neither uploaded nor downloaded.
func ShareSettings(ctx context.Context, b bucket.Bucket, dir string, log *slog.Logger) error {
	last, err := readSums(dir)
	if err != nil {
		return err
	}
	var failed error
	changed := false
	for _, name := range settings {
		sum, err := shareFile(ctx, b, dir, name, last[name], log)
		failed = errors.Join(failed, err)
		if err == nil && sum != last[name] {
			last[name], changed = sum, true
		}
	}
	if changed {
		failed = errors.Join(failed, writeSums(dir, last))
	}
	return failed
}

// shareFile makes one file equal to that in the bucket, and returns its sum. last is the sum of the
// last time, "" if there was none.
func shareFile(
	ctx context.Context, b bucket.Bucket, dir, name, last string, log *slog.Logger,
) (sum string, err error) {
	if last == "" {
		last = noFile
	}
	path := filepath.Join(dir, name)
	ours, err := os.ReadFile(path)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return "", err
	}
	theirs, err := get(ctx, b, name)
	if err != nil && !errors.Is(err, bucket.ErrNotExist) {
		return "", err
	}
	ourSum, theirSum := sumOf(ours), sumOf(theirs)
	switch {
	case ourSum == theirSum:
		return ourSum, nil
	case theirSum == last && ours == nil:
		return ourSum, b.Delete(ctx, name)
	case theirSum == last:
		if err := checkSetting(path, ours); err != nil {
			return "", err
		}
		log.Info("a file of this node goes to the other nodes", "file", path)
		return ourSum, put(ctx, b, name, ours)
	}
	if err := checkSetting(path, theirs); theirs != nil && err != nil {
		return "", fmt.Errorf("%s: %w", b, err)
	}
	if ourSum != last && ours != nil {
		if err := durable.WriteFile(durable.OS, path+replacedSuffix, ours); err != nil {
			return "", err
		}
		log.Warn("a file was changed on two nodes: the other one counts", "file", path, "kept as", path+replacedSuffix)
	}
	if theirs == nil {
		return theirSum, durable.Remove(durable.OS, path)
	}
	return theirSum, durable.WriteFile(durable.OS, path, theirs)
}

// checkSetting returns why the content of a file cannot be used by any node.
func checkSetting(path string, content []byte) error {
	var err error
	switch name := filepath.Base(path); {
	case len(content) > maxSmall:
		err = fmt.Errorf("%s has %d bytes, the limit is %d", path, len(content), maxSmall)
	case name == rulesName:
		_, err = config.Parse(path, content)
	case name == datadir.WeightsName && !json.Valid(content):
		err = fmt.Errorf("%s is not JSON", path)
	}
	if err != nil {
		return fmt.Errorf("not shared with other nodes: %w", err)
	}
	return nil
}

// sumOf returns the sum of a file's content, noFile for nil.
func sumOf(content []byte) string {
	if content == nil {
		return noFile
	}
	sum := sha256.Sum256(content)
	return hex.EncodeToString(sum[:])
}

func sumsPath(dir string) string { return filepath.Join(datadir.Cluster(dir), "settings.json") }

// readSums returns the sums of the settings when they were last shared, by name.
func readSums(dir string) (map[string]string, error) {
	content, err := os.ReadFile(sumsPath(dir))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	sums := map[string]string{}
	if json.Unmarshal(content, &sums) != nil { // damaged or absent: the bucket counts, and nothing is lost
		return map[string]string{}, nil
	}
	return sums, nil
}

func writeSums(dir string, sums map[string]string) error {
	content, err := json.Marshal(sums)
	if err == nil {
		err = durable.MkdirAll(durable.OS, datadir.Cluster(dir))
	}
	if err == nil {
		err = durable.WriteFile(durable.OS, sumsPath(dir), content)
	}
	return err
}

// shareSettings shares the settings of this node.
func (n *Node) shareSettings(ctx context.Context) error {
	return ShareSettings(ctx, n.o.Bucket, n.o.Dir, n.o.Log)
}

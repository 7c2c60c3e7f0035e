package shards

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"anatomy/disk/durable"
)

// A repair may delete the index of a shard, with links that other shards will not send again. So
// the file REPAIR marks a folder until all indexes are rebuilt, and no crawl continues before. It
// also marks a copy in which some shards are newer than others.

// RepairName is the name of that file.
const RepairName = "REPAIR"

func repairPath(dir string) string { return filepath.Join(dir, RepairName) }

// BeginRepair durably records that a repair of the shards in dir has started.
func BeginRepair(dir string) error {
	if err := durable.WriteFile(durable.OS, repairPath(dir), []byte("anatomy repair 1\n")); err != nil {
		return fmt.Errorf("shards: %w", err)
	}
	return nil
}

// EndRepair records that the repair is complete.
func EndRepair(dir string) error {
	err := durable.Remove(durable.OS, repairPath(dir))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("shards: %w", err)
	}
	return nil
}

// IsUnderRepair reports whether a repair was started and not completed.
func IsUnderRepair(dir string) bool {
	_, err := os.Stat(repairPath(dir))
	return err == nil
}

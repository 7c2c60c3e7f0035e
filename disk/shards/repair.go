package shards

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"anatomy/disk/durable"
)

// A repair may give up the index of a shard, with links that others have sent and will not send again.
// So a file says that one has begun, until all indexes were made anew. No crawl goes on before. It
// says the same of a copy some of whose shards are newer than the others.

// RepairName is the name of that file.
const RepairName = "REPAIR"

func repairPath(dir string) string { return filepath.Join(dir, RepairName) }

// BeginRepair records durably that a repair of the shards in dir has begun.
func BeginRepair(dir string) error {
	if err := durable.WriteFile(durable.OS, repairPath(dir), []byte("anatomy repair 1\n")); err != nil {
		return fmt.Errorf("shards: %w", err)
	}
	return nil
}

// EndRepair records that no repair has to be completed.
func EndRepair(dir string) error {
	err := durable.Remove(durable.OS, repairPath(dir))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("shards: %w", err)
	}
	return nil
}

// IsUnderRepair reports whether a repair has begun that was not completed.
func IsUnderRepair(dir string) bool {
	_, err := os.Stat(repairPath(dir))
	return err == nil
}

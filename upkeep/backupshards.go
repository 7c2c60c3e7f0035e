package upkeep

import (
	"path/filepath"

	"anatomy/disk/datadir"
	"anatomy/disk/durable"
	"anatomy/disk/shards"
)

// finishShards makes the folder a folder of shards. All its files must be durable.
func (b *backupReader) finishShards() error {
	m, err := shards.Decode(b.shards)
	if err != nil {
		return err
	}
	for i := range m.Folders {
		if err := datadir.MakeFolders(shards.Folder(b.dir, i)); err != nil {
			return err
		}
	}
	if err := m.Write(b.dir); err != nil {
		return err
	}
	if err := durable.Remove(durable.OS, filepath.Join(b.dir, restoring)); err != nil {
		return err
	}
	return shards.Check(b.dir)
}

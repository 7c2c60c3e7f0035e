package index

import (
	"anatomy/disk/barrel"
	"anatomy/vocab"
)

// A waitingBarrel is the pages of a batch of an index that is being rebuilt. Such an index is not
// searched before it is complete, so its batches are not sorted one by one and merged later: one
// merge sorts them all.
type waitingBarrel struct {
	path       string        // of the file of barrels
	notIndexed []vocab.DocID // documents that older batches may have and that are no longer pages
	length     length        // of its documents
	file       *barrel.File  // open while it is merged
}

// maxWaiting bounds the number of waiting files. When it is reached they are sorted into a segment.
// A merge holds 256 KB of each in memory.
const maxWaiting = 128

// openBarrels opens barrels for a merge.
func openBarrels(waiting []waitingBarrel) (opened openedBarrels, err error) {
	opened = waiting
	for i := range opened {
		if opened[i].file, err = barrel.Open(opened[i].path); err != nil {
			opened.close()
			return nil, err
		}
	}
	return opened, nil
}

// openedBarrels are barrels that are open for a merge, oldest first.
type openedBarrels []waitingBarrel

// length returns the length of all documents.
func (o openedBarrels) length() (all length) {
	for _, w := range o {
		all = all.plus(w.length)
	}
	return all
}

// close returns the paths of the barrels. It may be called more than once.
func (o openedBarrels) close() (paths []string) {
	for i := range o {
		if o[i].file != nil {
			o[i].file.Close()
			o[i].file = nil
		}
		paths = append(paths, o[i].path)
	}
	return paths
}

package index

import (
	"context"

	"anatomy/disk/datadir"
	"anatomy/disk/linkdb"
	"anatomy/sorter"
	"anatomy/vocab"
)

// A Part is the index of some documents of a merged index: one segment and one link run.
type Part struct {
	From  string           // data folder
	Index datadir.Manifest // of From
	Links *linkdb.Set      // of From

	To    *datadir.Writer // a data folder without an index
	Known vocab.DocID     // last document named by the link run of To
	End   vocab.Address   // of the repository of To

	DocID   func(vocab.DocID) vocab.DocID     // maps a document of From to To; 0 omits it
	Address func(vocab.Address) vocab.Address // maps an address of a record of From to To
}

// Numbers of the files of a part.
const (
	partLinks   number = 1
	partSegment number = 2
)

// LinksOfPart returns the path of the link run of a part, which must exist before [WritePart].
func LinksOfPart(dir string) string { return datadir.Links(dir, partLinks.links()) }

// WritePart writes the segment of a part, and publishes it with the link run. Documents keep their
// anchor texts and impacts.
func WritePart(ctx context.Context, p Part) error {
	segments, err := openAll(p.From, p.Index.Segments)
	if err != nil {
		return err
	}
	defer segments.close()
	whole := segments.all[0]
	var shown DocSet // the documents of the part that are pages in the whole
	for ord := range vocab.Ordinal(whole.Docs()) {
		if doc := whole.DocID(ord); p.DocID(doc) != 0 {
			shown.set(doc, true)
		}
	}
	isShown := func(ord vocab.Ordinal) bool { return shown.Has(whole.DocID(ord)) }
	if _, err := sorter.Build(ctx, sorter.Options{
		Dir:        datadir.Segment(p.To.Dir(), partSegment.segment()),
		Inputs:     []sorter.Input{sorter.Segment(whole, isShown)},
		Anchors:    anchorsOf(p.Links, shown),
		Uncrawled:  true,
		NewAddress: p.Address,
		NewDocID:   p.DocID,
		Compact:    true,
		Average:    whole.AvgWords(),
	}); err != nil {
		return err
	}
	_, err = p.To.Publish(datadir.Manifest{
		Segments: []string{partSegment.segment()}, Links: []string{partLinks.links()},
		Indexed: p.End, Known: p.Known, Next: uint64(partSegment) + 1, Merged: true,
		Average: p.Index.Average,
	})
	return err
}

// anchorsOf iterates over the anchor texts of some documents.
func anchorsOf(
	set *linkdb.Set, some DocSet,
) func(func(vocab.DocID) bool, func(sorter.Anchored) error) error {
	all := anchors(set, func(string) bool { return false })
	return func(_ func(vocab.DocID) bool, visit func(sorter.Anchored) error) error {
		return all(some.Has, visit)
	}
}

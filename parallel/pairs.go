package parallel

import (
	"context"
	"errors"

	"anatomy/disk/linkdb"
	"anatomy/disk/shards"
	"anatomy/disk/translations"
	"anatomy/vocab"
)

// A Pair is two pages that are translations of each other, as written by "anatomy export parallel".
type Pair struct {
	A          string  `json:"a"` // URL
	B          string  `json:"b"`
	LangA      string  `json:"lang_a"` // BCP 47, lower case
	LangB      string  `json:"lang_b"`
	Confidence float64 `json:"confidence"` // from 0 to 1
	Evidence   string  `json:"evidence"`   // "hreflang+url"
}

// EachPair calls fn with the pairs of the data folder dir, or of all shards.
func EachPair(ctx context.Context, dir string, fn func(Pair) error) error {
	dirs, err := shards.Folders(dir)
	if err != nil {
		return err
	}
	for _, dir := range dirs {
		table, err := translations.Read(dir)
		if err != nil {
			return err
		}
		if table == nil {
			continue
		}
		if err := eachPair(ctx, dir, table, fn); err != nil {
			return err
		}
	}
	return nil
}

func eachPair(ctx context.Context, dir string, table *translations.Table, fn func(Pair) error) (err error) {
	set, err := linkdb.OpenFolder(dir)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, set.Close()) }()
	urls := map[vocab.DocID]string{}
	for name, err := range set.Names() {
		if err != nil {
			return err
		}
		if table.Of(name.Doc) != nil {
			urls[name.Doc] = name.URL
		}
	}
	for _, g := range table.Groups {
		g.Pairs(func(p translations.Pair) {
			if err == nil {
				err = fn(newPair(p, urls[p.A.Doc], urls[p.B.Doc]))
			}
		})
		if err = errors.Join(err, ctx.Err()); err != nil {
			return err
		}
	}
	return nil
}

func newPair(p translations.Pair, a, b string) Pair {
	return Pair{
		A: a, B: b, LangA: p.A.Lang, LangB: p.B.Lang,
		Confidence: float64(p.Confidence) / 100, Evidence: p.Evidence.String(),
	}
}

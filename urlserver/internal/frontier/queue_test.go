package frontier

import (
	"cmp"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"
)

type item struct{ pos position }

func (i *item) position() *position { return &i.pos }

// TestQueue compares a queue with a list that is sorted each time.
func TestQueue(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var q queue[*item]
		var list []*item
		for range rapid.IntRange(1, 60).Draw(t, "steps") {
			switch rapid.IntRange(0, 3).Draw(t, "step") {
			case 0:
				got, ok := q.pop()
				if ok != (len(list) > 0) {
					t.Fatalf("pop: %v of %d", ok, len(list))
				}
				slices.SortFunc(list, func(a, b *item) int {
					return cmp.Or(cmp.Compare(b.pos.rank, a.pos.rank), a.pos.at.Compare(b.pos.at), cmp.Compare(a.pos.turn, b.pos.turn))
				})
				if ok && got != list[0] {
					t.Fatalf("%+v came before %+v", got, list[0])
				}
				list = list[min(1, len(list)):]
			case 1:
				if len(list) > 0 {
					x := rapid.SampledFrom(list).Draw(t, "which")
					if rapid.Bool().Draw(t, "remove") {
						q.remove(x)
						list = slices.DeleteFunc(list, func(y *item) bool { return x == y })
					} else {
						q.rerank(x, float64(rapid.IntRange(0, 3).Draw(t, "rank")))
					}
				}
			default:
				x := &item{}
				at := time.Unix(int64(rapid.IntRange(0, 2).Draw(t, "at")), 0)
				q.add(x, float64(rapid.IntRange(0, 3).Draw(t, "rank")), at)
				list = append(list, x)
			}
		}
	})
}

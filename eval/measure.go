package eval

import (
	"cmp"
	"math"
	"slices"
)

// Measures are measures of quality, each a mean over the queries of a run.
type Measures struct {
	Queries  int     `json:"queries"`
	Success1 float64 `json:"success@1"` // the first result is relevant
	MRR10    float64 `json:"mrr@10"`    // 1/rank of the first relevant result, 0 after the tenth
	Recall10 float64 `json:"recall@10"` // share of the relevant pages that are among the first ten
	NDCG10   float64 `json:"ndcg@10"`   // gain is the grade, discount log2(1 + rank), as in trec_eval
	MAP      float64 `json:"map"`       // mean average precision, as deep as the run goes
	Empty    float64 `json:"empty"`     // share of queries without any result
}

// Measure returns the measures of a run: results[i] are the pages of judged[i], best first, none
// twice.
func Measure(judged []Judged, results [][]string) Measures {
	var sum Measures
	for i := range judged {
		m := judged[i].measure(results[i])
		sum.Success1 += m.Success1
		sum.MRR10 += m.MRR10
		sum.Recall10 += m.Recall10
		sum.NDCG10 += m.NDCG10
		sum.MAP += m.MAP
		sum.Empty += m.Empty
	}
	n := float64(max(len(judged), 1))
	return Measures{len(judged), sum.Success1 / n, sum.MRR10 / n, sum.Recall10 / n, sum.NDCG10 / n, sum.MAP / n, sum.Empty / n}
}

// measure returns the measures of one query. If one relevant page is enough, later ones add
// nothing.
func (j *Judged) measure(pages []string) (m Measures) {
	if len(pages) == 0 {
		m.Empty = 1
	}
	ideal := j.ideal()
	found, gain := 0, 0.0
	for i, page := range pages {
		grade := j.Grades[page]
		if grade <= 0 || j.Any && found > 0 {
			continue
		}
		found++
		m.MAP += float64(found) / float64(i+1)
		if i >= 10 {
			continue
		}
		if found == 1 {
			m.MRR10 = 1 / float64(i+1)
		}
		if i == 0 {
			m.Success1 = 1
		}
		m.Recall10++
		gain += float64(grade) / math.Log2(float64(i+2))
	}
	n := float64(max(len(ideal), 1))
	m.MAP /= n
	m.Recall10 /= n
	best := 0.0
	for i, grade := range ideal[:min(len(ideal), 10)] {
		best += float64(grade) / math.Log2(float64(i+2))
	}
	if best > 0 {
		m.NDCG10 = gain / best
	}
	return m
}

// ideal returns the grades of the relevant pages, highest first; of one page if one is enough.
func (j *Judged) ideal() (grades []int) {
	for _, grade := range j.Grades {
		if grade > 0 {
			grades = append(grades, grade)
		}
	}
	slices.SortFunc(grades, func(a, b int) int { return cmp.Compare(b, a) })
	if j.Any {
		grades = grades[:min(len(grades), 1)]
	}
	return grades
}

// Rank returns the rank of the first relevant page, or 0.
func (j *Judged) Rank(pages []string) int {
	return 1 + slices.IndexFunc(pages, func(page string) bool { return j.Grades[page] > 0 })
}

package pagerank

import (
	"math"
)

// A linkList is links in the order in which they came. It takes 4 bytes a link and 8 for each
// change of source.
type linkList struct {
	runs    []sourceRun
	targets []uint32
}

// A sourceRun is a number of consecutive links of one source.
type sourceRun struct{ source, links uint32 }

func (l *linkList) add(source, target uint32) {
	if n := len(l.runs); n == 0 || l.runs[n-1].source != source || l.runs[n-1].links == math.MaxUint32 {
		l.runs = append(l.runs, sourceRun{source: source})
	}
	l.runs[len(l.runs)-1].links++
	l.targets = append(l.targets, target)
}

// rename replaces each node by its rank in ids.
func (l *linkList) rename(ids *idSet) {
	for i := range l.runs {
		l.runs[i].source = ids.rank(l.runs[i].source)
	}
	for i, t := range l.targets {
		l.targets[i] = ids.rank(t)
	}
}

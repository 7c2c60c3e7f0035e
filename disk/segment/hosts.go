package segment

import (
	"encoding/binary"
	"fmt"
	"iter"
	"sort"
	"strings"

	"anatomy/vocab"
)

// Documents lie in the order of their URLs' keys, in which a host comes before the path: those of a host
// are one run.

// A hostRun is where the documents of a host begin.
type hostRun struct {
	first vocab.Ordinal
	name  string // the key up to the path: "org.example.www", "org.example.8080"
}

// hostOf is the part of a URL's key before its path.
func hostOf(key string) string {
	host, _, _ := strings.Cut(key, "/")
	return host
}

func appendHosts(dst []byte, runs []hostRun) []byte {
	dst = binary.AppendUvarint(dst, uint64(len(runs)))
	last := vocab.Ordinal(0)
	for _, r := range runs {
		dst = binary.AppendUvarint(dst, uint64(r.first-last))
		dst = append(binary.AppendUvarint(dst, uint64(len(r.name))), r.name...)
		last = r.first
	}
	return dst
}

// decodeHosts reads the hosts of n documents. All names share one piece of memory.
func decodeHosts(src []byte, docs int) ([]hostRun, error) {
	d := stringDecoder{src: string(src)}
	n := d.uvarint()
	if d.bad || n > uint64(len(d.src))/2 || n > uint64(docs) || (n == 0) != (docs == 0) {
		return nil, errColumn
	}
	runs := make([]hostRun, n)
	next := uint64(0)
	for i := range runs {
		gap := d.uvarint()
		name := d.text()
		switch first := next + gap; {
		case d.bad || gap > uint64(docs) || first >= uint64(docs):
			return nil, errColumn
		case (i == 0) != (first == 0), i > 0 && (gap == 0 || name+"/" <= runs[i-1].name+"/"):
			return nil, fmt.Errorf("host %d is out of order", i)
		default:
			runs[i] = hostRun{vocab.Ordinal(first), name}
			next = first
		}
	}
	if d.src != "" {
		return nil, errColumn
	}
	return runs, nil
}

// Hosts gives the hosts of the documents in their order, named as Host does.
func (s *Segment) Hosts() iter.Seq[string] {
	return func(yield func(string) bool) {
		for _, run := range s.hosts {
			if !yield(run.name) {
				return
			}
		}
	}
}

// HostRange gives the documents of a host, those in [from, to); there are none where from is to.
func (s *Segment) HostRange(host string) (from, to vocab.Ordinal) {
	i := sort.Search(len(s.hosts), func(i int) bool { return s.hosts[i].name+"/" >= host+"/" })
	switch {
	case i == len(s.hosts) || s.hosts[i].name != host:
		return 0, 0
	case i+1 == len(s.hosts):
		return s.hosts[i].first, vocab.Ordinal(len(s.docIDs))
	}
	return s.hosts[i].first, s.hosts[i+1].first
}

// Host names the host of a document: the part of its URL's key before the path, as "org.example.www".
func (s *Segment) Host(ord vocab.Ordinal) string {
	return s.hosts[sort.Search(len(s.hosts), func(i int) bool { return s.hosts[i].first > ord })-1].name
}

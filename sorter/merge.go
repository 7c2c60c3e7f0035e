package sorter

import (
	"bytes"
	"encoding/binary"

	"anatomy/disk/segment"
	"anatomy/vocab"
)

// A merger merges the postings of the sources term by term.
type merger struct {
	out    *segment.Writer
	term   []byte
	lists  []*queued // the sources that have the term
	heap   heap[source]
	hits   []vocab.Hit
	merged int // terms of sources
}

// A queued source waits until its term is the least.
type queued struct {
	source
	head uint64 // first bytes of the term, which decide most comparisons
}

// nextTerm moves to the next term.
func (q *queued) nextTerm() (ok bool, err error) {
	if ok, err = q.source.nextTerm(); ok {
		var head [8]byte
		copy(head[:], q.term())
		q.head = binary.BigEndian.Uint64(head[:])
	}
	return ok, err
}

// byTerm orders sources by their terms.
func byTerm(a, b *queued) bool {
	if a.head != b.head {
		return a.head < b.head
	}
	return bytes.Compare(a.term(), b.term()) < 0
}

// mergeTerm writes the least term, and moves the sources that have it to their next terms.
func (m *merger) mergeTerm(terms *heap[*queued]) error {
	first := terms.pop()
	m.term = append(m.term[:0], first.term()...)
	m.lists = append(m.lists[:0], first)
	for !terms.empty() && terms.top().head == first.head && bytes.Equal(terms.top().term(), m.term) {
		m.lists = append(m.lists, terms.pop())
	}
	if err := m.out.StartTerm(m.term); err != nil {
		return err
	}
	var err error
	if len(m.lists) == 1 {
		err = m.copy(first.source)
	} else {
		err = m.merge()
	}
	if err != nil {
		return err
	}
	m.merged += len(m.lists)
	for _, q := range m.lists {
		ok, err := q.nextTerm()
		if err != nil {
			return err
		}
		if ok {
			terms.push(q)
		}
	}
	return m.out.EndTerm()
}

func (m *merger) copy(src source) error {
	for {
		ok, err := src.next()
		if err != nil || !ok {
			return err
		}
		if err := m.out.AddPosting(src.posting()); err != nil {
			return err
		}
	}
}

// merge writes the postings of all lists in the order of documents.
func (m *merger) merge() error {
	m.heap.items, m.heap.less = m.heap.items[:0], earlier
	for _, q := range m.lists {
		ok, err := q.next()
		if err != nil {
			return err
		}
		if ok {
			m.heap.push(q.source)
		}
	}
	for !m.heap.empty() {
		src, limit := m.heap.top(), m.limit()
		ord, hits := src.posting()
		if ord == limit {
			if err := m.join(ord, hits); err != nil {
				return err
			}
			continue
		}
		ok := true
		for ok && ord < limit {
			err := m.out.AddPosting(ord, hits)
			if err == nil {
				ok, err = src.next()
			}
			if err != nil {
				return err
			}
			if ok {
				ord, hits = src.posting()
			}
		}
		m.heap.fix(ok)
	}
	return nil
}

// limit returns the document of the second source in order, which is one of the two children of the
// first in the heap.
func (m *merger) limit() vocab.Ordinal {
	limit := noOrdinal
	for _, src := range m.heap.items[1:min(3, len(m.heap.items))] {
		next, _ := src.posting()
		limit = min(limit, next)
	}
	return limit
}

// join writes the posting of a document in several sources: those are its input and the anchors, whose
// field is the last.
func (m *merger) join(ord vocab.Ordinal, hits []vocab.Hit) error {
	m.hits = append(m.hits[:0], hits...)
	for {
		if err := m.step(); err != nil {
			return err
		}
		if m.heap.empty() {
			break
		}
		next, more := m.heap.top().posting()
		if next != ord {
			break
		}
		m.hits = append(m.hits, more...)
	}
	return m.out.AddPosting(ord, m.hits)
}

// step moves the first source to its next posting.
func (m *merger) step() error {
	ok, err := m.heap.top().next()
	m.heap.fix(ok)
	return err
}

// earlier orders sources by document, and the anchors after the input that has the document.
func earlier(a, b source) bool {
	i, _ := a.posting()
	j, _ := b.posting()
	if i != j {
		return i < j
	}
	_, anchors := a.(*anchorSource)
	return !anchors
}

// A heap has the least item on top. It is not container/heap, whose calls through an interface are
// slower in the loop over postings.
type heap[T any] struct {
	items []T
	less  func(a, b T) bool
}

func (h *heap[T]) empty() bool { return len(h.items) == 0 }
func (h *heap[T]) top() T      { return h.items[0] }

func (h *heap[T]) push(item T) {
	h.items = append(h.items, item)
	for i := len(h.items) - 1; i > 0; {
		parent := (i - 1) / 2
		if !h.less(h.items[i], h.items[parent]) {
			return
		}
		h.items[i], h.items[parent] = h.items[parent], h.items[i]
		i = parent
	}
}

func (h *heap[T]) pop() T {
	top := h.items[0]
	h.fix(false)
	return top
}

// fix restores the order after the top item has changed, or removes the item if keep is false.
func (h *heap[T]) fix(keep bool) {
	if !keep {
		last := len(h.items) - 1
		h.items[0] = h.items[last]
		h.items = h.items[:last]
	}
	for i := 0; ; {
		least := i
		for child := 2*i + 1; child <= 2*i+2 && child < len(h.items); child++ {
			if h.less(h.items[child], h.items[least]) {
				least = child
			}
		}
		if least == i {
			return
		}
		h.items[i], h.items[least] = h.items[least], h.items[i]
		i = least
	}
}

package sorter

import (
	"bytes"
	"encoding/binary"

	"anatomy/disk/segment"
	"anatomy/vocab"
)

// A source gives words in ascending order, and the postings of each in ascending ordinals of the segment
// to be. Word and hits are valid until its next move.
type source interface {
	nextWord() (bool, error)
	word() []byte
	next() (bool, error)
	posting() (vocab.Ordinal, []vocab.Hit)
	close()
}

// A merger writes the postings of one word after the other.
type merger struct {
	out   *segment.Writer
	word  []byte
	lists []*queued // those that hold the word
	heap  heap[source]
	hits  []vocab.Hit
}

// A queued source waits for its word to be the least.
type queued struct {
	source
	head uint64 // first bytes of the word, which mostly tell
}

// nextWord goes to the next word.
func (q *queued) nextWord() (ok bool, err error) {
	if ok, err = q.source.nextWord(); ok {
		var head [8]byte
		copy(head[:], q.word())
		q.head = binary.BigEndian.Uint64(head[:])
	}
	return ok, err
}

// byWord orders sources by their words.
func byWord(a, b *queued) bool {
	if a.head != b.head {
		return a.head < b.head
	}
	return bytes.Compare(a.word(), b.word()) < 0
}

// mergeWord writes the least word, and moves the sources that hold it on.
func (m *merger) mergeWord(words *heap[*queued]) error {
	first := words.pop()
	m.word = append(m.word[:0], first.word()...)
	m.lists = append(m.lists[:0], first)
	for !words.empty() && words.top().head == first.head && bytes.Equal(words.top().word(), m.word) {
		m.lists = append(m.lists, words.pop())
	}
	if err := m.out.StartWord(m.word); err != nil {
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
	for _, q := range m.lists {
		ok, err := q.nextWord()
		if err != nil {
			return err
		}
		if ok {
			words.push(q)
		}
	}
	return m.out.EndWord()
}

func (m *merger) copy(src source) error {
	for {
		ok, err := src.next()
		if err != nil || !ok {
			return err
		}
		if err := m.out.Add(src.posting()); err != nil {
			return err
		}
	}
}

// merge takes the postings of the word in the order of documents.
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
			err := m.out.Add(ord, hits)
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

// limit is the document of the second source in order, which is one of the two below the first in the heap.
func (m *merger) limit() vocab.Ordinal {
	limit := noOrdinal
	for _, src := range m.heap.items[1:min(3, len(m.heap.items))] {
		next, _ := src.posting()
		limit = min(limit, next)
	}
	return limit
}

// join writes the posting of a document that several sources have: the input that holds it, and its anchors. The
// hits of anchors are the last in the order of fields.
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
	return m.out.Add(ord, m.hits)
}

// step moves the first source on.
func (m *merger) step() error {
	ok, err := m.heap.top().next()
	m.heap.fix(ok)
	return err
}

// earlier orders sources by document, and anchors behind what they are added to.
func earlier(a, b source) bool {
	i, _ := a.posting()
	j, _ := b.posting()
	if i != j {
		return i < j
	}
	_, anchors := a.(*anchorSource)
	return !anchors
}

// A heap has the least item on top.
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

// fix restores the order after the top item has changed, or removes it if it is not to be kept.
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

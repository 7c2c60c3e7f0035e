package sorter

import (
	"bytes"
	"errors"

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
	lists []source // those that hold the word
	heap  heap[source]
	hits  []vocab.Hit
}

// mergeWord writes the least word, and moves the sources that hold it on.
func (m *merger) mergeWord(words *heap[source]) error {
	m.word = append(m.word[:0], words.top().word()...)
	m.lists = m.lists[:0]
	for !words.empty() && bytes.Equal(words.top().word(), m.word) {
		m.lists = append(m.lists, words.pop())
	}
	if err := m.out.StartWord(m.word); err != nil {
		return err
	}
	var err error
	if len(m.lists) == 1 {
		err = m.copy(m.lists[0])
	} else {
		err = m.merge()
	}
	if err != nil {
		return err
	}
	for _, src := range m.lists {
		ok, err := src.nextWord()
		if err != nil {
			return err
		}
		if ok {
			words.push(src)
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

// merge joins the postings of one document: those of the input that holds it, and its anchors. The
// hits of anchors are the last in the order of fields.
func (m *merger) merge() error {
	m.heap.items, m.heap.less = m.heap.items[:0], earlier
	for _, src := range m.lists {
		ok, err := src.next()
		if err != nil {
			return err
		}
		if ok {
			m.heap.push(src)
		}
	}
	for !m.heap.empty() {
		ord, hits := m.heap.top().posting()
		if m.alone(ord) {
			if err := errors.Join(m.out.Add(ord, hits), m.step()); err != nil {
				return err
			}
			continue
		}
		m.hits = append(m.hits[:0], hits...)
		if err := m.step(); err != nil {
			return err
		}
		for !m.heap.empty() {
			next, more := m.heap.top().posting()
			if next != ord {
				break
			}
			m.hits = append(m.hits, more...)
			if err := m.step(); err != nil {
				return err
			}
		}
		if err := m.out.Add(ord, m.hits); err != nil {
			return err
		}
	}
	return nil
}

// alone says whether the first source is the only one at a document: the second in order is one of the two
// below it in the heap.
func (m *merger) alone(ord vocab.Ordinal) bool {
	for _, src := range m.heap.items[1:min(3, len(m.heap.items))] {
		if next, _ := src.posting(); next == ord {
			return false
		}
	}
	return true
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

package urlserver

import (
	"errors"
	"strconv"
	"strings"
	"sync"

	"anatomy/disk/docindex"
	"anatomy/urlserver/internal/frontier"
)

// Shared has the bounds that apply to the servers of all shards together: leases per IP address,
// and pages of the crawl. A site is in one shard, so its bounds are those of one server.
type Shared struct {
	addresses *frontier.Addresses
	pages     pageCount
}

// NewShared returns unused bounds.
func NewShared() *Shared {
	return &Shared{
		addresses: frontier.NewAddresses(), pages: pageCount{of: map[*state]int64{}},
	}
}

// A pageCount counts the pages of all servers, including those in flight. A server that grants a
// lease holds mu, so that no two use the last page.
type pageCount struct {
	mu  sync.Mutex
	of  map[*state]int64 // guarded by mu, as is sum
	sum int64
}

// set sets the pages of a server, and returns the total. The caller holds mu.
func (c *pageCount) set(s *state) (sum int64) {
	n := int64(s.counts.Pages) + int64(s.flights.newPages)
	c.sum += n - c.of[s]
	c.of[s] = n
	return c.sum
}

const metaReceived = "parcels"

// SetReceived durably records the number of parcels of each other shard that are in the index.
func (s *Server) SetReceived(numbers []uint64) error {
	return s.doDurably(func(st *state) (*docindex.Batch, error) {
		b := st.db.NewBatch()
		PutReceivedParcels(b, numbers)
		return b, b.Apply()
	})
}

// CopyReceivedParcels copies what SetReceived recorded from a damaged document index, if it can.
func CopyReceivedParcels(b *docindex.Batch, old *docindex.DB) {
	if text, err := old.Meta(metaReceived); err == nil && text != "" {
		b.PutMeta(metaReceived, text)
	}
}

// PutReceivedParcels is SetReceived for a rebuilt document index.
func PutReceivedParcels(b *docindex.Batch, numbers []uint64) {
	text := make([]string, len(numbers))
	for i, n := range numbers {
		text[i] = strconv.FormatUint(n, 10)
	}
	b.PutMeta(metaReceived, strings.Join(text, " "))
}

// Received returns the numbers recorded by SetReceived, for a number of shards; initially zeros.
func (s *Server) Received(shards int) ([]uint64, error) { return ReceivedParcels(s.db, shards) }

// ReceivedParcels is Received for a document index that is only read.
func ReceivedParcels(db *docindex.DB, shards int) ([]uint64, error) {
	numbers := make([]uint64, shards)
	text, err := db.Meta(metaReceived)
	if err != nil || text == "" {
		return numbers, err
	}
	fields := strings.Fields(text)
	if len(fields) != shards {
		return nil, errors.New("the document index has parcels of another number of shards")
	}
	for i, field := range fields {
		if numbers[i], err = strconv.ParseUint(field, 10, 64); err != nil {
			return nil, err
		}
	}
	return numbers, nil
}

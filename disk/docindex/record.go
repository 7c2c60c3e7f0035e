package docindex

import (
	"encoding/binary"
	"errors"
	"fmt"
	"strings"
	"time"

	"anatomy/vocab"
)

// A Record is what is known of one document (BP98 §4.2.3: status, pointer into the repository,
// checksum; URL whether or not it was crawled).
type Record struct {
	Doc       vocab.DocID // from the key
	URL       string      // canonical
	Kind      vocab.TargetKind
	State     State
	Trap      Trap          // Trapped: why
	Swapped   bool          // http and https were exchanged once because a redirect said so
	Depth     uint16        // links from the nearest seed when first seen
	Hops      uint8         // redirects that led here, one after the other
	Tries     uint8         // fetches that failed in passing since the last answer
	FirstSeen time.Time     // whole seconds, UTC
	Due       time.Time     // Waiting: not to be asked for before; else when it is to be visited again; whole milliseconds, UTC
	Fetch     *FetchOutcome // nil before the first fetch; while a page is visited again what it was before
	History   History       // zero before the first fetch that settled anything
}

// A FetchOutcome is what came of the last fetch of a document.
type FetchOutcome struct {
	Outcome vocab.Outcome
	Status  int             // of HTTP; 0 where no answer came
	Reason  string          // for people, where the outcome needs one
	Place   vocab.Place     // in the repository; 0 where nothing was kept
	Content vocab.ContentID // zero where nothing was kept
	Alias   vocab.DocID     // where it was redirected to, or what it is a duplicate of; 0 for neither
	Fetched time.Time       // whole seconds, UTC
}

// A History tells of the visits to a document that found out whether it is there and whether it changed.
type History struct {
	Visits  uint32    // the first fetch counts
	Changes uint32    // visits that found another content than the one before
	Misses  uint8     // visits in a row that found nothing, of a page that was there
	Visited time.Time // the last one; whole seconds, UTC
	Changed time.Time // the last that found something new, the first fetch to begin with
	Recent  Trials

	Headers    uint16           // checksum of the header fields that indexing reads; 0 for none
	Validators vocab.Validators // of the content in Fetch
}

// Trials are the latest visits, to learn from how often a page changes.
type Trials struct {
	N       uint8         // visits, each some time after another
	Changed uint8         // of them those that found a change
	Span    time.Duration // of all these times together, whole seconds
}

// A State says what is to happen with a document.
type State uint8

// The states. The order is part of the format.
const (
	OutOfScope State = iota // known by its links; the crawl does not go there
	NoFollowed              // known by nofollow links alone
	Trapped                 // within scope, but too deep or too repetitive to be a page
	Queued                  // to be fetched
	Waiting                 // to be fetched again at Due, after a failure
	Finished                // its fate is known
	GivenUp                 // failed too often
	States                  // how many there are
)

var stateNames = [States]string{"out of scope", "nofollowed", "trapped", "queued", "waiting", "finished", "given up"}

func (s State) String() string {
	if s < States {
		return stateNames[s]
	}
	return fmt.Sprintf("state %d", uint8(s))
}

// A Trap is why a URL within scope is not to be fetched.
type Trap uint8

// The traps. The order is part of the format.
const (
	UnknownTrap Trap = iota // of an index that did not keep the reason
	TooDeep                 // too many links from the seeds
	Repetitive              // the path repeats itself
	FarFuture               // a calendar's page, years ahead
	SpentFolder             // the pages of its folder show the same texts again and again
	SpentQuery              // as do those of its path with these parameters
	Traps                   // how many there are
)

var trapNames = [Traps]string{"trap", "too deep", "path repeats itself", "date years ahead", "folder repeats itself", "query repeats itself"}

func (t Trap) String() string {
	if t < Traps {
		return trapNames[t]
	}
	return fmt.Sprintf("trap %d", uint8(t))
}

// MaxReason bounds the reason kept with an outcome, in bytes.
const MaxReason = 200

// MaxValidator bounds an ETag or Last-Modified that is kept, in bytes; longer ones are not.
const MaxValidator = 128

// version of the record's encoding, and of the totals'. 1 had no history.
const version = 2

const (
	flagSitemap = 1 << iota
	flagSwapped
	flagFetch   // the fields of FetchOutcome follow
	flagContent // and its content ID
	flagOnce    // visited once, when it was fetched
	flagHistory
	flagValidators
	flagTrap
)

// once is the history of a document that was visited when it was fetched, and not again.
func (r *Record) once() (h History) {
	if r.Fetch != nil {
		h = History{Visits: 1, Visited: r.Fetch.Fetched, Changed: r.Fetch.Fetched, Headers: r.History.Headers, Validators: r.History.Validators}
	}
	return h
}

// historyFlags say what of the history is to be written.
func (r *Record) historyFlags() (flags byte) {
	h := &r.History
	switch {
	case h.Visits == 0:
		return 0
	case *h == r.once():
		flags = flagOnce
	default:
		flags = flagHistory
	}
	if h.Validators != (vocab.Validators{}) {
		flags |= flagValidators
	}
	return flags
}

// Append encodes r, without its docID, which is the key. See the package comment for the format.
func (r *Record) Append(b []byte) []byte {
	var flags byte
	if r.Kind == vocab.SitemapTarget {
		flags |= flagSitemap
	}
	if r.Swapped {
		flags |= flagSwapped
	}
	if r.Trap != UnknownTrap {
		flags |= flagTrap
	}
	f := r.Fetch
	if f != nil {
		flags |= flagFetch
		if f.Content != (vocab.ContentID{}) {
			flags |= flagContent
		}
	}
	flags |= r.historyFlags()
	b = append(b, version, byte(r.State), flags)
	b = binary.AppendUvarint(b, uint64(r.Depth))
	b = append(b, r.Hops, r.Tries)
	b = binary.AppendUvarint(b, seconds(r.FirstSeen))
	b = binary.AppendUvarint(b, millis(r.Due))
	b = appendString(b, r.URL)
	if r.Trap != UnknownTrap {
		b = append(b, byte(r.Trap))
	}
	if f != nil {
		b = f.append(b)
	}
	return r.History.append(b, flags)
}

func (f *FetchOutcome) append(b []byte) []byte {
	b = append(b, byte(f.Outcome))
	b = binary.AppendUvarint(b, uint64(f.Status))
	b = appendString(b, clip(f.Reason))
	b = binary.AppendUvarint(b, uint64(f.Place))
	b = binary.AppendUvarint(b, uint64(f.Alias))
	b = binary.AppendUvarint(b, seconds(f.Fetched))
	if f.Content != (vocab.ContentID{}) {
		b = append(b, f.Content[:]...)
	}
	return b
}

func (h *History) append(b []byte, flags byte) []byte {
	if flags&(flagOnce|flagHistory) != 0 {
		b = binary.LittleEndian.AppendUint16(b, h.Headers)
	}
	if flags&flagHistory != 0 {
		for _, n := range []uint64{
			uint64(h.Visits), uint64(h.Changes), uint64(h.Misses), seconds(h.Visited), seconds(h.Changed),
			uint64(h.Recent.N), uint64(h.Recent.Changed), uint64(h.Recent.Span / time.Second),
		} {
			b = binary.AppendUvarint(b, n)
		}
	}
	if flags&flagValidators != 0 {
		b = appendString(appendString(b, h.Validators.ETag), h.Validators.LastModified)
	}
	return b
}

// clip cuts a reason to its bound, between characters.
func clip(s string) string {
	if len(s) <= MaxReason {
		return s
	}
	return strings.ToValidUTF8(s[:MaxReason], "")
}

// DecodeRecord is the inverse of Append.
func DecodeRecord(doc vocab.DocID, b []byte) (Record, error) {
	d := decoder{b: b}
	v := d.byte()
	if v != version && v != 1 && d.err == nil {
		d.err = fmt.Errorf("version %d, this program reads %d", v, version)
	}
	r := Record{Doc: doc, State: State(d.byte())}
	flags := d.byte()
	r.Kind = vocab.TargetKind(flags & flagSitemap)
	r.Swapped = flags&flagSwapped != 0
	r.Depth = uint16(d.uvarint(1<<16 - 1))
	r.Hops, r.Tries = d.byte(), d.byte()
	r.FirstSeen = fromSeconds(d.uvarint(maxSeconds))
	r.Due = fromMillis(d.uvarint(maxSeconds * 1000))
	r.URL = d.string()
	if flags&flagTrap != 0 {
		r.Trap = Trap(d.byte())
	}
	if flags&flagFetch != 0 {
		r.Fetch = d.fetch(flags)
	}
	switch {
	case v != 1:
		d.history(&r, flags)
	case r.State == Finished:
		r.History = r.once()
	}
	switch {
	case d.err != nil:
	case r.State >= States:
		d.err = errors.New("unknown " + r.State.String())
	case r.Trap >= Traps:
		d.err = errors.New("unknown " + r.Trap.String())
	}
	if err := d.end(); err != nil {
		return Record{}, fmt.Errorf("docindex: record of document %d: %w", doc, err)
	}
	return r, nil
}

func (d *decoder) fetch(flags byte) *FetchOutcome {
	f := &FetchOutcome{Outcome: vocab.Outcome(d.byte())}
	f.Status = int(d.uvarint(1 << 16))
	f.Reason = d.string()
	f.Place = vocab.Place(d.uvarint(1<<64 - 1))
	f.Alias = vocab.DocID(d.uvarint(1<<64 - 1))
	f.Fetched = fromSeconds(d.uvarint(maxSeconds))
	if flags&flagContent != 0 {
		copy(f.Content[:], d.bytes(len(f.Content)))
	}
	if f.Outcome >= vocab.Outcomes && d.err == nil {
		d.err = errors.New("unknown outcome")
	}
	return f
}

func (d *decoder) history(r *Record, flags byte) {
	h := &r.History
	if flags&(flagOnce|flagHistory) != 0 {
		if b := d.bytes(2); b != nil {
			h.Headers = binary.LittleEndian.Uint16(b)
		}
	}
	if flags&flagHistory != 0 {
		h.Visits, h.Changes = uint32(d.uvarint(1<<32-1)), uint32(d.uvarint(1<<32-1))
		h.Misses = uint8(d.uvarint(255))
		h.Visited, h.Changed = fromSeconds(d.uvarint(maxSeconds)), fromSeconds(d.uvarint(maxSeconds))
		h.Recent.N, h.Recent.Changed = uint8(d.uvarint(255)), uint8(d.uvarint(255))
		h.Recent.Span = time.Duration(d.uvarint(maxSpan)) * time.Second
	}
	if flags&flagValidators != 0 {
		h.Validators = vocab.Validators{ETag: d.string(), LastModified: d.string()}
	}
	if flags&flagOnce != 0 {
		*h = r.once()
	}
}

const maxSpan = 1 << 32 // 136 years

// Counts are the totals of a document index. They are written with every batch that changes them,
// so that they are exact after a crash without a scan.
type Counts struct {
	Known    uint64                 // documents; also the last docID given out
	Pages    uint64                 // pages fetched and kept; duplicates are not
	States   [States]uint64         // documents by state
	Outcomes [vocab.Outcomes]uint64 // documents by the outcome of their last fetch
	Traps    [Traps]uint64          // trapped documents by reason
}

// countsVersion is the version of the totals' encoding. 1 and 2 had none of Traps. Each kind of total may have grown
// since it was written, at its end.
const countsVersion = 3

func (c *Counts) append(b []byte) []byte {
	b = append(b, countsVersion, byte(States), byte(vocab.Outcomes), byte(Traps))
	b = binary.AppendUvarint(b, c.Known)
	b = binary.AppendUvarint(b, c.Pages)
	for _, n := range c.States {
		b = binary.AppendUvarint(b, n)
	}
	for _, n := range c.Outcomes {
		b = binary.AppendUvarint(b, n)
	}
	for _, n := range c.Traps {
		b = binary.AppendUvarint(b, n)
	}
	return b
}

func decodeCounts(b []byte) (Counts, error) {
	var c Counts
	d := decoder{b: b}
	v := d.byte()
	states, outcomes, traps := d.byte(), d.byte(), byte(0)
	if v == countsVersion {
		traps = d.byte()
	}
	if v < 1 || v > countsVersion || states > byte(States) || outcomes > byte(vocab.Outcomes) || traps > byte(Traps) {
		return c, errors.New("docindex: counts: of another version")
	}
	c.Known, c.Pages = d.uvarint(1<<64-1), d.uvarint(1<<64-1)
	for _, totals := range [][]uint64{c.States[:states], c.Outcomes[:outcomes], c.Traps[:traps]} {
		for i := range totals {
			totals[i] = d.uvarint(1<<64 - 1)
		}
	}
	if v < countsVersion {
		c.Traps[UnknownTrap] = c.States[Trapped]
	}
	if err := d.end(); err != nil {
		return Counts{}, fmt.Errorf("docindex: counts: %w", err)
	}
	return c, nil
}

// A URLRecord is what the seen test gives.
type URLRecord struct {
	Doc  vocab.DocID
	Held bool // only nofollow links lead to it so far

	// The place in its host's queue where the URL was put, if the order there is by quality, so that
	// it can be found when links raise it; Number 0 for none. It need not be there any more.
	Priority uint8
	Number   uint64
}

func (r *URLRecord) append(b []byte) []byte {
	v := uint64(r.Doc) << 1
	if r.Held {
		v |= 1
	}
	b = binary.AppendUvarint(b, v)
	if r.Number == 0 {
		return b
	}
	return binary.AppendUvarint(append(b, r.Priority), r.Number)
}

func decodeURL(fp vocab.Fingerprint, b []byte) (URLRecord, error) {
	d := decoder{b: b}
	v := d.uvarint(1<<64 - 1)
	r := URLRecord{Doc: vocab.DocID(v >> 1), Held: v&1 != 0}
	if len(d.b) > 0 {
		r.Priority = d.byte()
		r.Number = d.uvarint(1<<64 - 1)
	}
	if err := d.end(); err != nil {
		return URLRecord{}, fmt.Errorf("docindex: fingerprint %x: %w", uint64(fp), err)
	}
	return r, nil
}

// A HostRecord is what is kept of a host between runs.
type HostRecord struct {
	Pages uint64 // fetched and kept
	HTTPS bool   // its http URLs are redirected to https

	Connect       time.Duration // estimated time of a connection, whole µs; 0 not known
	Answer        time.Duration // estimated time of an answer, whole µs; 0 not known
	PerConnection uint32        // requests that the host answers on one connection; 0 not known

	Spent bool // one of its folders repeats itself, see Yield

	Nameless     uint8     // findings, each a day after the one before, that its name does not exist; 0 since it last did
	NamelessLast time.Time // of the last of them, whole seconds, UTC
}

// hostVersion is the version of a HostRecord's encoding. 1 ended after the pages, 2 had no flag but https, 3 ended
// before Nameless.
const hostVersion = 4

const (
	hostHTTPS = 1 << iota
	hostSpent
)

func (h *HostRecord) append(b []byte) []byte {
	b = append(b, hostVersion, 0)
	if h.HTTPS {
		b[len(b)-1] |= hostHTTPS
	}
	if h.Spent {
		b[len(b)-1] |= hostSpent
	}
	b = binary.AppendUvarint(b, h.Pages)
	b = binary.AppendUvarint(b, uint64(h.Connect.Microseconds()))
	b = binary.AppendUvarint(b, uint64(h.Answer.Microseconds()))
	b = binary.AppendUvarint(b, uint64(h.PerConnection))
	return binary.AppendUvarint(binary.AppendUvarint(b, uint64(h.Nameless)), seconds(h.NamelessLast))
}

func decodeHost(name string, b []byte) (HostRecord, error) {
	d := decoder{b: b}
	v := d.byte()
	flags := d.byte()
	h := HostRecord{HTTPS: flags&hostHTTPS != 0, Spent: flags&hostSpent != 0, Pages: d.uvarint(1<<64 - 1)}
	if v >= 2 {
		h.Connect = time.Duration(d.uvarint(maxMicros)) * time.Microsecond
		h.Answer = time.Duration(d.uvarint(maxMicros)) * time.Microsecond
		h.PerConnection = uint32(d.uvarint(1<<32 - 1))
	}
	if v >= 4 {
		h.Nameless, h.NamelessLast = uint8(d.uvarint(255)), fromSeconds(d.uvarint(maxSeconds))
	}
	if err := d.end(); err != nil || v < 1 || v > hostVersion {
		return HostRecord{}, fmt.Errorf("docindex: host %q: corrupt, or of another version", name)
	}
	return h, nil
}

const maxMicros = 1 << 50 // 35 years

const maxSeconds = 1 << 40 // year 36812

func seconds(t time.Time) uint64 { return millis(t) / 1000 }

func millis(t time.Time) uint64 {
	if t.IsZero() {
		return 0
	}
	return uint64(max(0, t.UnixMilli()))
}

func fromSeconds(n uint64) time.Time { return fromMillis(n * 1000) }

func fromMillis(n uint64) time.Time {
	if n == 0 {
		return time.Time{}
	}
	return time.UnixMilli(int64(n)).UTC()
}

func appendString(b []byte, s string) []byte {
	return append(binary.AppendUvarint(b, uint64(len(s))), s...)
}

var errShort = errors.New("cut short")

// A decoder reads values one after the other; after an error it gives zeros.
type decoder struct {
	b   []byte
	err error
}

func (d *decoder) bytes(n int) []byte {
	if n > len(d.b) && d.err == nil {
		d.err = errShort
	}
	if d.err != nil {
		return nil
	}
	b := d.b[:n]
	d.b = d.b[n:]
	return b
}

func (d *decoder) byte() byte {
	if b := d.bytes(1); b != nil {
		return b[0]
	}
	return 0
}

func (d *decoder) uvarint(most uint64) uint64 {
	v, n := binary.Uvarint(d.b)
	switch {
	case d.err != nil:
		return 0
	case n <= 0:
		d.err = errShort
		return 0
	case v > most:
		d.err = fmt.Errorf("number %d is over %d", v, most)
		return 0
	}
	d.b = d.b[n:]
	return v
}

func (d *decoder) string() string {
	return string(d.bytes(int(d.uvarint(1 << 16))))
}

func (d *decoder) end() error {
	if d.err == nil && len(d.b) > 0 {
		return fmt.Errorf("%d bytes too many", len(d.b))
	}
	return d.err
}

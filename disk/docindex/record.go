package docindex

import (
	"encoding/binary"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"time"

	"anatomy/vocab"
)

// A Record is the entry of one document (BP98 §4.2.3: status, pointer into the repository,
// checksum, URL).
type Record struct {
	Doc       vocab.DocID // from the key
	URL       string      // canonical
	Kind      vocab.TargetKind
	State     State
	Trap      Trap          // reason, if it is Trapped
	Swapped   bool          // a redirect changed http to https or back
	Depth     uint16        // links from the nearest seed when first seen
	Hops      uint8         // consecutive redirects that led here
	Tries     uint8         // temporary failures since the last answer
	FirstSeen time.Time     // whole seconds, UTC
	Due       time.Time     // next fetch of a Waiting document, or next visit; whole milliseconds, UTC
	Fetch     *FetchOutcome // last completed fetch; nil before the first
	History   History       // zero before the first conclusive visit
}

// A FetchOutcome is the result of the last fetch of a document.
type FetchOutcome struct {
	Outcome vocab.Outcome
	Status  int             // HTTP status; 0 without a response
	Reason  string          // reason for display, if the outcome needs one
	Address vocab.Address   // in the repository; 0 if nothing was stored
	Content vocab.ContentID // zero if nothing was stored
	Alias   vocab.DocID     // redirect target, or canonical document of a duplicate; 0 for neither
	Fetched time.Time       // whole seconds, UTC

	SignedIn bool // the request carried credentials, so not everyone may see the result

	Truncated vocab.Truncation // why only a prefix of the body was stored
}

// NeedsLogin reports whether the server answered that the document needs a login.
func (f *FetchOutcome) NeedsLogin() bool {
	return f.Outcome == vocab.NotFound && f.Status == http.StatusUnauthorized
}

// A History summarises the conclusive visits to a document: those that determined whether it exists
// and whether it has changed.
type History struct {
	Visits  uint32    // including the first fetch
	Changes uint32    // visits that found changed content
	Misses  uint8     // consecutive visits that did not find a page that had existed
	Visited time.Time // the last one; whole seconds, UTC
	Changed time.Time // the last visit that found changed content, or the first fetch
	Recent  Trials

	Headers    uint16           // checksum of the header fields that are indexed; 0 for none
	Validators vocab.Validators // of the content of Fetch
}

// Trials are the latest visits, from which the change rate is estimated.
type Trials struct {
	N       uint8         // number of visits
	Changed uint8         // visits that found a change
	Span    time.Duration // sum of the times between visits, whole seconds
}

// A State determines what the crawl does next with a document.
type State uint8

// The states. Their order is part of the format.
const (
	OutOfScope State = iota // outside the scope of the crawl
	NoFollowed              // only nofollow links lead to it
	Trapped                 // within scope, but part of a trap
	Queued                  // to be fetched
	Waiting                 // to be fetched again at Due, after a failure
	Finished                // its outcome is final until the next visit
	GivenUp                 // failed too often
	States                  // number of states
)

var stateNames = [States]string{"out of scope", "nofollowed", "trapped", "queued", "waiting", "finished", "given up"}

func (s State) String() string {
	if s < States {
		return stateNames[s]
	}
	return fmt.Sprintf("state %d", uint8(s))
}

// A Trap is the reason why a URL within scope is not fetched.
type Trap uint8

// The traps. Their order is part of the format.
const (
	UnknownTrap    Trap = iota // recorded by a version without reasons
	TooDeep                    // too many links from the seeds
	Repetitive                 // the path repeats itself
	FarFuture                  // page of a calendar, years ahead
	SpentFolder                // the pages of its folder repeat the same texts and breed URLs
	SpentQuery                 // so do the pages of its path with these parameters
	OverURLs                   // its site has used up its budget of URLs
	OverSitemaps               // its site has used up its budget of sitemaps
	SpentParameter             // one of its parameters has no effect; without it, it is another URL
	NoPages                    // URLs of its shape do not lead to pages
	Template                   // it has an unexpanded template expression
	Traps                      // number of traps
)

var trapNames = [Traps]string{
	"trap", "too deep", "path repeats itself", "date years ahead", "folder repeats itself",
	"query repeats itself", "budget of URLs", "budget of sitemaps", "parameter without effect",
	"no pages", "unexpanded template",
}

func (t Trap) String() string {
	if t < Traps {
		return trapNames[t]
	}
	return fmt.Sprintf("trap %d", uint8(t))
}

// Budget returns the budget that caused the trap, or NoBudget.
func (t Trap) Budget() Budget {
	switch t {
	case OverURLs:
		return URLBudget
	case OverSitemaps:
		return SitemapBudget
	}
	return NoBudget
}

// IsOfShape reports whether a URL was refused because of its shape, see Yield.
func (t Trap) IsOfShape() bool {
	switch t {
	case SpentFolder, SpentQuery, SpentParameter, NoPages:
		return true
	}
	return false
}

// MaxReason bounds the reason of an outcome, in bytes.
const MaxReason = 200

// MaxValidator is the maximum length of a stored ETag or Last-Modified, in bytes.
const MaxValidator = 128

// version is the version of the encoding of records. Version 1 has no history.
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

// An outcome has 4 bits. The truncation has the next 3, from cutShift on. signedIn is added if the
// request carried credentials.
const (
	outcomeMask = 15
	cutShift    = 4
	cutMask     = 7
	signedIn    = 128
)

// once returns the history of a document that was visited only when it was first fetched.
func (r *Record) once() (h History) {
	if r.Fetch != nil {
		h = History{Visits: 1, Visited: r.Fetch.Fetched, Changed: r.Fetch.Fetched, Headers: r.History.Headers, Validators: r.History.Validators}
	}
	return h
}

// historyFlags returns the flags for the parts of the history to encode.
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
	outcome := byte(f.Outcome) | byte(f.Truncated)<<cutShift
	if f.SignedIn {
		outcome |= signedIn
	}
	b = append(b, outcome)
	b = binary.AppendUvarint(b, uint64(f.Status))
	b = appendString(b, clip(f.Reason))
	b = binary.AppendUvarint(b, uint64(f.Address))
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

// clip truncates a reason to MaxReason bytes, between characters.
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
		return Record{}, fmt.Errorf("document index: record of document %d: %w", doc, err)
	}
	return r, nil
}

func (d *decoder) fetch(flags byte) *FetchOutcome {
	outcome := d.byte()
	f := &FetchOutcome{
		Outcome: vocab.Outcome(outcome & outcomeMask), SignedIn: outcome&signedIn != 0,
		Truncated: vocab.Truncation(outcome >> cutShift & cutMask),
	}
	f.Status = int(d.uvarint(1 << 16))
	f.Reason = d.string()
	f.Address = vocab.Address(d.uvarint(1<<64 - 1))
	f.Alias = vocab.DocID(d.uvarint(1<<64 - 1))
	f.Fetched = fromSeconds(d.uvarint(maxSeconds))
	if flags&flagContent != 0 {
		copy(f.Content[:], d.bytes(len(f.Content)))
	}
	if f.Outcome >= vocab.Outcomes && d.err == nil {
		d.err = errors.New("unknown outcome")
	}
	if f.Truncated >= vocab.Truncations && d.err == nil {
		d.err = errors.New("unknown truncation")
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

// Counts are the totals of a document index. Every batch that changes them writes them, so they are
// exact after a crash without a scan.
type Counts struct {
	Known    uint64                 // documents; also the last docID
	Pages    uint64                 // pages fetched and stored, without duplicates
	States   [States]uint64         // documents by state
	Outcomes [vocab.Outcomes]uint64 // documents by the outcome of their last fetch
	Traps    [Traps]uint64          // trapped documents by reason
}

// countsVersion is the version of the encoding of Counts. Versions 1 and 2 have no traps. The
// number of totals of each kind is stored, because kinds are extended at their end.
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
		return c, errors.New("document index: counts have another version")
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
		return Counts{}, fmt.Errorf("document index: counts: %w", err)
	}
	return c, nil
}

// A URLRecord is the entry of a URL in the seen set.
type URLRecord struct {
	Doc        vocab.DocID
	NoFollowed bool // only nofollow links lead to it so far

	// Position in its host's queue when the URL was queued, if the queue is ordered by quality, so
	// that further links can raise it; Number is 0 for none. It may have left the queue since.
	Priority uint8
	Number   uint64

	Bred    bool // found only on pages that repeat text of others of their folder
	Listed  bool // in a sitemap
	Sampled bool // fetched to check the verdict on its shape
}

const (
	urlBred = 1 << iota
	urlListed
	urlSampled
)

func (r *URLRecord) append(b []byte) []byte {
	v, flags := uint64(r.Doc)<<1, byte(0)
	if r.NoFollowed {
		v |= 1
	}
	if r.Bred {
		flags |= urlBred
	}
	if r.Listed {
		flags |= urlListed
	}
	if r.Sampled {
		flags |= urlSampled
	}
	b = binary.AppendUvarint(b, v)
	if r.Number == 0 && flags == 0 {
		return b
	}
	b = binary.AppendUvarint(append(b, r.Priority), r.Number)
	if flags != 0 {
		b = append(b, flags)
	}
	return b
}

func decodeURL(fp vocab.Fingerprint, b []byte) (URLRecord, error) {
	d := decoder{b: b}
	v := d.uvarint(1<<64 - 1)
	r := URLRecord{Doc: vocab.DocID(v >> 1), NoFollowed: v&1 != 0}
	if len(d.b) > 0 {
		r.Priority = d.byte()
		r.Number = d.uvarint(1<<64 - 1)
	}
	if len(d.b) > 0 {
		flags := d.byte()
		r.Bred, r.Listed = flags&urlBred != 0, flags&urlListed != 0
		r.Sampled = flags&urlSampled != 0
	}
	if err := d.end(); err != nil {
		return URLRecord{}, fmt.Errorf("document index: fingerprint %x: %w", uint64(fp), err)
	}
	return r, nil
}

// A HostRecord is the data about a host that a crawl stores for the next one.
type HostRecord struct {
	Pages uint64 // fetched and kept
	HTTPS bool   // its http URLs are redirected to https

	Connect       time.Duration // estimated time of a connection, whole µs; 0 not known
	Answer        time.Duration // estimated time of an answer, whole µs; 0 not known
	PerConnection uint32        // requests that the host answers on one connection; 0 not known

	Spent bool // URLs of a shape are or were refused, see Yield

	SitemapSought bool // its robots.txt named no sitemap, and the usual URL was tried

	DownSince time.Time // when it was given up without any answer; whole seconds, UTC; zero if it is up
}

// hostVersion is the version of the encoding of a HostRecord. Version 1 ends after the pages, 2 has
// only the flag https, 3 ends after PerConnection, 4 then has two numbers about its name.
const hostVersion = 5

const (
	hostHTTPS = 1 << iota
	hostSpent
	hostSitemapSought
)

func (h *HostRecord) append(b []byte) []byte {
	b = append(b, hostVersion, 0)
	if h.HTTPS {
		b[len(b)-1] |= hostHTTPS
	}
	if h.Spent {
		b[len(b)-1] |= hostSpent
	}
	if h.SitemapSought {
		b[len(b)-1] |= hostSitemapSought
	}
	b = binary.AppendUvarint(b, h.Pages)
	b = binary.AppendUvarint(b, uint64(h.Connect.Microseconds()))
	b = binary.AppendUvarint(b, uint64(h.Answer.Microseconds()))
	b = binary.AppendUvarint(b, uint64(h.PerConnection))
	return binary.AppendUvarint(b, seconds(h.DownSince))
}

func decodeHost(name string, b []byte) (HostRecord, error) {
	d := decoder{b: b}
	v := d.byte()
	flags := d.byte()
	h := HostRecord{
		HTTPS: flags&hostHTTPS != 0, Spent: flags&hostSpent != 0,
		SitemapSought: flags&hostSitemapSought != 0, Pages: d.uvarint(1<<64 - 1),
	}
	if v >= 2 {
		h.Connect = time.Duration(d.uvarint(maxMicros)) * time.Microsecond
		h.Answer = time.Duration(d.uvarint(maxMicros)) * time.Microsecond
		h.PerConnection = uint32(d.uvarint(1<<32 - 1))
	}
	switch {
	case v == 4:
		d.uvarint(255)
		d.uvarint(maxSeconds)
	case v > 4:
		h.DownSince = fromSeconds(d.uvarint(maxSeconds))
	}
	if err := d.end(); err != nil || v < 1 || v > hostVersion {
		return HostRecord{}, fmt.Errorf("document index: host %q: damaged, or has another version", name)
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

// A decoder decodes values one after the other. After an error it returns zeros.
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

package docindex

import (
	"errors"
	"flag"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/cockroachdb/pebble/v2"
	"github.com/cockroachdb/pebble/v2/vfs"
	"pgregory.net/rapid"

	"anatomy/disk/datadir"
	"anatomy/vocab"
	"anatomy/weburl"
)

var update = flag.Bool("update", false, "rewrite the golden dump")

func openMem(t *testing.T) *DB {
	db, err := Open("index", Options{FS: vfs.NewMem()})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { db.Close() })
	return db
}

// fill writes an index of five documents, sound in every table.
func fill(t *testing.T, db *DB) {
	at := time.Unix(1_000_000_000, 0).UTC()
	body := vocab.ContentID{1, 2, 3}
	records := []Record{
		{URL: "http://a.test/", State: Finished, FirstSeen: at, Fetch: &FetchOutcome{
			Outcome: vocab.Fetched, Status: 200, Address: vocab.MakeAddress(1, 16, 0), Content: body, Fetched: at.Add(time.Minute)},
			Due: at.Add(time.Hour), History: History{Visits: 3, Changes: 1, Visited: at.Add(3 * time.Minute), Changed: at.Add(time.Minute), Recent: Trials{2, 1, 2 * time.Minute},
				Headers: 0x1234, Validators: vocab.Validators{ETag: `"5f2a"`}}},
		{URL: "https://a.test/twin", State: Finished, Depth: 1, FirstSeen: at, Fetch: &FetchOutcome{
			Outcome: vocab.Fetched, Status: 200, Address: vocab.MakeAddress(1, 16, 1), Content: body, Alias: 1, Fetched: at.Add(2 * time.Minute)}},
		{URL: "http://a.test/sitemap.xml", Kind: vocab.SitemapTarget, State: Queued, FirstSeen: at},
		{URL: "http://b.test:8080/busy", State: Waiting, Depth: 2, Hops: 1, Tries: 2, FirstSeen: at, Due: at.Add(1500 * time.Millisecond),
			Fetch: &FetchOutcome{Outcome: vocab.Failed, Status: 503, Reason: "503 Service Unavailable", Fetched: at}},
		{URL: "http://a.test/x/x/x/x/x/x", State: Trapped, Trap: Repetitive, Depth: 9, FirstSeen: at},
		{URL: "http://elsewhere.test/?q=ä", State: OutOfScope, Depth: 1},
	}
	b := db.NewBatch()
	var counts Counts
	for i, r := range records {
		r.Doc = vocab.DocID(i + 1)
		u, err := weburl.Parse(r.URL)
		if err != nil {
			t.Fatal(err)
		}
		r.URL = u.String()
		b.PutRecord(&r)
		known := URLRecord{Doc: r.Doc, NoFollowed: r.State == OutOfScope}
		if r.State == Queued {
			known.Number = 7
		}
		b.PutURL(u.Fingerprint(), known)
		counts.States[r.State]++
		if r.State == Trapped {
			counts.Traps[r.Trap]++
		}
		if r.Fetch != nil {
			counts.Outcomes[r.Fetch.Outcome]++
		}
	}
	counts.Known, counts.Pages = 6, 1
	b.PutContent(body, 1)
	b.PutDuplicate(1, 2)
	b.PutRevisit(records[0].Due, 1)
	b.PutSeed(1)
	b.PutQueued(QueueKey{"a.test", 0, 7}, 3)
	b.PutWaiting(Wait{records[3].Due, 4, 3})
	b.PutHost("a.test", HostRecord{Pages: 1, HTTPS: true, Connect: 20 * time.Millisecond, Answer: time.Second, PerConnection: 100, Spent: true, SitemapSought: true, DownSince: at})
	b.PutYield("a.test", "/x/?id", Yield{New: 300, Repeated: 52})
	b.PutYield("b.test", "*.svg", Yield{Missing: 1, Refused: 9})
	b.PutRefused("b.test", "*.svg", 6)
	b.PutCounts(&counts)
	b.PutMeta("scope", "domain")
	if err := b.Commit(); err != nil {
		t.Fatal(err)
	}
}

func TestGoldenDump(t *testing.T) {
	db := openMem(t)
	fill(t, db)
	var got strings.Builder
	if err := db.Dump(&got); err != nil {
		t.Fatal(err)
	}
	const golden = "testdata/dump.golden"
	if *update {
		if err := os.WriteFile(golden, []byte(got.String()), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(golden)
	if err != nil || got.String() != string(want) {
		t.Errorf("the format has changed (%v); if that is meant, raise the version and rerun with -update\n%s", err, got.String())
	}
	if strings.Count(got.String(), "\n") < 15 {
		t.Error("hardly anything was dumped")
	}
}

// Sites of version 1 have no refused URLs.
func TestSiteVersions(t *testing.T) {
	want := SiteUsage{
		URLs: 5, Bytes: 6, Parsing: 7 * time.Microsecond, Sitemaps: 8, SitemapBytes: 9, Refused: 300,
		Spent: FoundBudget,
	}
	got, err := decodeSite("a.test", want.append(nil))
	if err != nil || got != want {
		t.Errorf("%+v, %v; want %+v", got, err, want)
	}
	want.Refused, want.Spent = 0, ByteBudget
	got, err = decodeSite("a.test", []byte{1, byte(ByteBudget), 5, 6, 7, 8, 9})
	if err != nil || got != want {
		t.Errorf("version 1: %+v, %v; want %+v", got, err, want)
	}
	for _, damaged := range [][]byte{
		nil, {3, 0, 5, 6, 7, 8, 9, 1}, {1, 0, 5, 6, 7, 8, 9, 1}, {2, byte(budgets), 5, 6, 7, 8, 9, 1},
	} {
		if _, err := decodeSite("a.test", damaged); err == nil {
			t.Errorf("%v was read", damaged)
		}
	}
}

func TestReadBack(t *testing.T) {
	db := openMem(t)
	fill(t, db)
	u, _ := weburl.Parse("https://a.test/")
	if doc, noFollowed, ok, err := db.Find(u.Fingerprint()); doc != 1 || noFollowed || !ok || err != nil {
		t.Errorf("Find: %d %v %v %v", doc, noFollowed, ok, err)
	}
	if doc, ok, err := db.ByContent(vocab.ContentID{1, 2, 3}); doc != 1 || !ok || err != nil {
		t.Errorf("ByContent: %d %v %v", doc, ok, err)
	}
	if _, ok, err := db.Get(7); ok || err != nil {
		t.Errorf("Get of an unknown document: %v %v", ok, err)
	}
	if h, err := db.Host("a.test"); h != (HostRecord{1, true, 20 * time.Millisecond, time.Second, 100, true, true, time.Unix(1_000_000_000, 0).UTC()}) || err != nil {
		t.Errorf("Host: %v %v", h, err)
	}
	if h, err := db.Host("a.tes"); h != (HostRecord{}) || err != nil {
		t.Errorf("Host of another name: %v %v", h, err)
	}
	if seeds, err := db.Seeds(); len(seeds) != 1 || seeds[0] != 1 || err != nil {
		t.Errorf("Seeds: %v %v", seeds, err)
	}
	if s, err := db.Meta("scope"); s != "domain" || err != nil {
		t.Errorf("Meta: %q %v", s, err)
	}
	var waits []Wait
	err := db.EachWaiting(time.Unix(1_000_000_001, 500e6), func(w Wait) (bool, error) { waits = append(waits, w); return true, nil })
	if len(waits) != 1 || waits[0].Doc != 4 || err != nil {
		t.Errorf("EachWaiting: %v %v", waits, err)
	}
}

// TestEachContaining: the records that have a text are those of Each whose URL has it.
func TestEachContaining(t *testing.T) {
	db := openMem(t)
	fill(t, db)
	urls := func(each func(func(Record) error) error, part string) (found []string) {
		t.Helper()
		err := each(func(r Record) error {
			if strings.Contains(r.URL, part) {
				found = append(found, r.URL)
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
		return found
	}
	all := urls(func(fn func(Record) error) error { return db.Each(1, fn) }, "")
	if len(all) < 3 {
		t.Fatalf("only %q to search", all)
	}
	for _, part := range append(all, "a.test", "http://", "absent.test") {
		want := urls(func(fn func(Record) error) error { return db.Each(1, fn) }, part)
		got := urls(func(fn func(Record) error) error { return db.EachContaining(part, 1, fn) }, "")
		if !slices.Equal(got, want) {
			t.Errorf("records with %q: %q, want %q", part, got, want)
		}
	}
}

func TestCheck(t *testing.T) {
	spoil := map[string]func(*DB, *pebble.Batch){
		"":                              func(*DB, *pebble.Batch) {},
		"document 3 follows document 1": func(_ *DB, b *pebble.Batch) { b.Delete(number(tableDoc, 2), nil) },
		"in no queue":                   func(_ *DB, b *pebble.Batch) { b.Delete(QueueKey{"a.test", 0, 7}.bytes(), nil) },
		"is in two queues":              func(_ *DB, b *pebble.Batch) { b.Set(QueueKey{"a.test", 1, 8}.bytes(), []byte{3}, nil) },
		"document 1 is in a queue, and its state is finished": func(_ *DB, b *pebble.Batch) { b.Set(QueueKey{"a.test", 1, 8}.bytes(), []byte{1}, nil) },
		"7 fingerprints": func(_ *DB, b *pebble.Batch) { b.Set(number(tableURL, 1), []byte{1}, nil) },
		"not fetched":    func(_ *DB, b *pebble.Batch) { b.Set(contentKey(vocab.ContentID{9}), []byte{5}, nil) },
		"counts are":     func(_ *DB, b *pebble.Batch) { b.Set(metaKey("counts"), (&Counts{Known: 5}).append(nil), nil) },
	}
	for want, change := range spoil {
		db := openMem(t)
		fill(t, db)
		b := db.p.NewBatch()
		change(db, b)
		if err := b.Commit(pebble.Sync); err != nil {
			t.Fatal(err)
		}
		var problems []string
		if err := db.Check(func(p string) { problems = append(problems, p) }); err != nil {
			t.Fatal(err)
		}
		if got := strings.Join(problems, "\n"); (got == "") != (want == "") || !strings.Contains(strings.ReplaceAll(got, "was not", "not"), want) {
			t.Errorf("want %q, got %q", want, got)
		}
	}
}

func TestRecordRoundTrip(t *testing.T) {
	at := rapid.Custom(func(t *rapid.T) time.Time { return fromSeconds(rapid.Uint64Range(0, 1<<33).Draw(t, "s")) })
	rapid.Check(t, func(t *rapid.T) {
		r := Record{
			Doc: 5, URL: rapid.String().Draw(t, "url"), Kind: vocab.TargetKind(rapid.IntRange(0, 1).Draw(t, "kind")),
			State: State(rapid.IntRange(0, int(States)-1).Draw(t, "state")), Swapped: rapid.Bool().Draw(t, "swapped"),
			Depth: rapid.Uint16().Draw(t, "depth"), Hops: rapid.Byte().Draw(t, "hops"), Tries: rapid.Byte().Draw(t, "tries"),
			FirstSeen: at.Draw(t, "first"), Due: at.Draw(t, "due"),
		}
		if rapid.Bool().Draw(t, "fetched") {
			r.Fetch = &FetchOutcome{
				Outcome: vocab.Outcome(rapid.IntRange(0, int(vocab.Outcomes)-1).Draw(t, "outcome")), Status: rapid.IntRange(0, 999).Draw(t, "status"),
				Reason: rapid.StringN(0, 20, MaxReason).Draw(t, "reason"), Address: vocab.Address(rapid.Uint64().Draw(t, "place")),
				Alias: vocab.DocID(rapid.Uint64().Draw(t, "alias")), Fetched: at.Draw(t, "fetched"),
				SignedIn:  rapid.Bool().Draw(t, "signed in"),
				Truncated: vocab.Truncation(rapid.IntRange(0, int(vocab.Truncations)-1).Draw(t, "truncated")),
			}
			copy(r.Fetch.Content[:], rapid.SliceOfN(rapid.Byte(), 0, 16).Draw(t, "content"))
		}
		if visits := rapid.Uint32Range(0, 2).Draw(t, "visits"); visits > 0 {
			r.History = History{Visits: visits, Changes: rapid.Uint32().Draw(t, "changes"), Misses: rapid.Byte().Draw(t, "misses"), Visited: at.Draw(t, "visited"), Changed: at.Draw(t, "changed"),
				Recent:  Trials{rapid.Byte().Draw(t, "trials"), rapid.Byte().Draw(t, "successes"), time.Duration(rapid.IntRange(0, 1<<31).Draw(t, "span")) * time.Second},
				Headers: rapid.Uint16().Draw(t, "headers"), Validators: vocab.Validators{ETag: rapid.String().Draw(t, "etag"), LastModified: rapid.String().Draw(t, "modified")}}
		} else if r.Fetch != nil {
			r.History = r.once()
			r.History.Validators.ETag = "x"
		}
		b := r.Append(nil)
		got, err := DecodeRecord(5, b)
		if err != nil || !reflect.DeepEqual(got, r) {
			t.Fatalf("%+v, %v; want %+v", got, err, r)
		}
		for n := range b {
			if _, err := DecodeRecord(5, b[:n]); err == nil {
				t.Fatalf("cut to %d of %d bytes, it decodes", n, len(b))
			}
		}
		if _, err := DecodeRecord(5, append(b, 0)); err == nil || !strings.Contains(err.Error(), "document 5") {
			t.Fatalf("a byte too many: %v", err)
		}
	})
}

// TestOldHost reads hosts of versions 1 and 2.
func TestOldHost(t *testing.T) {
	if h, err := decodeHost("a.test", []byte{1, 1, 5}); h != (HostRecord{Pages: 5, HTTPS: true}) || err != nil {
		t.Errorf("%+v, %v", h, err)
	}
	nameless := []byte{4, 1, 5, 0, 0, 0, 2, 0x80, 0x94, 0xeb, 0xdc, 0x03}
	if h, err := decodeHost("a.test", nameless); h != (HostRecord{Pages: 5, HTTPS: true}) || err != nil {
		t.Errorf("%+v, %v", h, err)
	}
	if h, err := decodeHost("a.test", []byte{2, 1, 5, 0, 0, 0}); h != (HostRecord{Pages: 5, HTTPS: true}) || err != nil {
		t.Errorf("version 2: %+v, %v", h, err)
	}
	for _, bad := range []string{"", "\x01", "\x02\x00\x05", "\x04\x00\x05\x00\x00\x00", "\x01\x00\x05\x00"} {
		if h, err := decodeHost("a.test", []byte(bad)); err == nil {
			t.Errorf("%x decodes: %+v", bad, h)
		}
	}
}

// TestOldRecord reads a record of version 1: it was visited once.
func TestOldRecord(t *testing.T) {
	r := Record{Doc: 1, URL: "http://a.test/", State: Finished, Fetch: &FetchOutcome{Fetched: time.Unix(1_000_000_000, 0).UTC()}}
	b := r.Append(nil)
	b[0] = 1
	if got, err := DecodeRecord(1, b); err != nil || got.History != r.once() || got.History.Visits != 1 {
		t.Errorf("%+v, %v", got, err)
	}
}

// TestOldCounts reads totals of version 1, which did not say why URLs were trapped.
func TestOldCounts(t *testing.T) {
	old := append([]byte{1, byte(States), byte(vocab.Outcomes), 9, 2}, make([]byte, int(States)+int(vocab.Outcomes))...)
	old[5+int(Trapped)] = 4
	c, err := decodeCounts(old)
	if err != nil || c.Known != 9 || c.States[Trapped] != 4 || c.Traps != [Traps]uint64{UnknownTrap: 4} {
		t.Errorf("%+v, %v", c, err)
	}
}

func TestYields(t *testing.T) {
	db := openMem(t)
	fill(t, db)
	if y, err := db.Yield("a.test", "/x/?id"); y != (Yield{New: 300, Repeated: 52}) || err != nil {
		t.Errorf("%+v, %v", y, err)
	}
	if y, err := db.Yield("a.test", "/x/"); y != (Yield{}) || err != nil {
		t.Errorf("of an unknown folder: %+v, %v", y, err)
	}
	var got []string
	err := db.EachYield("a.test", func(shape string, y Yield) error { got = append(got, shape); return nil })
	if len(got) != 1 || got[0] != "/x/?id" || err != nil {
		t.Errorf("%q, %v", got, err)
	}
	if y, err := db.Yield("b.test", "*.svg"); y != (Yield{Missing: 1, Refused: 9}) || err != nil {
		t.Errorf("%+v, %v", y, err)
	}
	var refused []vocab.DocID
	err = db.EachRefused("b.test", "*.svg", func(doc vocab.DocID) (bool, error) {
		refused = append(refused, doc)
		return true, nil
	})
	if len(refused) != 1 || refused[0] != 6 || err != nil {
		t.Errorf("%v, %v", refused, err)
	}
	for _, r := range []URLRecord{
		{Doc: 7}, {Doc: 7, NoFollowed: true, Bred: true}, {Doc: 7, Priority: 3, Number: 9, Listed: true}, {Doc: 7, Sampled: true},
	} {
		if got, err := decodeURL(0, r.append(nil)); got != r || err != nil {
			t.Errorf("%+v, %v; want %+v", got, err, r)
		}
	}
}

func TestPlaceInQueue(t *testing.T) {
	db := openMem(t)
	fill(t, db)
	u, _ := weburl.Parse("http://a.test/sitemap.xml")
	if r, ok, err := db.URL(u.Fingerprint()); r != (URLRecord{Doc: 3, Number: 7}) || !ok || err != nil {
		t.Errorf("%+v, %v, %v", r, ok, err)
	}
	if doc, err := db.Queued(QueueKey{"a.test", 0, 7}); doc != 3 || err != nil {
		t.Errorf("Queued: %d, %v", doc, err)
	}
	if doc, err := db.Queued(QueueKey{"a.test", 0, 8}); doc != 0 || err != nil {
		t.Errorf("Queued of an empty place: %d, %v", doc, err)
	}
}

func TestWorkedExample(t *testing.T) {
	r := Record{Doc: 1, URL: "http://a.test/", State: Queued, FirstSeen: time.Unix(1_000_000_000, 0)}
	if got, want := string(r.Append(nil)), "\x02\x03\x00\x00\x00\x00\x80\x94\xeb\xdc\x03\x00\x0ehttp://a.test/"; got != want {
		t.Errorf("%x, the package comment says %x", got, want)
	}
}

func FuzzDecodeRecord(f *testing.F) {
	r := Record{URL: "http://a.test/", State: Finished, Fetch: &FetchOutcome{Reason: "x", Content: vocab.ContentID{1}}}
	f.Add(r.Append(nil))
	f.Fuzz(func(t *testing.T, b []byte) {
		if r, err := DecodeRecord(1, b); err == nil {
			if again, err := DecodeRecord(1, r.Append(nil)); err != nil || (len(again.URL) != len(r.URL)) {
				t.Errorf("%+v does not survive: %v", r, err)
			}
		}
	})
}

func BenchmarkRecord(b *testing.B) {
	r := Record{Doc: 1, URL: "https://docs.example.org/en/stable/library/functions.html", State: Finished, Depth: 3, FirstSeen: time.Unix(1_000_000_000, 0),
		Fetch: &FetchOutcome{Status: 200, Address: vocab.MakeAddress(1, 1<<20, 3), Content: vocab.ContentID{1}, Fetched: time.Unix(1_000_000_000, 0)}}
	b.ReportAllocs()
	var buf []byte
	for b.Loop() {
		buf = r.Append(buf[:0])
		if _, err := DecodeRecord(1, buf); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(len(buf)), "bytes")
}

// TestUnfinishedIndex: a crash while the first crawl makes the document index leaves a folder without
// a database, which is no damage, and the next crawl makes one. With pages in the repository it is.
func TestUnfinishedIndex(t *testing.T) {
	dir := t.TempDir()
	w, err := datadir.Create(dir)
	must(t, err)
	defer w.Close()
	unfinished := datadir.DocIndex(dir)
	must(t, os.Mkdir(unfinished, 0o700))
	must(t, os.WriteFile(filepath.Join(unfinished, "MANIFEST-000001"), []byte("torn"), 0o600))
	read := func() error { return Read(dir, func(*DB) error { return nil }) }
	if err := read(); !errors.Is(err, datadir.ErrNone) {
		t.Errorf("reading it: %v", err)
	}
	must(t, os.WriteFile(filepath.Join(datadir.Repository(dir), "000001.repo"), make([]byte, 100), 0o600))
	if err := read(); !errors.As(err, new(*datadir.MismatchError)) {
		t.Errorf("reading it beside pages: %v", err)
	}
	must(t, os.RemoveAll(datadir.Repository(dir)))
	db, err := OpenFolder(w, Options{})
	must(t, err)
	must(t, db.Close())
	must(t, read())
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

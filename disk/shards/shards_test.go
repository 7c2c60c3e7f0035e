package shards

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"anatomy/disk/datadir"
	"anatomy/vocab"
	"anatomy/weburl"
)

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// makeShards makes a folder of n empty shards.
func makeShards(t *testing.T, n int) (dir string, m *Map) {
	t.Helper()
	dir, m = t.TempDir(), &Map{Suffixes: "list 1", Hosts: []string{"large.test"}}
	for i := range n {
		w, err := datadir.Create(Folder(dir, i))
		must(t, err)
		m.Folders = append(m.Folders, w.ID())
		must(t, w.Close())
	}
	must(t, m.Write(dir))
	return dir, m
}

func TestMap(t *testing.T) {
	dir, m := makeShards(t, 3)
	found, err := Read(dir)
	must(t, err)
	if found.Suffixes != m.Suffixes || !slices.Equal(found.Hosts, m.Hosts) || !slices.Equal(found.Folders, m.Folders) {
		t.Errorf("%+v was written, and %+v read", m, found)
	}
	dirs, err := Folders(dir)
	if err != nil || len(dirs) != 3 || dirs[2] != filepath.Join(dir, "shard-2") {
		t.Errorf("the shards are %v, %v", dirs, err)
	}
	if alone, err := Folders(dirs[0]); err != nil || !slices.Equal(alone, dirs[:1]) {
		t.Errorf("a data folder has the folders %v, %v", alone, err)
	}
}

// TestDivision checks that the shard of a URL depends on its site, or host, alone, and that it is
// the same in every version of the program.
func TestDivision(t *testing.T) {
	m := &Map{Hosts: []string{"large.test"}, Folders: make([]string, 7)}
	for url, want := range map[string]int{
		"http://example.org/": 4, "https://www.example.org/a?b": 4, "http://docs.example.org:8080/": 4,
		"http://example.co.uk/": 4, "http://192.0.2.7/": 2,
		"http://a.large.test/": 3, "http://b.large.test/x": 1, "http://large.test/": 1,
	} {
		u, err := weburl.Parse(url)
		must(t, err)
		shard := m.Of(&u)
		if shard != want {
			t.Errorf("%s is in shard %d, want %d", url, shard, want)
		}
		for i := range m.Folders {
			if m.HasHost(i, u.Host()) != (i == shard) {
				t.Errorf("shard %d has host %s: %t", i, u.Host(), i != shard)
			}
			if has := m.HasSite(i, u.Site()); has != (i == shard) && u.Site() != "large.test" {
				t.Errorf("shard %d has site %s: %t", i, u.Site(), has)
			}
		}
	}
}

// TestDamaged checks that no change of SHARDS goes unnoticed, nor that of a shard.
func TestDamaged(t *testing.T) {
	dir, _ := makeShards(t, 2)
	path := datadir.Shards(dir)
	whole, err := os.ReadFile(path)
	must(t, err)
	for i := range whole {
		bad := slices.Clone(whole)
		bad[i] ^= 1
		must(t, os.WriteFile(path, bad, 0o600))
		if _, err := Read(dir); err == nil {
			t.Errorf("SHARDS with another byte %d is read", i)
		}
		must(t, os.WriteFile(path, whole[:i], 0o600))
		if _, err := Folders(dir); err == nil {
			t.Errorf("SHARDS that ends after %d bytes is read", i)
		}
	}
	must(t, os.WriteFile(path, whole, 0o600))
	must(t, os.Rename(Folder(dir, 0), Folder(dir, 9)))
	if _, err := Folders(dir); err == nil {
		t.Error("a shard is missing, and nobody notices")
	}
	must(t, os.Rename(Folder(dir, 1), Folder(dir, 0)))
	must(t, os.Rename(Folder(dir, 9), Folder(dir, 1)))
	if _, err := Folders(dir); err == nil || !strings.Contains(err.Error(), "another data folder") {
		t.Errorf("two shards are exchanged: %v", err)
	}
}

// TestOneFolderAlone checks that what works on one data folder refuses a folder of shards, and that
// nothing writes to a shard.
func TestOneFolderAlone(t *testing.T) {
	dir, _ := makeShards(t, 2)
	for _, path := range []string{dir, Folder(dir, 1)} {
		_, err := datadir.Open(path)
		if refused, ok := err.(*datadir.ShardsError); !ok || refused.Shard != (path != dir) {
			t.Errorf("%s is opened for writing: %v", path, err)
		}
	}
	must(t, datadir.CheckVersion(Folder(dir, 1)))
	if err := datadir.CheckVersion(dir); err == nil {
		t.Error("a folder of shards is a data folder")
	}
}

func TestForeign(t *testing.T) {
	dir := t.TempDir()
	f := &Foreign{Own: 5, Docs: []vocab.DocID{vocab.Outer(1, 9), vocab.Outer(3, 1)}}
	must(t, f.Write(dir, 0))
	all, err := ReadForeign(dir, 1)
	must(t, err)
	isForeign(t, all[0], 0, map[vocab.DocID]vocab.DocID{6: vocab.Outer(1, 9), 7: vocab.Outer(3, 1)})
	if last := all[0].Last(7); last != 5 {
		t.Errorf("the last of its own is %d", last)
	}
	path := foreignPath(dir, 0)
	whole, err := os.ReadFile(path)
	must(t, err)
	for i := range whole {
		bad := slices.Clone(whole)
		bad[i] ^= 1
		must(t, os.WriteFile(path, bad, 0o600))
		if _, err := ReadForeign(dir, 1); err == nil {
			t.Errorf("a file with another byte %d is read", i)
		}
	}
	if IsLive(dir) {
		t.Error("a crawl may go on in shards that were split")
	}
}

// isForeign checks which documents a shard mentions, and where they are.
func isForeign(t *testing.T, f *Foreign, shard int, want map[vocab.DocID]vocab.DocID) {
	t.Helper()
	for doc := range vocab.DocID(12) {
		outer, foreign := want[doc]
		if !foreign {
			outer = vocab.Outer(shard, doc)
		}
		if f.IsOwn(doc) == foreign || f.Outer(shard, doc) != outer {
			t.Errorf("document %d is %d outside, want %d", doc, f.Outer(shard, doc), outer)
		}
	}
}

// TestMentions checks that each shard knows its documents of others from its own file and from those
// of the others, whatever a crash has left at the end of a file.
func TestMentions(t *testing.T) {
	dir := t.TempDir()
	none := func(m Mention) { t.Errorf("a new file has %+v", m) }
	must(t, OpenMentions(dir, 0, none))
	must(t, OpenMentions(dir, 1, none))
	if !IsLive(dir) {
		t.Error("no crawl may go on in the shards of a crawl")
	}
	// Shard 1 learns from a parcel of shard 0 that document 4 there is its own 2, and that its 9 is
	// document 1 there.
	first := []Mention{{From: 0, Theirs: 4, Mine: 2, Own: true}, {From: 0, Theirs: 1, Mine: 9}}
	must(t, AppendMentions(dir, 1, first))
	must(t, AppendMentions(dir, 1, nil))
	path := foreignPath(dir, 1)
	one, err := os.ReadFile(path)
	must(t, err)
	second := Mention{From: 0, Theirs: 7, Mine: 3, Own: true}
	must(t, AppendMentions(dir, 1, []Mention{second}))
	two, err := os.ReadFile(path)
	must(t, err)
	want := [2]map[vocab.DocID]vocab.DocID{{4: vocab.Outer(1, 2)}, {9: vocab.Outer(0, 1)}}
	for size := len(one); size <= len(two); size++ {
		if size == len(two) {
			want[0][7] = vocab.Outer(1, 3)
		}
		must(t, os.WriteFile(path, two[:size], 0o600))
		all, err := ReadForeign(dir, 2)
		must(t, err)
		isForeign(t, all[0], 0, want[0])
		isForeign(t, all[1], 1, want[1])
		if last := all[0].Last(7); (last == 6) != (size == len(two)) {
			t.Errorf("the last of its own is %d", last)
		}
		if size == len(two) {
			break
		}
		n := 0 // a crawl goes on, and says again what it does not know to be there
		must(t, OpenMentions(dir, 1, func(Mention) { n++ }))
		must(t, AppendMentions(dir, 1, []Mention{second}))
		if again, err := os.ReadFile(path); err != nil || n != 2 || !slices.Equal(again, two) {
			t.Errorf("after %d of %d bytes there are %d mentions, then %d bytes", size, len(two), n, len(again))
		}
	}
	must(t, AppendMentions(dir, 1, []Mention{{From: 2, Theirs: 1, Mine: 1}}))
	if _, err := ReadForeign(dir, 2); err == nil {
		t.Error("a shard that there is not is mentioned, and nobody notices")
	}
}

// TestCopied removes each set of the shards of a divided folder, and of one with one owner: readers
// that do without some shards get the folders that are left of the former, unless none is.
func TestCopied(t *testing.T) {
	const n = 3
	for set := range 1 << n {
		for _, divided := range []bool{false, true} {
			dir := t.TempDir()
			m := &Map{Suffixes: "test"}
			var missing []int
			for i := range n {
				w, err := datadir.CreateShard(Folder(dir, i))
				must(t, err)
				m.Folders = append(m.Folders, w.ID())
				must(t, w.Close())
				if divided {
					must(t, MakeOwnMentions(dir, i))
				}
				if i == n-1 {
					must(t, datadir.MarkPrivate(Folder(dir, i)))
				}
				if set&(1<<i) != 0 {
					missing = append(missing, i)
					must(t, os.RemoveAll(Folder(dir, i)))
				}
			}
			must(t, m.Write(dir))
			dirs, found, err := Copied(dir)
			usable := len(missing) == 0 || divided && len(missing) < n
			if usable != (err == nil) || usable != (CheckCopied(dir) == nil) {
				t.Fatalf("divided %v, shards %d are missing: %v", divided, missing, err)
			}
			if usable && (len(dirs) != n || !slices.Equal(found, missing)) {
				t.Errorf("%d folders, %d are missing, want %d", len(dirs), found, missing)
			}
			if _, err := Folders(dir); (err == nil) != (len(missing) == 0) {
				t.Errorf("shards %d are missing: %v", missing, err)
			}
			if last := !slices.Contains(missing, n-1); IsPrivate(dir) != last {
				t.Errorf("shards %d are missing, and the folder is private: %v", missing, !last)
			}
		}
	}
}

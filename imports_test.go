package anatomy

import (
	"go/parser"
	"go/token"
	"io/fs"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// imports says what each room may import of this module, tests apart. A name ending in /* means the
// folders below it. The order is the flow of data: stages do not import stages, they meet in files
// and in the messages of vocab; engine alone knows them all.
var imports = parseImports(`
.:
vocab:
lru:
xmlcharset:
weburl: vocab
analysis:
disk/durable:
disk/durable/*: disk/durable
disk/damage:
disk/audit: disk/durable
disk/datadir: vocab disk/durable
disk/texts:
disk/segment: vocab weburl analysis disk/durable disk/texts disk/segment/internal/* lru
disk/segment/internal/*: vocab disk/durable disk/segment/internal/*
disk/parcel/parceltest: vocab disk/parcel
disk/*: vocab weburl analysis disk/durable disk/datadir disk/texts lru
urlserver: vocab weburl disk/docindex urlserver/* internal/plural
urlserver/*: vocab weburl disk/docindex urlserver/*
crawler: vocab weburl crawler/* lru internal/plural internal/secret
crawler/*:
crawler/sitemap: xmlcharset
crawler/signin: weburl crawler/internal/* internal/secret
warc:
render: vocab internal/plural
storeserver: vocab disk/repository
indexer: vocab weburl analysis disk/barrel indexer/internal/* indexer/officetext indexer/servicetext indexer/datatext xmlcharset
indexer/officetext: vocab xmlcharset
indexer/servicetext: vocab xmlcharset indexer/internal/jsontoken
indexer/datatext: indexer/internal/jsontoken
indexer/internal/jsontoken:
indexer/internal/labels: vocab
indexer/internal/layout: vocab
indexer/internal/sections: vocab indexer/internal/htmltoken
indexer/internal/space: vocab
indexer/internal/decode: indexer/internal/guess
indexer/structure: indexer/internal/decode indexer/internal/htmltoken
indexer/*: indexer/internal/htmltoken
resolver: vocab disk/linkdb
sorter: vocab weburl analysis disk/barrel disk/segment disk/texts
pagerank/bvgraph:
pagerank: vocab disk/durable pagerank/bvgraph
parallel/align:
parallel: parallel/align vocab weburl analysis indexer/structure disk/datadir disk/linkdb disk/repository disk/segment disk/shards disk/translations
searcher: vocab weburl analysis searcher/* disk/damage disk/datadir disk/segment disk/rankvector disk/shards disk/translations
searcher/query: vocab weburl analysis
searcher/synonyms: analysis searcher/reload
searcher/reload:
searcher/labels: vocab weburl searcher/reload disk/segment
searcher/pins: weburl searcher/query searcher/reload
searcher/scoring: vocab analysis searcher/query searcher/internal/arena disk/segment
searcher/internal/arena:
searcher/internal/memo:
searcher/internal/versions: vocab weburl searcher/query disk/translations
searcher/internal/retrieval: vocab weburl searcher/query searcher/internal/arena disk/segment
searcher/internal/facets: vocab weburl searcher/query searcher/internal/retrieval disk/segment
searcher/internal/snapshot: vocab weburl analysis searcher/query searcher/scoring searcher/internal/memo searcher/internal/retrieval disk/damage disk/datadir disk/rankvector disk/segment disk/translations
searcher/internal/presentation: vocab analysis searcher/query searcher/scoring searcher/internal/arena
searcher/internal/suggest: analysis searcher/query searcher/internal/memo
searcher/internal/shard: vocab analysis searcher/query searcher/scoring searcher/internal/arena searcher/internal/facets searcher/internal/presentation searcher/internal/retrieval searcher/internal/snapshot disk/segment
searcher/internal/images: vocab analysis searcher/scoring
internal/jsonerror:
internal/plural:
internal/raster:
internal/secret:
internal/test/testweb: vocab weburl urlserver crawler crawler/dnsclient index engine upkeep collection searcher demo disk/*
internal/test/oracle: vocab weburl analysis searcher searcher/query searcher/scoring disk/segment
cluster/bucket: disk/durable
cluster/bus: disk/durable
cluster/fleet: vocab weburl crawler crawler/sitemap cluster/bus internal/plural
cluster/bucket/buckettest: cluster/bucket
cluster/lease: cluster/bucket
cluster/peer: vocab disk/datadir disk/durable
cluster/replica: vocab disk/durable disk/datadir disk/segment disk/shards disk/snapshot cluster/bucket
cluster/division: vocab config disk/durable disk/datadir disk/parcel disk/shards disk/snapshot cluster/bucket cluster/lease cluster/node cluster/replica
cluster/node: vocab disk/durable disk/datadir disk/repository disk/shards disk/snapshot cluster/bucket cluster/lease cluster/replica
collection: vocab weburl analysis urlserver crawler indexer indexer/officetext searcher searcher/synonyms pagerank ranking control disk/* lru internal/plural
web/internal/respond: searcher collection
web/internal/messages:
web/internal/reported: web/internal/messages web/internal/text internal/plural
web/internal/access: web/internal/respond web/internal/text
web/internal/text: vocab searcher analysis weburl
web/internal/recent: web/internal/text
web/internal/params: vocab searcher weburl web/internal/respond web/internal/text internal/jsonerror
web/internal/address: vocab searcher web/internal/respond
web/internal/inert: vocab weburl web/internal/text
web/internal/prefsfile: searcher web/internal/messages web/internal/params web/internal/text
web/internal/reader: vocab searcher collection web/internal/*
web/internal/siblings: searcher web/internal/*
web/internal/passages: searcher web/internal/*
web/internal/session: web/internal/*
web/internal/picture: vocab internal/raster web/internal/text lru
web/internal/visitor: searcher web/internal/params
web/internal/look:
web/internal/marks:
web/internal/frame: web/internal/*
web/api: vocab searcher collection web/internal/* internal/plural
web/box: searcher web/api web/internal/*
web/mcp: vocab searcher collection web/internal/*
web/pages: lru vocab weburl searcher collection web/api web/internal/* internal/plural internal/raster
web/admin: vocab collection web/internal/* internal/plural
web: vocab searcher web/*
demo: . vocab
eval: vocab weburl analysis searcher searcher/scoring
control: vocab weburl urlserver disk/datadir disk/docindex disk/shards disk/snapshot
ranking: vocab weburl pagerank disk/shards disk/datadir disk/docindex disk/linkdb disk/rankvector
index: vocab indexer resolver sorter disk/*
topic: vocab weburl analysis
engine/internal/meter: vocab pagerank
engine/internal/favicon: disk/icons internal/raster lru vocab weburl
engine/internal/urllanguage: vocab disk/docindex
engine/internal/votes: vocab weburl pagerank disk/linkdb
engine: engine/internal/* lru topic vocab weburl urlserver crawler storeserver indexer index ranking pagerank parallel control disk/*
engine/collective: vocab weburl urlserver crawler/dnsclient ranking pagerank control engine lru disk/*
upkeep: vocab weburl warc config urlserver storeserver indexer index ranking pagerank parallel control engine engine/collective disk/*
config: disk/durable
cmd/anatomy/internal/cli: vocab disk/durable internal/plural
cmd/anatomy/internal/service:
cmd/anatomy/internal/backups: upkeep disk/shards cmd/anatomy/internal/cli cmd/anatomy/internal/record
cmd/anatomy/internal/sharded: vocab control engine engine/collective disk/datadir disk/shards cmd/anatomy/internal/cli cmd/anatomy/internal/progress
cmd/anatomy/internal/manual: cmd/anatomy/internal/cli
cmd/anatomy/internal/ranks: weburl pagerank pagerank/bvgraph ranking cmd/anatomy/internal/cli cmd/anatomy/internal/rankpage cmd/anatomy/internal/record internal/plural
cmd/anatomy/internal/record: disk/audit cmd/anatomy/internal/cli
cmd/anatomy/internal/resolve: crawler/dnsclient cmd/anatomy/internal/cli internal/plural
cmd/anatomy/internal/disks: disk/datadir disk/durable cmd/anatomy/internal/cli internal/plural
cmd/anatomy/internal/clusters: vocab cluster/bucket cluster/bus cluster/division cluster/lease cluster/node cluster/peer cluster/replica searcher upkeep disk/datadir disk/durable disk/shards disk/snapshot cmd/anatomy/internal/cli internal/plural
cmd/anatomy/internal/rules: vocab config weburl disk/durable disk/rankvector disk/shards searcher searcher/labels searcher/pins searcher/reload searcher/synonyms web cmd/anatomy/internal/cli
cmd/anatomy/internal/history: disk/crawllog disk/shards engine urlserver cmd/anatomy/internal/cli
cmd/anatomy/internal/schedule: config disk/crawllog cmd/anatomy/internal/cli
cmd/anatomy/internal/serving: weburl disk/shards cmd/anatomy/internal/cli
cmd/anatomy/internal/configs: config disk/crawllog disk/shards searcher web/admin cmd/anatomy/internal/cli cmd/anatomy/internal/quality cmd/anatomy/internal/record cmd/anatomy/internal/rules cmd/anatomy/internal/schedule internal/plural
cmd/anatomy/internal/quality: vocab weburl eval upkeep searcher searcher/scoring collection disk/datadir disk/durable disk/shards searcher/synonyms searcher/reload cmd/anatomy/internal/cli cmd/anatomy/internal/rules internal/plural internal/jsonerror
cmd/anatomy/internal/tuning: config eval searcher web/admin disk/durable cmd/anatomy/internal/quality cmd/anatomy/internal/rules
cmd/anatomy/internal/export: upkeep warc parallel cmd/anatomy/internal/cli internal/plural
cmd/anatomy/internal/imports: upkeep warc cmd/anatomy/internal/cli cmd/anatomy/internal/record internal/plural
cmd/anatomy/internal/rankpage: ranking cmd/anatomy/internal/cli internal/plural
cmd/anatomy/internal/progress: vocab engine cmd/anatomy/internal/cli internal/plural
cmd/anatomy: config topic control ranking upkeep cmd/anatomy/internal/* vocab weburl warc engine engine/collective demo searcher searcher/scoring collection web web/admin web/api web/pages urlserver crawler crawler/* cluster/* indexer indexer/* render pagerank disk/* internal/plural internal/secret
lab/rig: eval vocab weburl disk/docindex disk/linkdb disk/rankvector disk/shards
lab/rig/bench: vocab lab/rig cluster/bus disk/datadir
lab/rig/replay: vocab weburl engine disk/datadir disk/docindex disk/repository
lab/navigation: analysis eval lab/rig lab/rig/replay searcher searcher/scoring vocab weburl disk/linkdb
lab/copies: eval indexer lab/rig/replay searcher vocab weburl
lab/mutants:
lab/firstbench: lab/rig vocab engine searcher disk/*
lab/postings: lab/rig vocab searcher disk/*
lab/floorbench: lab/rig vocab disk/*
lab/freshness: eval lab/rig vocab weburl analysis indexer
lab/load: eval lab/rig
lab/completions: analysis searcher
lab/sections: eval lab/rig searcher collection
lab/agents: eval lab/rig vocab searcher collection web
lab/peers: eval lab/rig
lab/judged: eval lab/rig vocab collection searcher searcher/scoring upkeep disk/datadir disk/segment
lab/clients:
lab/clients/oapi: lab/clients/oapi/api
lab/coverage: vocab weburl crawler/robots searcher disk/docindex
lab/pagerank: lab/rig pagerank pagerank/bvgraph
lab/parallel: parallel parallel/align disk/docindex disk/datadir disk/translations vocab
lab/crashes: lab/rig
lab/hdfs: lab/rig searcher upkeep cluster/bucket cluster/division cluster/lease cluster/replica disk/snapshot
lab/cluster: vocab weburl lab/rig lab/rig/bench
lab/mission: lab/rig/bench
lab/shards: lab/rig vocab weburl searcher cluster/peer disk/*
lab/spam: pagerank vocab weburl disk/linkdb
lab/breed: lab/rig
lab/frontier: lab/rig vocab weburl urlserver
lab/urlcache: vocab weburl urlserver/* indexer disk/* lab/plot
lab/agenda:
lab/dspider: vocab weburl urlserver cluster/fleet lab/agenda lab/plot lab/rig
lab/focused: vocab weburl topic indexer
lab/scheduling: lab/rig lab/agenda vocab weburl urlserver pagerank disk/datadir disk/linkdb lab/plot
lab/dns: lab/rig eval crawler/dnsclient lab/plot
lab/charsets: indexer lab/rig vocab
lab/languages: indexer lab/rig vocab
lab/neardup: vocab indexer
lab/order: analysis
lab/plot:
lab/all: lab/rig
lab/coroutines: lab/plot
`)

// parseImports reads lines of the form "room: import import …".
func parseImports(table string) map[string]string {
	rooms := map[string]string{}
	for line := range strings.Lines(strings.TrimSpace(table)) {
		name, allowed, _ := strings.Cut(line, ":")
		rooms[name] = strings.TrimSpace(allowed)
	}
	return rooms
}

func TestImports(t *testing.T) {
	seen := 0
	err := filepath.WalkDir(".", func(file string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if name := d.Name(); d.IsDir() && (name == "testdata" || name != "." && strings.HasPrefix(name, ".")) {
			return filepath.SkipDir
		}
		if !strings.HasSuffix(file, ".go") || strings.HasSuffix(file, "_test.go") {
			return nil
		}
		seen++
		room := path.Dir(filepath.ToSlash(file))
		allowed, ok := lookup(room)
		if !ok {
			t.Errorf("%s: room %q is not in the table", file, room)
			return nil
		}
		parsed, err := parser.ParseFile(token.NewFileSet(), file, nil, parser.ImportsOnly)
		if err != nil {
			return err
		}
		for _, spec := range parsed.Imports {
			imported, err := strconv.Unquote(spec.Path.Value)
			if err != nil {
				return err
			}
			if imported == "anatomy" {
				imported = "anatomy/."
			}
			if own, ok := strings.CutPrefix(imported, "anatomy/"); ok && !permits(allowed, own) {
				t.Errorf("%s imports %s, which %q may not", file, own, room)
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if seen < 50 {
		t.Fatalf("only %d files were looked at", seen)
	}
}

func lookup(room string) (string, bool) {
	if allowed, ok := imports[room]; ok {
		return allowed, true
	}
	for dir := room; dir != "." && dir != "/"; dir = path.Dir(dir) {
		if allowed, ok := imports[path.Dir(dir)+"/*"]; ok {
			return allowed, true
		}
	}
	return "", false
}

func permits(allowed, own string) bool {
	list := strings.Fields(allowed)
	return slices.Contains(list, own) || slices.ContainsFunc(list, func(a string) bool {
		dir, ok := strings.CutSuffix(a, "*")
		return ok && strings.HasPrefix(own, dir)
	})
}

package main

// A mutant is a fault in one line, and the tests that should notice it.
type mutant struct {
	name  string // of the rule that it breaks
	file  string // relative to the root of the module
	old   string // part of the file, there exactly once
	new   string // what replaces it
	tests string // arguments of go test: packages, -run, -short
}

// mutants holds one fault per rule that must not break, across the rooms.
var mutants = []mutant{
	{
		name:  "robots precedence", // the longest rule wins (RFC 9309 §2.2.2)
		file:  "crawler/robots/parse.go",
		old:   "return b.length - a.length",
		new:   "return a.length - b.length",
		tests: "./crawler/robots",
	},
	{
		name:  "data-nosnippet", // text that a publisher withholds is not kept for snippets
		file:  "indexer/text.go",
		old:   "if !s.style.withheld {",
		new:   "if true {",
		tests: "./indexer -run Withheld",
	},
	{
		name:  "noarchive", // no copy of a page is shown if its publisher forbids it
		file:  "web/internal/reader/reader.go",
		old:   "if info.Controls.NoArchive {",
		new:   "if false {",
		tests: "./web -run NoArchive",
	},
	{
		name:  "Retry-After", // a site that asks for a pause is left alone for that long
		file:  "urlserver/complete.go",
		old:   "h.Hold(c.now, result.RetryAfter, result.Reason)",
		new:   "h.Hold(c.now, result.RetryAfter/2, result.Reason)",
		tests: "./urlserver -run Retry|Politeness|Model",
	},
	{
		name:  "lease expiry", // a released lease leaves its site free for the next
		file:  "urlserver/internal/frontier/lease.go",
		old:   "site.leases--",
		new:   "site.leases -= 0",
		tests: "./urlserver -run Politeness|Model|Lease",
	},
	{
		name:  "seen test", // a URL that is on disk alone has been seen
		file:  "urlserver/seentest.go",
		old:   "s.cache.Put(fp, u)\n\treturn u, true, nil",
		new:   "s.cache.Put(fp, u)\n\treturn u, false, nil",
		tests: "./urlserver -run Model|Seen",
	},
	{
		name:  "site down, retry", // a page that waits for another try is kept when its host is given up
		file:  "urlserver/state.go",
		old:   "c.schedule.abandon(c.b, r, h.Loss)",
		new:   "giveUp(r, h.Loss)",
		tests: "./urlserver -run GivenUp",
	},
	{
		name:  "site down, days", // two answers 404 on one day are one
		file:  "urlserver/complete.go",
		old:   "c.now.Sub(h.Visited) < p.ConfirmAfter",
		new:   "false",
		tests: "./urlserver -run Misses",
	},
	{
		name:  "site failing", // a host whose answers are all failures is given up
		file:  "urlserver/internal/frontier/health.go",
		old:   "h.failed >= maxFailed && since >= o.HostFailing",
		new:   "false",
		tests: "./urlserver -run FailingHost",
	},
	{
		name:  "site pausing", // and so is one that asks for pauses without end
		file:  "urlserver/internal/frontier/health.go",
		old:   "paused && h.failed >= o.HostTries",
		new:   "false && h.failed >= o.HostTries",
		tests: "./urlserver -run FailingHost",
	},
	{
		name:  "site origin", // a dead origin costs one try
		file:  "urlserver/internal/frontier/origin.go",
		old:   "failedAt = now\n\treturn h.answers(!https)",
		new:   "failedAt = now\n\treturn false",
		tests: "./urlserver -run DeadOrigin",
	},
	{
		name:  "site sitemaps", // pages go between sitemaps
		file:  "urlserver/internal/frontier/host.go",
		old:   "h.turns = pagesPerSitemap",
		new:   "h.turns = 0",
		tests: "./urlserver -run Sitemaps",
	},
	{
		name:  "confirmation", // what came in since the lease spares requests
		file:  "urlserver/grant.go",
		old:   "f.evidence == f.host.Evidence || ",
		new:   "f.evidence >= 0 || ",
		tests: "./urlserver -run Confirm",
	},
	{
		name:  "site budget", // a site that breeds pages ends
		file:  "urlserver/internal/frontier/budget.go",
		old:   "u.Bytes >= uint64(b.Bytes)",
		new:   "u.Bytes > 1<<62",
		tests: "./urlserver -run SiteBudgets",
	},
	{
		name:  "duplicate test", // a body among the last ones written is known before the index knows it
		file:  "storeserver/storeserver.go",
		old:   "of, ok = s.recent.find(e.content)",
		new:   "of, _ = s.recent.find(e.content)",
		tests: "./storeserver",
	},
	{
		name:  "canonical link", // counts within the site of the page only
		file:  "indexer/relations.go",
		old:   `case r.canonical == "" && !offSite:`,
		new:   `case r.canonical == "":`,
		tests: "./indexer -run Relations|Canonical|Link",
	},
	{
		name:  "votes of sites", // of duplicates on several sites, the sites that link to theirs count first
		file:  "engine/internal/votes/votes.go",
		old:   "cmp.Or(cmp.Compare(v.sites, w.sites), ",
		new:   "cmp.Or(",
		tests: "./engine -run TestRepresentatives$",
	},
	{
		name:  "anchor credit", // each page that links with a text counts, not the first alone
		file:  "resolver/resolver.go",
		old:   "len(sources) == 0 || sources[len(sources)-1] != source",
		new:   "len(sources) == 0",
		tests: "./resolver",
	},
	{
		name:  "fsync before rename", // a file has its new name only once its content is durable
		file:  "disk/durable/file.go",
		old:   "\t\terr = w.file.Sync()",
		new:   "\t\tdefer w.file.Sync()",
		tests: "./disk/durable",
	},
	{
		name:  "manifest: fsync of the file", // and of link runs, which are written alike
		file:  "disk/durable/file.go",
		old:   "\t\terr = w.file.Sync()",
		new:   "\t\tdefer w.file.Sync()",
		tests: "./disk/datadir -run ManifestAfterCrash",
	},
	{
		name:  "lease: a claim without a look at the others",
		file:  "cluster/lease/lease.go",
		old:   "err == nil && len(others) == 0",
		new:   "err == nil && len(others) >= 0",
		tests: "./cluster/lease -run OneOwner",
	},
	{
		name:  "replica: objects are not verified",
		file:  "cluster/replica/follow.go",
		old:   "if sha256.Sum256(content) != part.Sum {",
		new:   "if sha256.Sum256(content) == (Sum{}) {",
		tests: "./cluster/replica -run DamagedObjects",
	},
	{
		name:  "replica: a replaced owner's number of files is used again",
		file:  "cluster/replica/follow.go",
		old:   "same := intact && slices.Equal(known.Parts, file.Parts)",
		new:   "same := intact && known.Size == file.Size",
		tests: "./cluster/replica",
	},
	{
		name:  "rank vector: fsync of the folder",
		file:  "disk/durable/file.go",
		old:   "\treturn syncParent(fsys, path)\n}\n\n// ReadFile",
		new:   "\treturn nil\n}\n\n// ReadFile",
		tests: "./disk/datadir -run RankAfterCrash",
	},
	{
		name:  "link run: fsync of the folder",
		file:  "disk/durable/file.go",
		old:   "\treturn syncParent(w.fsys, w.path)\n}\n\n// Abort",
		new:   "\treturn nil\n}\n\n// Abort",
		tests: "./disk/linkdb -run RunAfterCrash",
	},
	{
		name:  "segment: fsync of its files",
		file:  "disk/durable/folder.go",
		old:   "return errors.Join(f.Sync(), f.Close())",
		new:   "return f.Close()",
		tests: "./disk/segment -run SegmentAfterCrash",
	},
	{
		name:  "segment: fsync of its folder",
		file:  "disk/durable/folder.go",
		old:   "\treturn fsys.SyncFolder(dir)\n}\n\nfunc syncFile",
		new:   "\treturn nil\n}\n\nfunc syncFile",
		tests: "./disk/segment -run SegmentAfterCrash",
	},
	{
		name:  "segment: published as it is",
		file:  "disk/segment/writer.go",
		old:   "return durable.PublishFolder(fsys, temp, dir)",
		new:   "return durable.Rename(fsys, temp, dir)",
		tests: "./disk/segment -run SegmentAfterCrash",
	},
	{
		name:  "repository: fsync of the folder of a new file",
		file:  "disk/repository/repository.go",
		old:   "\t\terr = r.fs.SyncFolder(folder)\n",
		new:   "",
		tests: "./disk/repository -run SyncedRecordsSurviveCrash",
	},
	{
		name:  "repository: fsync of blocks",
		file:  "disk/repository/repository.go",
		old:   "if err := r.last.Sync(); err != nil {",
		new:   "if err := error(nil); err != nil {",
		tests: "./disk/repository -run SyncedRecordsSurviveCrash",
	},
	{
		name:  "repository: fsync of what a killed process left",
		file:  "disk/repository/repository.go",
		old:   "return errors.Join(f.Sync(), r.fs.SyncFolder(filepath.Dir(r.path(number))))",
		new:   "return r.fs.SyncFolder(filepath.Dir(r.path(number)))",
		tests: "./disk/repository -run KilledThenCrash",
	},
	{
		name:  "repository: fsync of the folder of a file that a killed process made",
		file:  "disk/repository/repository.go",
		old:   "return errors.Join(f.Sync(), r.fs.SyncFolder(filepath.Dir(r.path(number))))",
		new:   "return f.Sync()",
		tests: "./disk/repository -run KilledThenCrash",
	},
	{
		name:  "fsync of the name of a folder that a killed process made",
		file:  "disk/durable/folder.go",
		old:   "if err := syncParent(fsys, dir); !errors.Is(err, fs.ErrPermission) {",
		new:   "if err := error(nil); !errors.Is(err, fs.ErrPermission) {",
		tests: "./disk/repository -run KilledThenCrash",
	},
	{
		name:  "documents are durable before their records", // or other URLs get their docIDs
		file:  "urlserver/server.go",
		old:   "\terr = s.db.Sync()\n\ts.mu.Lock()",
		new:   "\terr = nil\n\ts.mu.Lock()",
		tests: "./engine -run DocumentsOutliveTheirRecords",
	},
	{
		name:  "documents are durable before their links",
		file:  "engine/crawl.go",
		old:   "\treturn c.urls.MakeDurable(last)",
		new:   "\treturn nil",
		tests: "./engine -run DocumentsOutliveTheirLinks",
	},
	{
		name:  "a document index of another folder is refused",
		file:  "disk/docindex/folder.go",
		old:   "case id != \"\" && own != id && (own != \"\" || known > 0):",
		new:   "case id != \"\" && own == \"none\":",
		tests: "./upkeep -run MismatchIsRefused",
	},
	{
		name:  "link runs are not written over",
		file:  "disk/linkdb/write.go",
		old:   "durable.CreateNew(",
		new:   "durable.Create(",
		tests: "./disk/linkdb -run NotReplaced",
	},
	{
		name:  "dangling mass", // the rank of nodes without links goes to the teleport set
		file:  "pagerank/kernel.go",
		old:   "before := (1-c.damping)*c.mass + c.damping*c.dangling // the",
		new:   "before := (1 - c.damping) * c.mass // the",
		tests: "./pagerank -run Textbook|PRPACK",
	},
	{
		name:  "MaxScore bound", // terms are non-essential only if their bounds together miss the threshold
		file:  "searcher/internal/retrieval/disjunction.go",
		old:   "static+othersUpperBound+d.byBound[n].upperBound < required",
		new:   "static+d.byBound[n].upperBound < required",
		tests: "./searcher -run Pruning",
	},
	{
		name:  "phrase gap", // words of a phrase follow each other at once
		file:  "searcher/internal/retrieval/positions.go",
		old:   "if positions[i] == target && target.Field() == start.Field() {",
		new:   "if positions[i] <= target+1 && target.Field() == start.Field() {",
		tests: "./searcher -short -run BruteForce",
	},
	{
		name:  "idf", // the rarer a term, the more it counts
		file:  "searcher/scoring/weights.go",
		old:   "(float64(pages-n)+0.5)/(float64(n)+0.5)",
		new:   "(float64(pages-n)+0.5)/(float64(n)+1.5)",
		tests: "./searcher/scoring",
	},
	{
		name:  "proximity weight", // by how near the terms are
		file:  "searcher/scoring/proximity.go",
		old:   "Score(m.Near[bin].Weight) / 1000",
		new:   "Score(m.Near[0].Weight) / 1000",
		tests: "./searcher -short -run Golden|Explain",
	},
	{
		name:  "cursor end", // the last page of results has no cursor
		file:  "web/api/cursor.go",
		old:   `if !ok || a.State == "" {`,
		new:   `if !ok && a.State == "" {`,
		tests: "./web -run Cursor|API",
	},
	{
		name:  "snippet escape", // text of pages never becomes HTML
		file:  "web/pages/hit.go",
		old:   "m.WriteString(template.HTMLEscapeString(s))",
		new:   "m.WriteString(s)",
		tests: "./web -run Hostile|Result|Search",
	},
	{
		name:  "DNS letter case", // an answer repeats the letters of the query
		file:  "crawler/dnsclient/letters.go",
		old:   "		if answer[i] != c {",
		new:   "		if false {",
		tests: "./crawler/dnsclient -run LetterCase",
	},
	{
		name:  "DNS ports", // few queries leave from one port
		file:  "crawler/dnsclient/ports.go",
		old:   "len(p.queries) < n.defence.queries && ",
		new:   "",
		tests: "./crawler/dnsclient -run TestPorts",
	},
	{
		name:  "DNS doubt", // wrong answers in numbers make the client ask over TCP
		file:  "crawler/dnsclient/ports.go",
		old:   "if p.wrong++; p.wrong < n.defence.wrong {",
		new:   "if p.wrong++; p.wrong > 0 {",
		tests: "./crawler/dnsclient -run TestForger -short",
	},
	{
		name:  "kept rules", // a resumed crawl excludes what it excluded before
		file:  "cmd/anatomy/internal/rules/check.go",
		old:   "return list.Replace(values)",
		new:   "return list.Replace(nil)",
		tests: "./cmd/anatomy -run TestScripts/kept",
	},
	{
		name:  "fleet, other documents", // a worker writes to the targets of its lease, in order
		file:  "cluster/fleet/owner.go",
		old:   "r.Target.Index != v.next || ",
		new:   "",
		tests: "./cluster/fleet -run Dismissed",
	},
	{
		name:  "fleet, lost worker", // what a silent worker had goes to others
		file:  "cluster/fleet/owner.go",
		old:   "		v.end()\n\t}\n\tr.visits = nil",
		new:   "		_ = v\n\t}\n\tr.visits = nil",
		tests: "./cluster/fleet -run LostWorker -timeout 60s",
	},
	{
		name:  "fleet, silent host", // goes to another worker at once
		file:  "cluster/fleet/choose.go",
		old:   "others > 0 && silent < maxSilent",
		new:   "others > 0 && silent < 0",
		tests: "./cluster/fleet -run Unreachable|GivesBack",
	},
	{
		name:  "fleet, batch twice", // a batch that comes again is not handled again
		file:  "cluster/fleet/owner.go",
		old:   "case b.Number <= r.received:",
		new:   "case b.Number < r.received:",
		tests: "./cluster/fleet -run BrokenConnections -count 3",
	},
	{
		name:  "bus, subjects", // a crawler reads its own messages alone
		file:  "cluster/bus/server.go",
		old:   `subscribe: []string{"down." + id, ownersSubject, ownersSubject + "." + id}`,
		new:   `subscribe: []string{"down.*", ownersSubject, ownersSubject + "." + id}`,
		tests: "./cluster/bus -run Bus",
	},
	{
		name:  "filters of a lens", // pages outside are neither results nor counted
		file:  "searcher/prefer.go",
		old:   "root = filtered(p, root)",
		new:   "filtered(p, root)",
		tests: "./searcher -run TestPreferences$",
	},
	{
		name:  "pins within a lens", // a pin shows nothing that a search could not show
		file:  "searcher/pin.go",
		old:   "slices.Concat(conditions, p.filters.Required())",
		new:   "slices.Concat(conditions)",
		tests: "./searcher -run TestPins",
	},
}

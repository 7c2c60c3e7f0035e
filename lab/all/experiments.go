package main

import "strings"

// An experiment is a program of lab with the size that it has here, and what the report takes from
// what it prints.
type experiment struct {
	program       string
	Source, About string
	// In args, PLOTS is a folder, whose plots the report shows, and KEPT one that lasts; PROGRAM and DIR are
	// those of docsweb, FOLDER, TRANSLATIONS, TRUTH, WEB and TOPIC the values of flags. It runs only if
	// those are given. Several experiments may be of one program.
	args    []string
	figures []figure
}

// A figure is one of the paper's beside ours, which the groups of a pattern find in the output: all of
// them where the pattern matches first, as words of one line.
type figure struct {
	what, paper, pattern string
}

var experiments = []experiment{
	{
		program: "firstbench", Source: "Brin and Page 1998",
		About: "The pipeline from URL to searchable page on real pages: fetched, parsed, indexed and searched, beside the " +
			"least Go program that fetches and tokenizes the same pages.",
		args: []string{"--docsweb", "PROGRAM", "--pages", "DIR", "--keep", "KEPT"},
		figures: []figure{
			{"pages fetched", "24 million", `pages fetched\s+(\d+) in`},
			{"time of one core, s per 1,000 pages", "20.6 by the clock, on several machines", `CPU s per 1,000 pages\s+([\d.]+)`},
			{"the same, as a multiple of the least program", "", `floor, fetch and tokenise: [\d.]+; ratio ([\d.]+)`},
			{"bytes a page on disk", "some 4,530, of them 2,230 repository and 1,550 full index", `(?s)bytes a page on disk\s+(\d+)`},
			{"table 1: MB fetched, searchable pages", "147,800; 24 million", `(?s)Table 1\)\s+([\d.]+) MB fetched\nsearchable pages (\d+)`},
			{"table 1, bytes a page: repository", "2,229", `(?m)^ +repository +[\d.]+ +(\d+)`},
			{"documents and impacts; hits of the inverted index", "1,721 in all, of them 171 short barrels", `(?s)documents and impacts +[\d.]+ +(\d+).*?index: hits +[\d.]+ +(\d+)`},
			{"lexicon", "12", `lexicon, with the lists of rare words +[\d.]+ +(\d+)`},
			{"document index", "404", `document index, seen set, frontier +[\d.]+ +(\d+)`},
			{"links and anchors", "438", `links and anchors +[\d.]+ +(\d+)`},
			{"all", "4,529", `(?m)^ +total +[\d.]+ +(\d+)`},
			{"a query, ms at the median, slowest", "1,000 to 10,000", `query, ms\s+p50 ([\d.]+), p95 [\d.]+, slowest ([\d.]+)`},
			{"table 2: a query of two words from disk, ms of CPU and in all", "90 to 1,770; 2,130 to 9,630", `(?s)BP98, Table 2\)\n.{32} +([\d.]+) +([\d.]+)`},
			{"the same, repeated", "60 to 1,660; 60 to 1,800", `(?s)BP98, Table 2\)\n.{32} +[\d.]+ +[\d.]+ +([\d.]+) +([\d.]+)`},
		},
	},
	{
		program: "pagerank", Source: "Brin and Page 1998, §2.1",
		About: "PageRank of a generated graph of a fifth of the paper's nodes and a sixth of its links, in memory.",
		args:  []string{"-nodes", "5242880", "-links", "104857600", "-dangling", "0.5", "-tolerance", "1e-6", "-runs", "1"},
		figures: []figure{
			{"nodes, links", "26 million pages, 518 million links", `(\d+) nodes, (\d+) links`},
			{"time, with the layout, s", "a few hours", `iterations to \S+ in ([\d.]+) s`},
			{"iterations, residual", "", `core; (\d+) iterations to (\S+) in`},
		},
	},
	{
		program: "dns", Source: "Chen and Yan 2009, figures 6 to 8",
		About: "Names resolved over time by a blocking resolver of 64 threads, with a cache, with asynchrony, with both. The " +
			"paper's resolver is bound by name servers of the Internet, ours by one of this program, so the ratios are larger.",
		args: []string{"--only", "figures", "--period", "5s", "--svg", "PLOTS/figures.svg"},
		figures: []figure{
			{"cache alone, to blocking (figure 6)", "2 to 3 times", `(?m)^cache alone.* ([\d.]+)   2 to 3`},
			{"asynchrony alone, to blocking (figure 7)", "some 1.5 times", `(?m)^asynchrony alone.* ([\d.]+)   1\.5`},
			{"both, to blocking (figure 8)", "3 to 5 times", `(?m)^both .* ([\d.]+)   3 to 5`},
		},
	},
	{
		program: "urlcache", Source: "Broder, Najork and Wiener 2003, figures 2 to 5",
		About: "The share of links that a cache before the seen test knows, by policy and size, on a stream made to the paper's " +
			"figures. Our stream repeats less than the paper's of millions of pages: all its URLs fit before a bend shows.",
		args: []string{"--links", "2000000", "--svg", "PLOTS/hits.svg"},
		figures: []figure{
			{"links a page, distinct ones", "62.6 and 42.7", `([\d.]+) links a page, ([\d.]+) of them distinct`},
			{"hits of CLOCK with 50,000 entries, %", "almost 80", `(?m)^ +50000 +[\d.]+ +[\d.]+ +([\d.]+)`},
			{"of LRU, RANDOM and STATIC, %", "as CLOCK, slightly less, much less", `(?m)^ +50000 +[\d.]+ +([\d.]+) +[\d.]+ +([\d.]+) +([\d.]+)`},
			{"of MIN, which knows the future, %", "little more", `(?m)^ +50000 +([\d.]+)`},
		},
	},
	{
		program: "urlcache", Source: "Broder, Najork and Wiener 2003, figures 2 to 5, on real pages",
		About: "The same with the pages and links of a crawl: 500 sites take turns page by page, as by Mercator's threads. Now " +
			"the bend appears: a cache must hold the links that recur on a page of each site.",
		args:    []string{"--data", "FOLDER", "--in-turn", "--links", "1500000", "--svg", "PLOTS/misses.svg"},
		figures: cacheFigures("almost 80"),
	},
	{
		program: "urlcache", Source: "Broder, Najork and Wiener 2003, between machines",
		About:   "The same, of links that lead out of their site alone, which machines send each other.",
		args:    []string{"--data", "FOLDER", "--in-turn", "--away", "--links", "500000", "--svg", "PLOTS/misses.svg"},
		figures: cacheFigures(""),
	},
	{
		program: "scheduling", Source: "Cao, Jiang and Singh, figures 3 to 5",
		About: "Pages per second by the number of connections, with the requests a connection that servers take, with one, and " +
			"of servers that are ten times as fast, where the processor is the limit.",
		args: []string{"--speed", "--plots", "PLOTS"},
		figures: []figure{
			{"HTTP/1.1 to HTTP/1.0 with 64 connections", "2", `(?m)^ +64 +[\d.]+ +[\d.]+ +[\d.]+ +([\d.]+)`},
			{"pages a second with 64, 96 and 256", "no more beyond 96", `(?s)\n +64 +([\d.]+).*?\n +96 +([\d.]+).*?\n +256 +([\d.]+)`},
			{"fast servers: with 14 connections, of 1,000", "the processor's limit", `(?m)^ +14 +[\d.]+ +[\d.]+ +([\d.]+)`},
		},
	},
	{
		program: "scheduling", Source: "Cao, Jiang and Singh, figures 6 and 7",
		About: "500 servers, 30,000 pages, 64 connections in virtual time, with our URL server. The paper does not state the " +
			"sizes and speeds of its servers; its curves come out where the large ones are fast (--sweep).",
		args: []string{"--plots", "PLOTS"},
		figures: []figure{
			{"figure 6a: pages at half time by performance-first, to breadth-first", "some 1.5", `(?s)quality: PageRank, known.*?\n +performance-first +[\d.]+ % +([\d.]+)`},
			{"the same by crawl-ability", "some 1.5", `(?s)quality: PageRank, known.*?\n +crawl-ability +[\d.]+ % +([\d.]+)`},
			{"PageRank: 80 % of the quality by crawl-ability, after % of the time", "under 30", `(?s)quality: PageRank, known.*?\n +crawl-ability[^\n]*?([\d.]+) % +[\d.]+ % +\d+ % `},
			{"the same by breadth-first", "", `(?s)quality: PageRank, known.*?\n +breadth-first[^\n]*?([\d.]+) % +[\d.]+ % +\d+ % `},
			{"Zipf: 80 % of the quality by crawl-ability, after % of the time", "50", `(?s)quality: Zipf, known.*?\n +crawl-ability[^\n]*?([\d.]+) % +[\d.]+ % +\d+ % `},
			{"the same by breadth-first", "", `(?s)quality: Zipf, known.*?\n +breadth-first[^\n]*?([\d.]+) % +[\d.]+ % +\d+ % `},
			{"quality guessed from links: the same by crawl-ability", "not tried", `(?s)quality: PageRank, guessed.*?\n +crawl-ability[^\n]*?([\d.]+) % +[\d.]+ % +\d+ % `},
		},
	},
	{
		program: "scheduling", Source: "Cao, Jiang and Singh, on docsweb",
		About: "The program crawls docsweb by each policy with four connections, one a host, and answers after 5 ms at the " +
			"median, up to nine times as late from one host as from another. The quality is PageRank, which it guesses from links.",
		args: []string{"--docsweb", "PROGRAM", "--folder", "DIR", "--connections", "4", "--latency", "5ms", "--plots", "PLOTS"},
		figures: []figure{
			{"pages at half time by crawl-ability, to breadth-first", "some 1.5", `(?m)^ +crawl-ability +[\d.]+ % +([\d.]+)`},
			{"80 % of the quality by breadth-first, after % of the time and of the pages", "", `(?m)^ +breadth-first.*? ([\d.]+) % +([\d.]+) % +\d+ % `},
			{"by quality-first", "under 30; 50", `(?m)^ +quality-first.*? ([\d.]+) % +([\d.]+) % +\d+ % `},
			{"by crawl-ability", "under 30; 50", `(?m)^ +crawl-ability.*? ([\d.]+) % +([\d.]+) % +\d+ % `},
		},
	},
	{
		program: "scheduling", Source: "Cao, Jiang and Singh, with a delay",
		About: "The same web as in figures 6 and 7 with a second between two requests to a site: what the default policy brings " +
			"on a polite crawl, and what it costs.",
		args: []string{"--polite"},
		figures: []figure{
			{"quality of the first 10 % of the requests, by breadth-first and crawl-ability", "", `(?s)breadth-first +([\d.]+) %.*crawl-ability +([\d.]+) %`},
			{"in the first 10 % of the time", "", `(?s)breadth-first(?: +[\d.]+ %){3} +([\d.]+) %.*crawl-ability(?: +[\d.]+ %){3} +([\d.]+) %`},
			{"processor time of Add, µs a page", "", `(?s)breadth-first[^\n]* (\d+) *\n.*crawl-ability[^\n]* (\d+) *\n`},
		},
	},
	{
		program: "coroutines", Source: "Yang and others 2014, figures 3 and 4",
		About: "Goroutines, threads, and threads that block, 1 to 300 at once, as many as in the paper, each waiting 1 s for an " +
			"answer in place of its 5 s, which take ten minutes.",
		args: []string{"--paper", "--latency", "1s", "--period", "3s", "--svg", "PLOTS/coroutines.svg"},
		figures: []figure{
			{"processor time a page, µs, by goroutines and by blocking threads, 300 at once", "grows slower with coroutines", atOnce(3)},
			{"switches of context a page, the same two", "grow slower with coroutines", atOnce(4)},
			{"KB for each that waits, the same two", "grows slower with coroutines", atOnce(6)},
		},
	},
	{
		program: "coroutines", Source: "Yang and others 2014, figure 5",
		About: "All answers share the paper's line of 10 Mbit/s. Its coroutines brought 91 % of what the line carries, its threads " +
			"74 %. Goroutines and threads both fill it.",
		args: []string{"--paper", "--line", "10", "--latency", "500ms", "--period", "3s", "--svg", "PLOTS/line.svg"},
		figures: []figure{
			{"pages by goroutines and by blocking threads, 300 at once", "22.8 % more by coroutines", atOnce(1)},
			{"that the line carries", "", `carries (\d+) pages`},
		},
	},
	{
		program: "dspider", Source: "Wu and others 2011, figure 8",
		About: "A controller and three to seven nodes in virtual time, by the paper's protocol and by ours. Speed is in units of " +
			"files over the time unit T.",
		args: []string{"--hosts", "200", "--files", "100000", "--figure", "8", "--connections", "16", "--plots", "PLOTS"},
		figures: []figure{
			{"WAN: speed with 3 and 7 nodes, the paper's protocol", "rises", `(?s)figure 8, 16 .*?WAN +3 +([\d.]+).*?WAN +7 +([\d.]+)`},
			{"the same, ours", "", `(?s)figure 8, 16 .*?WAN +3 +[\d.]+ +([\d.]+).*?WAN +7 +[\d.]+ +([\d.]+)`},
			{"LAN: speed with 3 and 7 nodes, the paper's protocol", "rises, but slower", `(?s)figure 8, 16 .*?LAN +3 +([\d.]+).*?LAN +7 +([\d.]+)`},
			{"WAN: files of 10,000 fetched twice with 7 nodes, the paper's protocol and ours", "grows fast with nodes", `(?s)figure 8, 16 .*?WAN +7 +[\d.]+ +[\d.]+ +[\d.]+ +[\d.]+ +[\d.]+ +[\d.]+ +([\d.]+) +([\d.]+)`},
		},
	},
	{
		program: "hdfs", Source: "the architecture of HDFS",
		About: "The promises of a file system for such collections, one by one: who keeps each here, shown with the program.",
		figures: []figure{
			{"kept by anatomy and shown, by the bucket, by nobody", "all 24", `(\d+) kept by anatomy and shown, (\d+) kept by the bucket, (\d+) not kept`},
		},
	},
	{
		program: "spam", Source: "Brin and Page 1998, §2.1",
		About: "Link farms of 1 to 10,000 pages in the links of a crawl. The paper says that PageRank is nearly immune to " +
			"them; a lift is the rank of the farm's target divided by that of a page without links.",
		args: []string{"--data", "FOLDER"},
		figures: []figure{
			{"lift by 10,000 pages without a link from others: published, weighed ranks", "", `(?m)^ +10000 +0 +0 \| +([\d.]+) +\d+ \| +([\d.]+)`},
			{"Kendall's tau of the weighed ranks to the published ones", "", `weighed ([\d.]+)`},
		},
	},
	{
		program: "parallel", Source: "parallel corpora from multilingual sites",
		About: "Pairs of pages that are translations of each other, found in a crawl and compared with the truth.",
		args:  []string{"--data", "TRANSLATIONS", "--truth", "TRUTH"},
		figures: []figure{
			{"pairs, found, precision, recall, with English", "", `(?m)^all with English +(\d+) +(\d+) +([\d.]+) +([\d.]+)`},
		},
	},
	{
		program: "focused", Source: "Chakrabarti, van den Berg and Dom 1999",
		About: "Crawls that look for the pages of one topic, in a web in which neither host nor path is a topic. The oracle " +
			"knows these pages. In the paper a crawl without focus soon fetches hardly any of them.",
		args: []string{"--web", "WEB", "TOPIC"},
		figures: []figure{
			{"harvest ratio and recall after 400 pages, breadth-first", "falls to nothing", `near breadth-first .* 400: ([\d.]+)/([\d.]+)`},
			{"focused", "stays high", `near focused .* 400: ([\d.]+)/([\d.]+)`},
			{"oracle", "", `near oracle .* 400: ([\d.]+)/([\d.]+)`},
		},
	},
}

// cacheFigures are those of a table of lab/urlcache.
func cacheFigures(clock string) []figure {
	return []figure{
		{"links a page, distinct ones, % within the site", "62.6, 42.7, some 80", `([\d.]+) links a page, ([\d.]+) of them distinct, ([\d.]+) %`},
		{"hits of CLOCK with 2^13, 50,000 and 2^17 entries, %", clock, `(?s)\n +8192 +[\d.]+ +[\d.]+ +([\d.]+).*\n +50000 +[\d.]+ +[\d.]+ +([\d.]+).*\n +131072 +[\d.]+ +[\d.]+ +([\d.]+)`},
		{"of LRU, RANDOM and STATIC with 50,000, %", "as CLOCK, slightly less, much less", `(?m)^ +50000 +[\d.]+ +([\d.]+) +[\d.]+ +([\d.]+) +([\d.]+)`},
		{"of MIN, which knows the future, %", "little more", `(?m)^ +50000 +([\d.]+)`},
	}
}

// atOnce returns the pattern of a column of lab/coroutines, of goroutines and of blocking threads with 300
// at once.
func atOnce(column int) string {
	before := strings.Repeat(`[\d.]+(?: %)? +`, column-1)
	return `(?s) 300 +goroutines +` + before + `([\d.]+).* 300 +blocking +` + before + `([\d.]+)`
}

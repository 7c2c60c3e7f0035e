package main

// An experiment is a program of lab with the size that it has here, and what the report takes from
// what it prints.
type experiment struct {
	program       string
	Source, About string
	// In args, PLOTS is a folder, whose plots the report shows; PROGRAM and DIR are those of docsweb,
	// FOLDER, TRANSLATIONS, TRUTH, WEB and TOPIC the values of flags. It runs only if those are given.
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
		args: []string{"--docsweb", "PROGRAM", "--pages", "DIR"},
		figures: []figure{
			{"pages fetched", "24 million", `pages fetched\s+(\d+) in`},
			{"time of one core, s per 1,000 pages", "20.6 by the clock, on several machines", `CPU s per 1,000 pages\s+([\d.]+)`},
			{"the same, as a multiple of the least program", "", `floor, fetch and tokenise: [\d.]+; ratio ([\d.]+)`},
			{"bytes a page on disk", "some 4,530, of them 2,230 repository and 1,550 full index", `(?s)bytes a page on disk\s+(\d+)`},
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
		program: "coroutines", Source: "Yang and others 2014, figures 3 to 5",
		About: "Goroutines, threads, and threads that block, each waiting for answers of 100 ms. Here the gap appears at " +
			"thousands, and in memory.",
		args: []string{"--period", "3s", "--most", "1024", "--svg", "PLOTS/coroutines.svg"},
		figures: []figure{
			{"pages by goroutines and by blocking threads, 1,024 at once", "22.8 % more by coroutines", `(?s) 1024  goroutines +(\d+).* 1024    blocking +(\d+)`},
			{"processor time a page, µs, the same two", "grows slower with coroutines", `(?s) 1024  goroutines +\d+ +[\d.]+ % +(\d+).* 1024    blocking +\d+ +[\d.]+ % +(\d+)`},
			{"KB for each that waits, the same two", "grows slower with coroutines", `(?s) 1024  goroutines +\d+ +[\d.]+ % +\d+ +[\d.]+ +[\d.]+ +([\d.]+).* 1024    blocking +\d+ +[\d.]+ % +\d+ +[\d.]+ +[\d.]+ +([\d.]+)`},
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

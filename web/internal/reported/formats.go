package reported

import "slices"

// Formats are the texts for display that other rooms write in English, as formats of which the
// catalogues have translations. A verb %s is a number, a duration, a text of this list, or a name.
// Texts that are not in the list, such as errors of the network, stay in English.
var Formats = slices.Concat(ofPages, ofAdmin, ofProblems)

// ofPages are texts on the pages about searches and documents.
var ofPages = []string{
	// Names of parts of a score: scoring.Part.Name.
	"text", "held", "plain", "emphasis", "h1", "h2", "h3", "code", "alt", "menu", "title", "meta", "url",
	"anchor", "anchor-out", "part", "exact", "phrase", "proximity", "language", "pagerank", "uncrawled",
	"home", "related", "preference", "site", "genre",

	// Details of parts of a score: scoring.Part.Detail.
	"%s, count weight %s × idf %s × type weight %s",
	"%s, count weight %s × idf %s, %d times in the query, × type weight %s",
	"%d hits", "%d links",
	"the page has the word, idf %s × weight %s",
	"frequency %s in all fields, count weight %s × idf %s",
	"all words in order in %s, idf %s × weight %s",
	"%s names %s",
	"%d × %s in %s, count weight %s × idf %s × class weight %s × field weight %s",
	"%d × %s in %s, count weight %s × idf %s × class weight %s × field weight %s × share %s of %d pairs",
	"next to each other", "within %d words", "not even close",
	"the text", "the title", "the description", "the URL", "names of its parts", "links to the page",
	"the query is the title, idf %s × weight %s",
	"the query is the title without the site's name, 0.9 × idf %s × weight %s",
	"the query is the title to the letter, idf %s × weight %s",
	"the query is the title without the site's name to the letter, 0.9 × idf %s × weight %s",
	"the query is all of the text of %s, count weight %s × idf %s × weight %s",
	"the query is written in the language of the page, idf %s × weight %s",
	"the page is a %s: %s × %s points of its words",
	"the page is a %s, which the query asks for: %s × %s points of its words",
	"source listing", "index", "changelog",
	"%s times the average of %d pages, of at most %s points",
	"%s times the average of %d pages, favouring %s, of at most %s points",
	"%s times the average of %d pages by the vector %s, of at most %s points",
	"%s times the average of %d pages by the vector %s, favouring %s, of at most %s points",
	"no ranks are computed yet", "known by links alone",
	"home page of a host of whose name the query is %s, idf %s × weight %s",
	"%d pages are nearer to the one that is named, of %d",
	"root of its host", "%d folders deep",
	"you raised %s", "you lowered %s", "you pinned %s", "you prefer pages in %s",
	"the collection prefers pages in %s",

	// Why a search has no results: searcher.Response.Why.
	"No page matches all of the query.", "No page contains %s.", "No page contains any of %s.",
	"The query has no words.", "The query only excludes pages. Add a word to search for.",
	"Pages match, but none within %s.", "There are only %s.", "There are only %s, with %s.",
	"%d results", "%d near-duplicates", "%d images",
	"The only page that matches is on a site that you blocked.",
	"All %d pages that match are on sites that you blocked.",
	"No page links to %s.", "No other page is linked to together with %s.", "Not in the index: %s.",
	"The matching pages have no image for this query.", "%s Spelling corrections are not ready yet.",

	// Parts of a query that were ignored: searcher.Response.Cut.
	"only the first %d bytes were read", "only the first %d words were used",
	"parentheses more than %d deep were left out", "%s could not be looked up: %s",
	"only %d of the pages of %s were read", "only links to %d pages of %s were read",

	// States of documents, and outcomes of their last visits.
	"out of scope", "nofollowed", "trapped", "queued", "waiting", "finished", "given up",
	"fetched", "redirected", "unmodified", "forbidden", "gone", "login needed", "unsupported", "too large",
	"refused", "no such name", "failed", "skipped", "removed",
	"a seed or named by robots.txt", "%d links from a seed",

	// Why a host waits.
	"its turn", "politeness", "being read", "another host of %s is read",
	"other hosts at its address are read", "%d hosts at its address %s are read",
	"page limit of the host", "page limit of the crawl", "in trouble: %s",

	// Why a URL is refused.
	"budget of URLs used up by its site (crawl --max-urls-per-site)",
	"budget of bytes used up by its site (crawl --max-mb-per-site)",
	"budget of parsing time used up by its site (crawl --max-parsing-per-site)",
	"budget of sitemaps used up by its site",
	"five times the budget of URLs named by its site (crawl --max-urls-per-site)",
	"trap: %s", "trap", "too deep", "path repeats itself", "date years ahead", "folder repeats itself",
	"query repeats itself", "budget of URLs", "budget of sitemaps", "parameter without effect", "no pages",
	"unexpanded template",
	"%s are not requested: files of this type are not pages",
	"%s leads to no pages: %d of the %d requests for such URLs brought one",
	"the parameter %s of %s has no effect: %d pages with it repeat known text and lead to new URLs with it",
	"%s repeats itself: %d of its %d pages show nothing new and lead to new URLs",

	// Reasons of outcomes.
	"robots.txt forbids it", "redirects to itself", "too many redirects", "media type %s",
	"%s: no such name", "timed out", "rendered with its scripts (requests: %d)",
	"removed permanently by the operator of the crawl; anatomy remove --undo reverses it",
	"the page is the error page that the host also shows for a made-up URL",
	"the other URL is the canonical one: the page declares it or is in the language that it names, " +
		"or more pages link to it",
	"the other URL is the canonical one: the page declares it or is in the language that it names, " +
		"more pages link to it, or it is the plainer one",
	"length", "disconnect", "time", "unspecified", // why a page was cut

	// When a page is visited again.
	"it was never visited", "it was given up", "now: it waits in the queue",
	"it was not found the last time, which is to be confirmed",
	"nothing is known yet of how often it changes",
	"no change was seen in %s", "%d of the last %d visits, over %s, found a change",
	"%s; the interval of %s is raised to the minimum of %s",
	"%s; the interval of %s is lowered to the maximum of %s",

	// Why a page is not in the index, or its records cannot be read.
	"it is queued; its host: %s", "it is queued: continue with anatomy crawl",
	"never fetched (%s), and no link with text leads to it",
	"it forbids indexing (noindex, or unavailable_after a date that has passed), or is not indexed yet: " +
		"continue with anatomy crawl",
	"its redirects lead in a circle or to no page",
	"run anatomy trace on the server to see why", "no crawl made this index",
}

// ofAdmin are texts on the admin page: states, jobs, and results of actions.
var ofAdmin = []string{
	"crawling", "paused", "finishing", "storing the last pages", "electing canonical pages",
	"packing the repository", "making the last pages searchable", "merging the index",
	"computing ranks", "delay between requests", "the crawl is paused",
	"waiting for a crawler to join", "connecting", "processor", "answer", "failed: %s",
	"refused: %s", "gone: %s", "other", "ranks", "weights", "scheduled recrawl",
	"crawl, where the last one stopped", "crawl of %s", "crawl of %s and %d more",
	"The server ended.", "%d queued", "%d searchable", "damping %s", "damping %s; %s",
	"residual %s", "stopped above the tolerance of %s", "to %s",
	"%s in %s (%s/s). In all: %s of %s known, %d searchable.",
	"%s in %s (%s/s). In all: %s of %s known, %d searchable, and %s by the text of links.",
	"learning from %d queries", "learning from %d queries: %s by %s", "measuring the effect",
	"%s: added to %s", "%s: pinned to %s, in %s",
	"%s: marked as right, in %s. To measure: anatomy eval %s",
	"%s: marked as wrong, in %s. To measure: anatomy eval %s",
	"%s: the mark is taken back, in %s. To measure: anatomy eval %s", "%s: removed from %s",
	"removed from the queues: %s, %s", "The weights that were learnt are discarded.",
	"Learning began.", "No other weights are better for the judged queries.",
	"MRR@10 %s, was %s. The page of judged queries shows the results.",
	"Searches rank by the weights that were learnt. They are in %s.",
	"Searches rank by the default weights.",
	"These weights are no longer proposed. Open the page again.", "%s blocked, %s among them.",
	"no known page matches, and crawls will not fetch one that does.",
	"%s unblocked, %d restored without a fetch.",
	"%s unblocked, %d restored without a fetch, the others fetched by a crawl.", "Enter a URL.",
	`"%s" is not a number of pages.`, `"%s" is not a number between 0 and 1.`,
	"Enter a page or a site.", "Enter a query.", "The query is longer than %d bytes.",
	`"%s" is not a valid URL.`, "The field set must be right, wrong or none, and a URL.",
	"Another job is running. Wait until it ends.",
	"The operators of the crawled sites need a contact: start the server with ANATOMY_CONTACT set to a mail or web address.",
	"Enter words with = between: postgres = PostgreSQL",
	"The file was changed in the meantime. Open the page again, and make your change there.",
	"The text is not UTF-8.",
	"No query is judged yet. Mark results of searches as right or wrong.",
	"no crawl runs on this data folder", "× out", "+ new", "↑ to %d", "↓ to %d", "↑ from %d",
	"↓ from %d", "repository", "texts of pages, for results", "document index, seen set, frontier",
	"links and anchors", "rank vector", "inverted index: documents and impacts",
	"inverted index: hits", "lexicon, with the lists of rare words", "done", "stopped", "crawl",
	"recrawl", "watch", "command", "admin page", "schedule", "owner", "standby", "replica", "node",
	"%d pages", "%d errors", "%d iterations", "%d new pages", "%d URLs", "%d other URLs",
	"%d documents",
}

// ofProblems are the messages of problems that pages show.
var ofProblems = []string{
	"No crawl runs on this data folder.",
	"Parameter rank: %s.", `there is no page "%s" in the index to rank others from`,
	`there is no rank vector "%s"; none is computed yet`,
	`there is no rank vector "%s"; there are %s`, "The index has no such page.",
	"Parameter url is not a valid URL. A URL begins with http:// or https://.",
	"The index is not open yet. Try again in a moment.",
	"Too many searches are running. Try again in a second.", "The client closed the connection.",
	"The search did not finish in time. Try fewer or rarer words.",
	"The request failed. The server's log has the reason.",
	"The publisher of this page asks that no copy of it is shown (noarchive).",
	"The publisher of this page asks that no copy of it is shown (noarchive). Read it where it is: %s",
	"The publisher of this page asks that none of its text is shown (nosnippet).",
	"The publisher of this page asks that none of its text is shown (nosnippet). Read it where it is: %s",
	"This is not the token of this server.",
	"Too many wrong tokens came from your address. Try again in %s s.",
	"This server does not answer as “%s”. To allow this name, start it with --allow-host %s; behind a reverse proxy, with --public-url and the URL that people use.",
	"A page of another site sent this request. To let its scripts read answers, start the server with --cors and its origin.",
	"A client may send %d searches a minute. Try again in %d s.",
	"This token is for reading pages alone. To act, use the token of --token.",
	"No token is set. Start the server with --token FILE, or use the command line: anatomy crawl pause, resume, add, remove.",
	"Another site sent this request.", "Log in first, at /crawl.",
	"The form is out of date. Open the page again.", "There is nothing at this address.",
	"This address answers only %s.",
	"This collection holds pages that not everybody may read.",
	"There is no such report. The server keeps the newest reports until it ends.",
	"The form is malformed or too long.", "Parameter lang must be codes of languages: de, pt.",
	"Parameter filetype must be one of %s.", "The query has %d bytes; the limit is %d.",
	"Parameter format must be html, json, csv, rss or atom.", "This server does not fetch images.",
	"That image could not be fetched.",
	"Parameter undo must be raise, lower, pin or block, and a site.",
	"Parameter remove must be a list and a site.",
	"Parameter kind must be raise, lower, pin or block.", "Field file must be a file.",
	"Parameter set must be raise, lower, pin, block or none, and a site.",
	"Parameter back must be the query string of a search.",
	"The collection has no version of that page.", "The collection has no icon of this host.",
	"Parameter remove must be the name of a lens that is kept.",
	"The query string of the URL is malformed.",
	"Parameter %s occurs %d times. It must not occur twice.",
	"Parameter %s has %d bytes; the limit is %d.",
	"Parameter %s must be a whole number from %d to %d.",
	"Parameter %s must be true or false, 1 or 0.", "Parameter %s must be a docID, 1 or more.",
	"Parameter anchors %s.", "Parameter count %s.", "Parameter facets %s.",
	"Parameter %s is missing.", "Parameter type must be page, image or service.",
	"Parameter time_range must be day, week, month or year.",
	"Parameter sort must be date or relevance.", "Parameter %s must be a day: 2024-05-31.",
	"Parameter theme must be auto, light or dark.",
	`Parameter %s: "%s" is not a site. Write example.org or example.org/docs.`,
	`"%s" is not a site. Write example.org or example.org/docs.`,
	"The lists have %d sites. The limit is %d.",
	"Parameter lang must be language tags: de, en, pt-br.",
	"Parameter lang has %d languages. The limit is %d.", "Parameter lens is not a lens: %s.",
	"That page is not in the index, or it does not match the query.",
	"The collection has no cached copy of that page.", "There is no such document.",
	"The collection has no page of %s.",
	"An older version needs both parameters, doc and version.",
	"The Host header is not a host name.",
}

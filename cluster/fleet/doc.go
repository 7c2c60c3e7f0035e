// Package fleet lets crawlers on other machines fetch for a crawl. Its Fleet is on the owner's side,
// where it visits hosts for the engine. Its Worker is on the crawler's side, and visits them with a
// crawler.Crawler. Between them is a bus that may lose messages when a connection breaks.
//
//	worker                         fleet
//	hello      ------------------>         version, name
//	           <------------------ welcome settings of the crawl
//	           <------------------ grant   a lease
//	fetches... ------------------> ack     batches; Visit handles each fetch
//	report     ------------------>         of the lease, behind its last fetch
//	beat       ------------------>         every second
//	           <------------------ beat    answers it
//
// # Leases
//
// A lease goes to the worker with the highest hash of its ID and the lease's host (rendezvous
// hashing), so that one worker has the robots.txt, the connections and the sign-in of a host, and
// only the hosts of a worker that comes or goes move. A worker sends every target of a lease once, in
// order, then the report.
//
// A host that gives a worker no answer goes to another one at once, as in DSpider (W11): workers may be
// in networks of which only some reach it. It counts as a host without an answer when it gave none to
// any worker, or to maxSilent of them.
//
// A worker sends nothing to a host, and ends all its visits, if every beat that the owner has answered
// was sent longer than ownerSilence ago. An owner that hears nothing from a worker for workerSilence,
// which is longer, gives its leases up: what is missing is returned as Skipped, and fetched again by
// another. The owner has heard from a worker when it answers, or later, so no two workers fetch from a
// host at once, whatever is lost or late in either direction, also when a worker was stopped for a
// while and goes on with the answers of before. An owner that may follow another lets the first visit
// wait until the workers of that one have ended theirs.
//
// What a worker sends that was given up is answered with unknown, and it says hello again. Every hello
// has another session, which the welcome repeats, so that none answers an earlier hello.
//
// # Batches
//
// A worker sends fetches in numbered batches and keeps each until it is acknowledged, which is after
// the owner has handled all of it. That is the back-pressure: a worker starts no fetch while more
// than its window of bytes waits for acknowledgement. After a lost connection it sends again what was
// not acknowledged; the owner handles each number once, and each target of a lease once. A batch has
// few results beyond batchBytes, so that none is larger than a message.
//
// # Trust
//
// The bytes from a worker are hostile input. Lengths are bounded before memory is allocated; targets
// are named by their place in the lease, so a worker cannot write to other documents; URLs, times and
// sizes are verified. A worker that breaks the rules is dismissed for the rest of the crawl.
package fleet

import "time"

const (
	protocol = 2 // of both sides; others are refused

	beatEvery     = time.Second
	ownerSilence  = 4 * time.Second // then a worker ends its visits
	workerSilence = 6 * time.Second // then the owner gives up a worker's leases
	farewell      = 10 * time.Second
	retryHello    = 2 * time.Second

	stuckAfter = 15 * time.Minute // of a lease without a result; besides its delays

	maxWorkers = 500
	maxCancels = 1000 // that answer a beat
	maxVisits  = 512  // visits that a beat describes
	maxLosses  = 3    // workers that a target may lose before it counts as failed
	maxNoted   = 10_000
	maxSilent  = 8 // workers that try a host

	windowBytes = 64 << 20  // of batches under way, over all workers
	leastWindow = 4 << 20   // of one worker
	batchBytes  = 256 << 10 // a batch is sent when it has so much, or when none is under way
)

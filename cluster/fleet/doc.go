// Package fleet lets crawlers on other machines fetch for a crawl. A Fleet runs at the owner and
// visits hosts on behalf of the engine. A Worker runs at the crawler and does the visits with a
// crawler.Crawler. The bus between them may lose messages when a connection breaks.
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
// A lease is granted to the worker with the highest hash of its ID and the lease's host (rendezvous
// hashing). So one worker keeps the robots.txt, the connections and the sign-in of a host, and only
// the hosts of a worker that joins or leaves move. A worker sends the result of each target of a
// lease once, in order, then the report.
//
// If a host does not answer a worker, its lease goes to another one at once, as in DSpider (W11):
// only some of the workers' networks may reach the host. The host counts as not answering when no
// worker, or none of maxSilent workers, got an answer.
//
// A worker stops sending to hosts, and ends all its visits, if it sent the last answered beat
// longer than ownerSilence ago. An owner that receives nothing from a worker for workerSilence,
// which is longer, revokes its leases: targets without a result are returned as Skipped, and
// another worker fetches them. The owner hears from a worker no earlier than the worker sent the
// beat. So two workers never fetch from a host at the same time, whichever messages are lost or
// late, even if a worker was suspended and resumes with old answers. An owner that may have a
// predecessor delays the first visit until the predecessor's workers have ended theirs.
//
// The owner answers messages of a worker that it has given up with unknown, and the worker sends
// hello again. Every hello has a new session number, which the welcome repeats, so that a welcome
// for an earlier hello is ignored.
//
// # Batches
//
// A worker sends fetches in numbered batches and keeps each batch until it is acknowledged, which
// the owner does after handling all of it. This provides back-pressure: a worker starts no fetch
// while more bytes than its window await acknowledgement. After a lost connection it resends
// unacknowledged batches; the owner handles each number once, and each target of a lease once. A
// batch is closed soon after it exceeds batchBytes, so that it fits in a message.
//
// # Trust
//
// The bytes from a worker are hostile input. Lengths are bounded before memory is allocated;
// targets are named by their index in the lease, so a worker cannot write to other documents; URLs,
// times and sizes are verified. A worker that violates the protocol is dismissed for the rest of
// the crawl.
package fleet

import "time"

const (
	protocol = 4 // version on both sides; others are refused

	beatEvery     = time.Second
	ownerSilence  = 4 * time.Second // after which a worker ends its visits
	workerSilence = 6 * time.Second // after which the owner revokes a worker's leases
	farewell      = 10 * time.Second
	retryHello    = 2 * time.Second

	stuckAfter = 15 * time.Minute // time without a result of a lease, in addition to its delays

	maxWorkers = 500
	maxCancels = 1000 // cancels sent in answer to one beat
	maxVisits  = 512  // visits described in a beat
	maxLosses  = 3    // workers lost at a target after which it counts as failed
	maxNoted   = 10_000
	maxSilent  = 8 // workers that try a host without an answer

	windowBytes = 64 << 20  // of batches in flight, over all workers
	leastWindow = 4 << 20   // minimum for one worker
	batchBytes  = 256 << 10 // a batch is sent when it reaches this size, or when none is in flight
)

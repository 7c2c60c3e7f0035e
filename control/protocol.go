// Package control lets other processes watch and steer the crawl that runs on a data folder: HTTP
// and JSON over a Unix socket in the data folder. Client is one end, Serve the other.
//
// The socket's folder has mode 0700 and the socket 0600. Every user who can write to the data
// folder can control the crawl; there is no other check.
//
//	GET  /1/status              vocab.CrawlStatus
//	GET  /1/trace?url=URL       []Step: the records of a URL and of the documents it is an alias of
//	POST /1/pause, /1/resume
//	POST /1/add                 {"urls": ["https://example.org/"]}  -> {"added": [{"url", "state"}]}
//	POST /1/snapshot?for=NAME   copies the data folder to snapshot/NAME -> {"folder", "end"}
//	GET  /1/changes             {"changes"}: another text after each change of the document index
//	POST /1/delay               {"host": "www.example.org", "delay_ns": 2000000000} -> {"site": "example.org"}
//	POST /1/remove              {"pattern": "example.org/*"}        -> {"removed": 12}
//	POST /1/ban, /1/unban       {"targets": ["example.org"]}        -> BlockReport
//	GET  /1/bans                BlockReport with all patterns
//
// An error is {"error": "…"} with status 400, or 404 for a URL never seen. The number in front is
// the version: for a client that finds no such path, the crawl is of another version of the program.
package control

import (
	"errors"
	"time"

	"anatomy/vocab"
)

// version is the first element of every path.
const version = "/1"

// Errors of a Client.
var (
	ErrOtherVersion = errors.New("the crawl was started by another version of this program")
	ErrUnknownURL   = errors.New("never seen: no seed, no link and no sitemap leads to it")
)

// A BlockReport reports what Block or Unblock changed.
type BlockReport struct {
	Patterns  []string `json:"patterns"`  // that were added or removed
	Documents int      `json:"documents"` // known URLs that match and that changed
	Pages     int      `json:"pages"`     // of these, pages that were kept until now
	Restored  int      `json:"restored"`  // documents that came back from the repository, without a fetch
}

// Add adds the report of another shard with the same patterns.
func (r *BlockReport) Add(other *BlockReport) {
	if len(other.Patterns) > 0 {
		r.Patterns = other.Patterns
	}
	r.Documents, r.Pages = r.Documents+other.Documents, r.Pages+other.Pages
	r.Restored += other.Restored
}

type (
	addRequest struct {
		URLs []string `json:"urls"`
	}
	addAnswer struct {
		Added []vocab.AddResult `json:"added"`
	}
	changesAnswer struct {
		Changes string `json:"changes"`
	}
	delayRequest struct {
		Host  string        `json:"host"`
		Delay time.Duration `json:"delay_ns"` // 0 for the delay that other sites have
	}
	delayAnswer struct {
		Site string `json:"site"`
	}
	removeRequest struct {
		Pattern string `json:"pattern"`
	}
	removeAnswer struct {
		Removed uint64 `json:"removed"`
	}
	blockRequest struct {
		Targets []string `json:"targets"`
	}
	errorAnswer struct {
		Error string `json:"error"`
	}
)

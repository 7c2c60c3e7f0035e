package session

import (
	"fmt"
	"log/slog"
	"math/bits"
	"net/http"
	"strings"
	"sync"
	"time"

	"anatomy/web/internal/address"
	"anatomy/web/internal/text"
)

// What the audit calls a login, and the use of a wrong API key.
const (
	login     = "login"
	readLogin = "login to read"
	keyUse    = "use of a key"
)

// An Action is a login, an action of the admin page or the use of a wrong API key, for the record of
// the data folder.
type Action struct {
	Who     string // a token or key, or none that is known, and the address of the client
	What    string
	Target  []string // URLs, sites and patterns
	Options []string // "name=value"
	Err     error    // nil if the action succeeded
}

// An audit writes a line to the log for each login, each action and each wrong key: who, what, and how
// it ended. The log has the time. It also keeps each in the record of the data folder, except for most
// of the wrong tokens and keys: anybody can send these, and they would push all others out of a record
// of bounded size.
type audit struct {
	log          *slog.Logger
	keep         func(Action)
	tokens, keys refusals
}

// Of the wrong tokens of a refusalPeriod, and of the wrong keys, the first refusalsKept are kept, and
// then those whose number is a power of two. A million of them leave 26 lines.
const (
	refusalPeriod = 24 * time.Hour
	refusalsKept  = 10
)

// refusals count wrong tokens, or wrong keys, of all clients together.
type refusals struct {
	now func() time.Time

	mu    sync.Mutex
	n     int // in the period
	began time.Time
}

// add counts a wrong token or key. It returns its number in the period, and whether it is to be kept.
func (f *refusals) add() (number int, keep bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if now := f.now(); now.Sub(f.began) >= refusalPeriod {
		f.n, f.began = 0, now
	}
	f.n++
	return f.n, f.n <= refusalsKept || bits.OnesCount(uint(f.n)) == 1
}

// audited are the values of forms that a line of the audit shows, the targets first.
var audited = []string{"urls", "targets", "pattern", "scope", "max", "recrawl", "damping",
	"words", "query", "page", "title", "note", "set", "number"}

// auditedTargets is how many of audited are targets.
const auditedTargets = 3

// maxAudited bounds each of these in a line, in characters.
const maxAudited = 500

// record writes a line about a request; err is nil if the request succeeded.
func (a *audit) record(r *http.Request, what string, err error) {
	act := Action{Who: "admin token", What: what, Err: err}
	isKept := true
	switch {
	case err != nil && (what == login || what == keyUse):
		count := &a.tokens
		if act.Who = "unknown token"; what == keyUse {
			count, act.Who = &a.keys, "unknown key"
		}
		var number int
		number, isKept = count.add()
		act.Options = []string{fmt.Sprintf("refused=%d", number)}
	case what == readLogin:
		act.Who = "read token"
	}
	from := address.ClientAddr(r)
	act.Who += " from " + from
	args := []any{"who", from, "what", what}
	for i, name := range audited {
		words := strings.Fields(r.PostForm.Get(name))
		if len(words) == 0 {
			continue
		}
		value := text.Shorten(text.Visible(strings.Join(words, " ")), maxAudited)
		args = append(args, name, value)
		if i < auditedTargets {
			act.Target = append(act.Target, words...)
		} else {
			act.Options = append(act.Options, name+"="+value)
		}
	}
	if a.keep != nil && isKept {
		a.keep(act)
	}
	if err == nil {
		a.log.Warn("audit", append(args, "result", "done")...)
		return
	}
	a.log.Warn("audit", append(args, "result", "refused", "reason", err.Error())...)
}

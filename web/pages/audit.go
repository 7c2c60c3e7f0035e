package pages

import (
	"log/slog"
	"net/http"
	"strings"

	"anatomy/web/internal/address"
	"anatomy/web/internal/text"
)

// An Action is a login or an action of the admin page, for the record of the data folder.
type Action struct {
	Who     string // a token and the address of the client
	What    string
	Target  []string // URLs, sites and patterns
	Options []string // "name=value"
	Err     error    // nil if the action did what it was asked for
}

// An audit writes a line to the log for each login and each action: who, what, and how it ended. The
// log has the time. It also keeps each, wrong tokens apart: anybody can send these, and they would
// push all others out of a record of bounded size.
type audit struct {
	log  *slog.Logger
	keep func(Action)
}

// audited are the values of forms that a line of the audit shows, the targets first.
var audited = []string{"urls", "targets", "pattern", "scope", "max", "recrawl", "damping"}

// auditedTargets is how many of audited are targets.
const auditedTargets = 3

// maxAudited bounds each of these in a line, in characters.
const maxAudited = 500

// record writes a line about a request; err is nil if it did what it asked for.
func (a *audit) record(r *http.Request, what string, err error) {
	token := "admin"
	if what == readLogin {
		token = "read"
	}
	from := address.ClientAddr(r)
	args := []any{"who", from, "what", what}
	act := Action{Who: token + " token from " + from, What: what, Err: err}
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
	if a.keep != nil && (err == nil || what != login) {
		a.keep(act)
	}
	if err == nil {
		a.log.Warn("audit", append(args, "result", "done")...)
		return
	}
	a.log.Warn("audit", append(args, "result", "refused", "reason", err.Error())...)
}

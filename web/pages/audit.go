package pages

import (
	"log/slog"
	"net/http"
	"strings"

	"anatomy/web/internal/address"
	"anatomy/web/internal/text"
)

// An audit writes a line to the log for each login and each action: who, what, and how it ended. The
// log has the time.
type audit struct{ log *slog.Logger }

// audited are the values of forms that a line of the audit shows.
var audited = []string{"urls", "targets", "pattern", "scope", "max", "recrawl", "damping"}

// maxAudited bounds each of these in a line, in characters.
const maxAudited = 500

// record writes a line about a request; err is nil if it did what it asked for.
func (a *audit) record(r *http.Request, what string, err error) {
	args := []any{"who", address.ClientAddr(r), "what", what}
	for _, name := range audited {
		if value := strings.Join(strings.Fields(r.PostForm.Get(name)), " "); value != "" {
			args = append(args, name, text.Shorten(text.Visible(value), maxAudited))
		}
	}
	if err == nil {
		a.log.Warn("audit", append(args, "result", "done")...)
		return
	}
	a.log.Warn("audit", append(args, "result", "refused", "reason", err.Error())...)
}

package main

import (
	"log/slog"

	"anatomy/disk/audit"
	"anatomy/web/admin"
)

// recordActions returns a function that writes an action of the admin page to the record of the
// data folder dir.
func recordActions(dir string, log *slog.Logger) func(admin.Action) {
	return func(a admin.Action) {
		e := audit.Entry{
			Who: a.Who, What: a.What, Target: a.Target, Options: a.Options, Result: audit.Done,
		}
		if a.Err != nil {
			e.Result, e.Reason = audit.Refused, a.Err.Error()
		}
		if err := audit.Append(dir, e); err != nil {
			log.Warn("an action is not in the record of the data folder", "error", err)
		}
	}
}

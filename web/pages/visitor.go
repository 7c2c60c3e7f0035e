package pages

import (
	"net/http"
	"net/url"
	"slices"

	"github.com/gin-gonic/gin"

	"anatomy/web/internal/params"
)

// A visitor has the preferences of a request.
type visitor struct {
	params.Preferences
	Carry url.Values // parameters that links must carry; nil if the preferences are in the cookie
}

// visitorOf reads preferences from the address or else from the cookie. It ignores errors in the
// cookie, which the visitor could not correct.
func visitorOf(c *gin.Context, p *params.Params) *visitor {
	if slices.ContainsFunc(params.PreferenceNames, p.Values.Has) {
		f := p.Preferences()
		carry := f.Values()
		carry.Del("num") // links have it anyway
		if len(carry) == 0 {
			carry.Set("theme", "auto") // no preferences, whatever the cookie has
		}
		return &visitor{*f, carry}
	}
	return &visitor{Preferences: *kept(c.Request)}
}

// kept returns the preferences in the cookie.
func kept(r *http.Request) *params.Preferences {
	cookie, err := r.Cookie(preferencesCookie)
	if err != nil || len(cookie.Value) > maxPreferences {
		return &params.Preferences{}
	}
	values, err := url.ParseQuery(cookie.Value)
	if err != nil {
		return &params.Preferences{}
	}
	return (&params.Params{Values: values}).Preferences()
}

const (
	preferencesCookie = "anatomy_preferences"
	preferencesLength = 400 * 24 * 3600 // seconds; browsers keep cookies no longer
	maxPreferences    = 3500            // bytes; browsers keep cookies of 4,096
)

package pages

import (
	"net/http"
	"net/url"
	"slices"

	"github.com/gin-gonic/gin"

	"anatomy/searcher"
	"anatomy/web/internal/params"
)

// A visitor has the preferences of a request, and the lens.
type visitor struct {
	params.Preferences
	Given bool           // the preferences are in the address
	Lens  *params.Lens   // in the address; nil for none
	Kept  []*params.Lens // in the cookie
	Carry url.Values     // parameters that links must carry: what is in the address
}

// searched returns the preferences for a search: those of the visitor, through the lens.
func (v *visitor) searched() searcher.Preferences { return v.Lens.Over(v.Preferences.Preferences) }

// visitorOf reads preferences from the address or else from the cookie. It ignores errors in the
// cookie, which the visitor could not correct.
func visitorOf(c *gin.Context, p *params.Params) *visitor {
	v := &visitor{Lens: p.Lens(), Kept: keptLenses(c.Request)}
	if slices.ContainsFunc(params.PreferenceNames, p.Values.Has) {
		v.Preferences, v.Given = *p.Preferences(), true
		v.Carry = v.Values()
		v.Carry.Del("num") // links have it anyway
		if len(v.Carry) == 0 {
			v.Carry.Set("theme", "auto") // no preferences, whatever the cookie has
		}
	} else {
		v.Preferences = *kept(c.Request)
	}
	if v.Lens != nil {
		if v.Carry == nil {
			v.Carry = url.Values{}
		}
		v.Carry.Set("lens", v.Lens.Encode())
	}
	return v
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

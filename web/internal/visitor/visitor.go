// Package visitor reads the preferences and lenses of a request.
package visitor

import (
	"net/http"
	"net/url"
	"slices"

	"github.com/gin-gonic/gin"

	"anatomy/searcher"
	"anatomy/web/internal/params"
)

// A Visitor has the preferences of a request, and the lens.
type Visitor struct {
	params.Preferences
	Given bool           // the preferences are in the address
	Lens  *params.Lens   // in the address; nil for none
	Kept  []*params.Lens // in the cookie
	Carry url.Values     // parameters that links must carry: what is in the address
}

// Searched returns the preferences for a search: those of the visitor, through the lens.
func (v *Visitor) Searched() searcher.Preferences { return v.Lens.Over(v.Preferences.Preferences) }

// Of reads preferences from the address or else from the cookie. It ignores errors in the
// cookie, which the visitor could not correct.
func Of(c *gin.Context, p *params.Params) *Visitor {
	v := &Visitor{Lens: p.Lens(), Kept: Lenses(c.Request)}
	if slices.ContainsFunc(params.PreferenceNames, p.Values.Has) {
		v.Preferences, v.Given = *p.Preferences(), true
		v.Carry = v.Values()
		v.Carry.Del("num") // links have it anyway
		if len(v.Carry) == 0 {
			v.Carry.Set("theme", "auto") // no preferences, not those of the cookie
		}
	} else {
		v.Preferences = *Kept(c.Request)
	}
	if v.Lens != nil {
		if v.Carry == nil {
			v.Carry = url.Values{}
		}
		v.Carry.Set("lens", v.Lens.Encode())
	}
	return v
}

// Kept returns the preferences in the cookie.
func Kept(r *http.Request) *params.Preferences {
	cookie, err := r.Cookie(PreferencesCookie)
	if err != nil || len(cookie.Value) > MaxPreferences {
		return &params.Preferences{}
	}
	values, err := url.ParseQuery(cookie.Value)
	if err != nil {
		return &params.Preferences{}
	}
	return (&params.Params{Values: values}).Preferences()
}

// The cookie of preferences.
const (
	PreferencesCookie = "anatomy_preferences"
	CookieSeconds     = 400 * 24 * 3600 // seconds; browsers keep cookies no longer
	MaxPreferences    = 3500            // bytes; browsers keep cookies of 4,096
)

// Tail returns the preferences that addresses must carry.
func (v *Visitor) Tail() string {
	if len(v.Carry) == 0 {
		return ""
	}
	return "&" + url.Values(v.Carry).Encode()
}

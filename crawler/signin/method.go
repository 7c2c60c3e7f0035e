package signin

import (
	"bytes"
	"errors"
	"net/url"
	"strings"

	"golang.org/x/net/html"
	"golang.org/x/oauth2/clientcredentials"

	"anatomy/weburl"
)

// A method is a way to sign in to an origin: its form, or a token of OAuth 2.
type method struct {
	page   string     // URL of the form
	fields url.Values // to fill in
	shows  string     // text on the page after a success; may be empty

	grant *clientcredentials.Config // instead of a form
}

// parseMethod parses the rest of a line of the file after the kind:
//
//	form    /login user=ada&password=correct+horse  Sign out
//	oauth2  https://auth.example.org/token client-id client-secret scope …
func parseMethod(origin, kind, secret string) (m method, err error) {
	first, rest := word(secret)
	second, rest := word(rest)
	if kind == "form" {
		m.fields, err = url.ParseQuery(second)
		if err != nil || len(m.fields) == 0 || !strings.HasPrefix(first, "/") {
			return m, errors.New("form takes /PATH NAME=VALUE&NAME=VALUE, percent-encoded, " +
				"and a text that is only visible when signed in")
		}
		m.page, m.shows = origin+first, rest
		return m, nil
	}
	key, scopes := word(rest)
	u, err := weburl.Parse(first)
	switch {
	case err != nil || strings.Contains(first, "@") || key == "":
		return m, errors.New("oauth2 takes the URL of the token, the client's id, its secret, and scopes")
	case u.Scheme() != "https" && strings.HasPrefix(origin, "https:"):
		return m, errors.New("the URL of the token is not https, though the origin is")
	}
	m.grant = &clientcredentials.Config{
		TokenURL: u.String(), ClientID: second, ClientSecret: key, Scopes: strings.Fields(scopes),
	}
	return m, nil
}

// word splits a line after its first word.
func word(line string) (first, rest string) {
	at := strings.IndexAny(line, " \t")
	if at < 0 {
		return line, ""
	}
	return line[:at], strings.TrimSpace(line[at:])
}

// fillForm finds the form of a page that has an input for each of the fields, and fills it in;
// hidden inputs keep their values. filled is nil if there is no such form.
func fillForm(page []byte, fields url.Values) (action string, filled url.Values) {
	var inputs url.Values // of the open form; nil outside
	for z := html.NewTokenizer(bytes.NewReader(page)); ; {
		switch z.Next() {
		case html.ErrorToken:
			return "", nil
		case html.StartTagToken, html.SelfClosingTagToken:
			t := z.Token()
			attrs := map[string]string{}
			for _, a := range t.Attr {
				attrs[a.Key] = a.Val
			}
			name := attrs["name"]
			switch {
			case t.Data == "form":
				action, inputs = attrs["action"], url.Values{}
			case t.Data == "input" && inputs != nil && name != "":
				if attrs["type"] == "hidden" || fields.Has(name) {
					inputs.Set(name, attrs["value"])
				}
			}
		case html.EndTagToken:
			if name, _ := z.TagName(); string(name) == "form" && hasAll(inputs, fields) {
				for name, values := range fields {
					inputs[name] = values
				}
				return action, inputs
			}
		}
	}
}

func hasAll(inputs, fields url.Values) bool {
	for name := range fields {
		if !inputs.Has(name) {
			return false
		}
	}
	return inputs != nil
}

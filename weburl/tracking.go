package weburl

import (
	"bytes"
	"strings"
)

// tracking are the parameters of analytics, advertising and newsletter programs, which never identify a
// page. Those that begin with "utm_" are tracking parameters too.
var tracking = set(
	"_ga", "_gl", "_hsenc", "_hsmi", "dclid", "fbclid", "gad_source", "gbraid", "gclid", "gclsrc", "igshid",
	"li_fat_id", "mc_cid", "mc_eid", "mkt_tok", "msclkid", "oly_anon_id", "oly_enc_id", "ttclid", "twclid",
	"vero_id", "wbraid", "yclid",
)

// sessions are parameters with a session ID. The names of maybeSessions have other meanings too, so
// their values must look like a session ID.
var (
	sessions      = set("cftoken", "jsessionid", "phpsessid")
	maybeSessions = set("oscsid", "session_id", "sessionid", "sid", "zenid")
)

const minSession = 16 // length of the shortest session

func set(names ...string) map[string]bool {
	m := make(map[string]bool, len(names))
	for _, name := range names {
		m[name] = true
	}
	return m
}

// maxName is the length of the longest name that is looked up.
const maxName = 16

// dropNoise removes tracking parameters and sessions from a URL under construction, in place. They would
// make every visit find new URLs of one page. The order of the other parameters is kept: some servers
// depend on it.
func dropNoise(b []byte, l layout) ([]byte, layout) {
	if i := bytes.IndexByte(b[l.host:l.query], ';'); i >= 0 {
		b, l = dropPathSessions(b, l)
	}
	if len(b) < l.query+len("?a=") {
		return b, l
	}
	out := l.query // end of the parameters that are kept, each after its separator
	for in := out + 1; in <= len(b); {
		end := len(b)
		if i := bytes.IndexByte(b[in:], '&'); i >= 0 {
			end = in + i
		}
		if !isNoise(b[in:end]) {
			if out == l.query {
				b[out] = '?'
			} else {
				b[out] = '&'
			}
			out += 1 + copy(b[out+1:], b[in:end])
		}
		in = end + 1
	}
	return b[:out], l
}

// dropPathSessions removes ";jsessionid=…" from a path, where Java servers put it.
func dropPathSessions(b []byte, l layout) ([]byte, layout) {
	const name = ";jsessionid="
	out := l.host
	for in := l.host; in < l.query; {
		if end := in + len(name); end <= l.query && strings.EqualFold(string(b[in:end]), name) {
			for in = end; in < l.query && b[in] != '/' && b[in] != ';'; in++ {
			}
			continue
		}
		b[out] = b[in]
		out++
		in++
	}
	n := copy(b[out:], b[l.query:])
	l.query = out
	return b[:out+n], l
}

// isNoise reports whether a parameter, name and value, is a tracking parameter or a session.
func isNoise(pair []byte) bool {
	name, value, _ := bytes.Cut(pair, []byte{'='})
	if len(name) < len("sid") || len(name) > maxName {
		return false
	}
	var buf [maxName]byte
	lower := buf[:len(name)]
	for i, c := range name {
		if c >= 'A' && c <= 'Z' {
			c |= 0x20
		}
		lower[i] = c
	}
	return bytes.HasPrefix(lower, []byte("utm_")) || tracking[string(lower)] || sessions[string(lower)] ||
		maybeSessions[string(lower)] && isSession(value)
}

func isSession(value []byte) bool {
	for _, c := range value {
		if classes[c]&classHost == 0 {
			return false
		}
	}
	return len(value) >= minSession && bytes.ContainsAny(value, "0123456789")
}

package demo

import (
	"bytes"
	"html/template"
	"net"
	"net/http"
	"strings"
	"time"
)

// ServeHTTP serves all hosts.
func (s *site) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	s.requests.Add(1)
	h := s.hosts[hostname(r.Host)]
	if h == nil {
		http.Error(w, "unknown host", http.StatusMisdirectedRequest)
		return
	}
	a := h.answers[r.URL.Path]
	switch {
	case a == nil:
		h.refuse(w, http.StatusNotFound)
	case a.page != nil:
		if a.page.Forbidden {
			s.trespasses.Add(1)
		}
		a.servePage(w, r)
	case a.location != "":
		w.Header().Set("Location", a.location)
		w.WriteHeader(a.status)
	case a.status == http.StatusOK:
		w.Header().Set("Content-Type", a.contentType)
		_, _ = w.Write(a.body) // fails only if the client has closed the connection, here and below
	default:
		h.refuse(w, a.status)
	}
}

func hostname(host string) string {
	if name, _, err := net.SplitHostPort(host); err == nil {
		host = name
	}
	return strings.ToLower(host)
}

// servePage serves a page, also to conditional requests.
func (a *answer) servePage(w http.ResponseWriter, r *http.Request) {
	header := w.Header()
	header.Set("Content-Type", a.contentType)
	header.Set("Etag", a.etag)
	body := a.body
	if a.compressed != nil {
		header.Set("Vary", "Accept-Encoding")
		if strings.Contains(r.Header.Get("Accept-Encoding"), "gzip") {
			header.Set("Content-Encoding", "gzip")
			body = a.compressed
		}
	}
	http.ServeContent(w, r, "", time.Time{}, bytes.NewReader(body))
}

// refuse sends an error as a page.
func (h *host) refuse(w http.ResponseWriter, status int) {
	m := meta{Title: http.StatusText(status), Lang: "en"}
	page, err := m.render(template.HTML("<p>There is no page here.</p>\n"), h.home)
	if err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
		return
	}
	w.Header().Set("Content-Type", m.contentType())
	w.WriteHeader(status)
	_, _ = w.Write(page)
}

package main

import (
	"bytes"
	"io"
	"net"
	"net/http"
	"net/http/httputil"
	"strings"
	"sync/atomic"
	"time"
)

// A web is what the crawl fetches from: docsweb, by way of a proxy that notes what it sends.
type web struct {
	port   string
	server *http.Server
	sent   atomic.Int64 // pages
	wanted atomic.Bool  // the next page is to be noted
	noted  chan page
}

// A page is one that was sent.
type page struct {
	url, contentType string
	body             []byte
	at               time.Time // when its last byte went out
}

func listen() (*web, error) {
	l, err := net.Listen("tcp", ":0") // each host of docsweb has an address of its own
	if err != nil {
		return nil, err
	}
	w := &web{noted: make(chan page, 1)}
	if _, w.port, err = net.SplitHostPort(l.Addr().String()); err != nil {
		return nil, err
	}
	proxy := &httputil.ReverseProxy{
		Rewrite: func(r *httputil.ProxyRequest) {
			r.Out.URL.Scheme, r.Out.URL.Host, r.Out.Host = "http", "127.0.0.1:80", r.In.Host
		},
		ModifyResponse: w.note,
		Transport:      &http.Transport{MaxIdleConnsPerHost: 512, DisableCompression: true},
	}
	w.server = &http.Server{Handler: proxy}
	go w.server.Serve(l)
	return w, nil
}

func (w *web) close() { w.server.Close() }

// note counts a page, and keeps it if one is wanted.
func (w *web) note(r *http.Response) error {
	if r.StatusCode != http.StatusOK || !strings.HasPrefix(r.Header.Get("Content-Type"), "text/html") {
		return nil
	}
	w.sent.Add(1)
	if r.Header.Get("Content-Encoding") == "" && w.wanted.CompareAndSwap(true, false) {
		r.Body = &noting{ReadCloser: r.Body, web: w, page: page{url: "http://" + r.Request.Host + r.Request.URL.RequestURI(), contentType: r.Header.Get("Content-Type")}}
	}
	return nil
}

// A noting is the body of a page that is kept.
type noting struct {
	io.ReadCloser
	web *web
	page
	copy bytes.Buffer
}

func (n *noting) Read(p []byte) (int, error) {
	k, err := n.ReadCloser.Read(p)
	n.copy.Write(p[:k])
	if err == io.EOF {
		n.page.body, n.page.at = n.copy.Bytes(), time.Now()
		select {
		case n.web.noted <- n.page:
		default: // the one before was not taken yet
		}
	}
	return k, err
}

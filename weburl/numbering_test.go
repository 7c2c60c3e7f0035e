package weburl_test

import (
	"testing"

	"anatomy/weburl"
)

func TestNumbering(t *testing.T) {
	sites, hosts := weburl.NewNumbering((*weburl.URL).Site), weburl.NewNumbering((*weburl.URL).Host)
	for _, test := range []struct {
		url        string
		site, host uint32
	}{
		{"http://a.example.org/", 0, 0}, {"http://a.example.org/x/y?z=http://b.test/", 0, 0}, {"https://a.example.org/", 0, 0},
		{"http://b.example.org/", 0, 1}, {"http://b.test/", 1, 2}, {"no URL", 2, 3}, {"http://", 2, 3}, {"http://b.test/2", 1, 2},
	} {
		if site, host := sites.Number(test.url), hosts.Number(test.url); site != test.site || host != test.host {
			t.Errorf("%s: site %d, host %d; want %d, %d", test.url, site, host, test.site, test.host)
		}
	}
	if sites.Len() != 3 || hosts.Len() != 4 {
		t.Errorf("%d sites, %d hosts", sites.Len(), hosts.Len())
	}
}

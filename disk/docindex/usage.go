package docindex

import (
	"encoding/binary"
	"fmt"
	"time"
)

// A SiteUsage counts what a crawl has spent on a site, over all runs. Revisits do not count.
type SiteUsage struct {
	URLs         uint64        // queued URLs of pages
	Bytes        uint64        // bytes of page bodies, decoded
	Parsing      time.Duration // parsing time of pages, whole µs
	Sitemaps     uint64        // queued sitemaps
	SitemapBytes uint64        // bytes of sitemaps, decoded
	Refused      uint64        // URLs of pages found after URLs had reached its budget
	Spent        Budget        // the budget that the last run found used up
}

// A Budget is one of the bounds on what a crawl spends on a site.
type Budget uint8

// The budgets. Their order is part of the format.
const (
	NoBudget      Budget = iota // none is used up
	URLBudget                   // of SiteUsage.URLs
	ByteBudget                  // of SiteUsage.Bytes
	ParsingBudget               // of SiteUsage.Parsing
	SitemapBudget               // of SiteUsage.Sitemaps and SitemapBytes
	FoundBudget                 // of SiteUsage.URLs and Refused
	budgets                     // number of budgets
)

// EndsSite reports whether no new page of a site is fetched once it has used up the budget. With
// the budgets of URLs and sitemaps, queued URLs are still fetched.
func (b Budget) EndsSite() bool {
	return b == ByteBudget || b == ParsingBudget || b == FoundBudget
}

// String returns, as text for display, why a URL of a site is not fetched whose budget is used up.
func (b Budget) String() string {
	switch b {
	case URLBudget:
		return "budget of URLs used up by its site (crawl --max-urls-per-site)"
	case ByteBudget:
		return "budget of bytes used up by its site (crawl --max-mb-per-site)"
	case ParsingBudget:
		return "budget of parsing time used up by its site (crawl --max-parsing-per-site)"
	case SitemapBudget:
		return "budget of sitemaps used up by its site"
	case FoundBudget:
		return "five times the budget of URLs named by its site (crawl --max-urls-per-site)"
	}
	return "within its budgets"
}

// siteVersion is the version of the encoding of a SiteUsage. Version 1 ends before the refused
// URLs.
const siteVersion = 2

func (u *SiteUsage) append(b []byte) []byte {
	b = append(b, siteVersion, byte(u.Spent))
	for _, n := range []uint64{
		u.URLs, u.Bytes, uint64(u.Parsing.Microseconds()), u.Sitemaps, u.SitemapBytes,
		u.Refused,
	} {
		b = binary.AppendUvarint(b, n)
	}
	return b
}

func decodeSite(name string, b []byte) (SiteUsage, error) {
	d := decoder{b: b}
	v := d.byte()
	u := SiteUsage{
		Spent: Budget(d.byte()), URLs: d.uvarint(1<<64 - 1), Bytes: d.uvarint(1<<64 - 1),
		Parsing:  time.Duration(d.uvarint(maxMicros)) * time.Microsecond,
		Sitemaps: d.uvarint(1<<64 - 1), SitemapBytes: d.uvarint(1<<64 - 1),
	}
	if v > 1 {
		u.Refused = d.uvarint(1<<64 - 1)
	}
	if err := d.end(); err != nil || v < 1 || v > siteVersion || u.Spent >= budgets {
		return SiteUsage{}, fmt.Errorf("document index: site %q: damaged, or has another version", name)
	}
	return u, nil
}

// Site returns the usage of a site, or zero for an unknown one.
func (db *DB) Site(name string) (u SiteUsage, err error) {
	_, err = db.get(append([]byte{tableSite}, name...), func(b []byte) (err error) {
		u, err = decodeSite(name, b)
		return err
	})
	return u, err
}

// PutSite writes the usage of a site.
func (b *Batch) PutSite(name string, u *SiteUsage) {
	b.buf = u.append(b.buf[:0])
	b.p.Set(append([]byte{tableSite}, name...), b.buf, nil)
}

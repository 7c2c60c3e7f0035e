package urlserver

import (
	"testing"
	"time"

	"anatomy/vocab"
)

// TestSiteLimits: the limits of a site hold for it alone, whatever its robots.txt and its answers say.
func TestSiteLimits(t *testing.T) {
	limits := map[string]SiteLimits{
		"own.a.test":  {Delay: 5 * time.Second},
		"b.test":      {Delay: -1, Connections: 2},
		"shared.test": {Connections: 3},
	}
	b := newBench(t, Options{SiteLimits: limits, LeaseSize: 1, Policy: BreadthFirst})
	b.seed("http://own.a.test/1", "http://a.test/2", "http://b.test/3", "http://b.test/4", "http://own.a.test/5")
	l := b.take("http://own.a.test/1")
	if !l.FixedDelay || l.Delay != 5*time.Second || l.Site != "own.a.test" {
		t.Errorf("%+v", l)
	}
	if l := b.take("http://a.test/2"); l.FixedDelay || l.Delay != time.Second {
		t.Errorf("%+v", l)
	}
	if l := b.take("http://b.test/3"); !l.FixedDelay || l.Delay != 0 {
		t.Errorf("%+v", l)
	}
	b.take("http://b.test/4") // two at once
	b.release(l, vocab.HostReport{AnswerTime: time.Minute, CrawlDelay: time.Hour})
	b.pass(5*time.Second - 1)
	b.none(time.Millisecond)
	b.pass(1)
	b.take("http://own.a.test/5")
}

// TestSetDelay: a changed delay applies to waiting hosts, and can be reset.
func TestSetDelay(t *testing.T) {
	b := newBench(t, Options{Delay: time.Hour, LeaseSize: 1, Policy: BreadthFirst})
	b.seed("http://www.a.test/1", "http://www.a.test/2", "http://a.test/3", "http://b.test/4", "http://b.test/5")
	for _, u := range []string{"http://www.a.test/1", "http://b.test/4"} {
		l := b.take(u)
		b.done(Result{Doc: l.URLs[0].Doc, Outcome: vocab.Fetched})
		b.release(l, vocab.HostReport{})
	}
	b.none(time.Hour)
	if site := b.s.SetDelay("www.a.test", 3*time.Second); site != "a.test" || b.s.SiteOf("www.a.test") != site {
		t.Errorf("the site of www.a.test is %s", site)
	}
	b.none(3 * time.Second)
	b.pass(3 * time.Second)
	l := b.take("http://a.test/3")
	b.s.SetDelay("a.test", 0)
	b.done(Result{Doc: l.URLs[0].Doc, Outcome: vocab.Fetched})
	b.release(l, vocab.HostReport{})
	b.pass(time.Hour - 3*time.Second)
	b.take("http://b.test/5")
	b.none(maxWait)
	b.pass(3 * time.Second)
	b.take("http://www.a.test/2")
	b.s.SetDelay("new.test", -1)
	b.seed("http://new.test/6", "http://new.test/7")
	l = b.take("http://new.test/6")
	b.release(l, vocab.HostReport{})
	b.take("http://new.test/7")
}

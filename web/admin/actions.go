package admin

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"strconv"
	"strings"
	"time"

	"anatomy/internal/plural"
	"anatomy/vocab"
	"anatomy/web/internal/recent"
)

// actions handle the forms of the admin page. Each returns lines about the result.
type actions struct {
	crawl    Crawl
	jobs     Jobs
	tuning   Tuning           // nil for none
	searches *recent.Searches // nil: not counted
}

// An action changes the crawl or begins a job.
type action func(ctx context.Context, form url.Values) (result []string, err error)

// table returns the actions by path below /crawl.
func (a *actions) table() map[string]action {
	all := map[string]action{
		"pause":  func(ctx context.Context, _ url.Values) ([]string, error) { return nil, a.crawl.Pause(ctx) },
		"resume": func(ctx context.Context, _ url.Values) ([]string, error) { return nil, a.crawl.Resume(ctx) },
		"add":    a.add,
		"remove": a.remove,
	}
	if a.jobs != nil {
		all["begin"], all["rank"] = a.begin, a.rank
		all["block"] = func(ctx context.Context, form url.Values) ([]string, error) {
			return changePages(ctx, form, a.jobs.Remove)
		}
		all["unblock"] = func(ctx context.Context, form url.Values) ([]string, error) {
			return changePages(ctx, form, a.jobs.Restore)
		}
	}
	if t := a.tuning; t != nil {
		all["synonyms"] = tune(func(f url.Values) (string, error) { return t.AddSynonyms(f.Get("words")) })
		all["pin"] = tune(func(f url.Values) (string, error) {
			return t.AddPin(f.Get("query"), f.Get("page"), f.Get("title"), f.Get("note"))
		})
		all["judge"] = tune(func(f url.Values) (string, error) { return t.SetMark(f.Get("query"), f.Get("page"), Right) })
	}
	if a.searches != nil {
		all["forget"] = func(_ context.Context, form url.Values) ([]string, error) {
			a.searches.Forget(form.Get("query"))
			return nil, nil
		}
	}
	return all
}

// tune returns an action that changes what searches find.
func tune(change func(form url.Values) (result string, err error)) action {
	return func(_ context.Context, form url.Values) ([]string, error) {
		result, err := change(form)
		if err != nil {
			return nil, err
		}
		return []string{result}, nil
	}
}

// add adds URLs to the running crawl.
func (a *actions) add(ctx context.Context, form url.Values) (result []string, err error) {
	urls := strings.Fields(form.Get("urls"))
	if len(urls) == 0 {
		return nil, errors.New("Enter a URL.")
	}
	added, err := a.crawl.Add(ctx, urls)
	for _, one := range added {
		result = append(result, one.URL+": "+one.State)
	}
	return result, err
}

// remove removes URLs from the queues of the running crawl.
func (a *actions) remove(ctx context.Context, form url.Values) ([]string, error) {
	pattern := strings.TrimSpace(form.Get("pattern"))
	n, err := a.crawl.Remove(ctx, pattern)
	if err != nil {
		return nil, err
	}
	return []string{fmt.Sprintf("removed from the queues: %s, %s", plural.Count(n, "URL"), pattern)}, nil
}

// begin adds URLs to the running crawl, or begins one.
func (a *actions) begin(ctx context.Context, form url.Values) ([]string, error) {
	urls := strings.Fields(form.Get("urls"))
	if len(urls) > 0 {
		if result, err := a.add(ctx, form); !errors.Is(err, vocab.ErrNoCrawl) {
			return result, err
		}
	}
	o := JobOptions{URLs: urls, Scope: form.Get("scope"), Recrawl: form.Get("recrawl") != ""}
	if most := form.Get("max"); most != "" {
		n, err := strconv.ParseUint(most, 10, 64)
		if err != nil {
			return nil, fmt.Errorf("%q is not a number of pages.", most)
		}
		o.MaxPages = n
	}
	return nil, a.jobs.Begin(o)
}

// rank begins the computation of ranks.
func (a *actions) rank(_ context.Context, form url.Values) ([]string, error) {
	o := JobOptions{Rank: true}
	if damping := form.Get("damping"); damping != "" {
		d, err := strconv.ParseFloat(damping, 64)
		if err != nil || !(d > 0 && d < 1) {
			return nil, fmt.Errorf("%q is not a number between 0 and 1.", damping)
		}
		o.Damping = d
	}
	return nil, a.jobs.Begin(o)
}

// changeTimeout bounds a removal, which writes to the index.
const changeTimeout = 25 * time.Second

func changePages(ctx context.Context, form url.Values, change func(context.Context, []string) (string, error)) ([]string, error) {
	targets := strings.Fields(form.Get("targets"))
	if len(targets) == 0 {
		return nil, errors.New("Enter a page or a site.")
	}
	ctx, cancel := context.WithTimeout(ctx, changeTimeout)
	defer cancel()
	result, err := change(ctx, targets)
	if err != nil {
		return nil, err
	}
	return []string{result}, nil
}

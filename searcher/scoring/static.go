package scoring

import "fmt"

// language adds points if the page is in the language that the query's script implies.
func language(m *match, t *Tally) {
	if m.terms.language == 0 || m.page.Language != m.terms.language || m.Language == 0 {
		return
	}
	points := m.Language.Of(m.terms.Sum)
	if !t.Explain {
		t.Sum += points
		return
	}
	t.add(points, "language", "", fmt.Sprintf(
		"the query is written in the language of the page, idf %s × weight %s",
		m.terms.Sum.Milli(), m.Language))
}

// static adds the points that do not depend on hits.
func static(m *match, t *Tally) {
	p := m.page
	t.add(p.Rank.Score, "pagerank", "", p.Rank.Detail)
	if !p.Crawled {
		t.add(m.Uncrawled.Score(), "uncrawled", "", "known by links alone")
	}
	addBonus(t, "home", &p.Home)
	addBonus(t, "related", &p.Related)
	addBonus(t, "preference", &p.Preference)
	addBonus(t, "site", &p.NamedSite)
	detail := ""
	if t.Explain {
		detail = depthName(p.Depth)
	}
	t.add(m.DepthPoints(p.Depth), "url", "", detail)
}

func addBonus(t *Tally, name string, b *Bonus) {
	if b.Score != 0 {
		t.add(b.Score, name, "", b.Detail)
	}
}

func depthName(depth int) string {
	switch depth {
	case 0:
		return "root of its host"
	case 1:
		return "1 folder deep"
	}
	return fmt.Sprintf("%d folders deep", depth)
}

package reported

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"anatomy/web/internal/messages"
)

// TestNestedReport: the text of a site within a text is not read as texts within texts without end. This one took
// half a minute.
func TestNestedReport(t *testing.T) {
	hostile := strings.Repeat("trap: ", 300) + "x, y"
	got, _ := Text(messages.For("de"), hostile)
	if n := strings.Count(got, "Falle: "); n == 0 || n > maxReported {
		t.Errorf("%d texts are translated", n)
	}
}

// TestReportedText: plural forms, numbers, durations, lists, and texts within texts are translated; a
// text that no room writes stays as it is.
func TestReportedText(t *testing.T) {
	german := messages.For("de")
	for english, want := range map[string]string{
		"gone":                              "nicht gefunden",
		"only the first 64 words were used": "nur die ersten 64 Wörter wurden verwendet",
		"No page contains any of “a”, “title”.":                                      "Keine Seite enthält eines dieser Wörter: „a“, „title“.",
		"There are only 3 results, with 1 near-duplicate.":                           "Es gibt nur 3 Ergebnisse, mit 1 nahezu identischen Seite.",
		"No page contains “a”. Spelling corrections are not ready yet.":              "Keine Seite enthält „a“. Rechtschreibkorrekturen sind noch nicht verfügbar.",
		"1 hit, count weight 1 × idf 4.07 × type weight 6":                           "1 Treffer, Gewicht der Anzahl 1 × idf 4,07 × Gewicht der Art 6",
		"3 links, count weight 2 × idf 1.9, 2 times in the query, × type weight 1.5": "3 Links, Gewicht der Anzahl 2 × idf 1,9, 2-mal in der Suchanfrage, × Gewicht der Art 1,5",
		"2 × within 8 words in the title, count weight 1 × idf 3 × class weight 1 × field weight 2 × share 0.5 of 4 pairs": "2 × innerhalb von 8 Wörtern (Titel), " +
			"Gewicht der Anzahl 1 × idf 3 × Gewicht der Klasse 1 × Gewicht des Felds 2 × Anteil 0,5 bei 4 Paaren",
		"1.2e+03 times the average of 12345 pages, of at most 2.5 points":                                                    "das 1,2e+03-Fache des Durchschnitts von 12.345 Seiten, höchstens 2,5 Punkte",
		"0.5 times the average of 12 pages by the vector trusted, favouring 2 targets, of at most 3 points":                  "das 0,5-Fache des Durchschnitts von 12 Seiten nach dem Vektor trusted, bevorzugt 2 targets, höchstens 3 Punkte",
		"you raised a.test, you prefer pages in de":                                                                          "von Ihnen höher gestellt: a.test, von Ihnen bevorzugte Sprache: de",
		"you raised a.test, no such text":                                                                                    "von Ihnen höher gestellt: a.test, no such text",
		"no change was seen in 3 hours; the interval of 6 hours is raised to the minimum of 7 days":                          "keine Änderung gesehen (Zeitraum: 3 h 0 min); der Abstand (6 h 0 min) wird auf das Minimum (7 Tage) erhöht",
		"1 of the last 2 visits, over 30 seconds, found a change; the interval of 2 days is lowered to the maximum of 1 day": "1 der letzten 2 Besuche fanden eine Änderung (Zeitraum: 30 s); der Abstand (2 Tage) wird auf das Maximum (24 h 0 min) gesenkt",
		"it is queued; its host: another host of a.test is read":                                                             "sie ist in der Warteschlange; ihr Host: ein anderer Host von a.test wird gelesen",
		"never fetched (out of scope), and no link with text leads to it":                                                    "nie abgerufen (außerhalb des Crawls), und kein Link mit Text führt zu ihr",
		"trap: a.test/b/* repeats itself: 20 of its 1000 pages show nothing new and lead to new URLs":                        "Falle: a.test/b/* wiederholt sich: 20 von 1.000 Seiten zeigen nichts Neues und führen zu neuen URLs",
	} {
		if got, ok := Text(german, english); got != want || !ok {
			t.Errorf("%q is\n%q, want\n%q", english, got, want)
		}
	}
	for english, want := range map[string]string{
		"No page contains any of “a”, “title”.":                         "「a」、「title」のいずれかを含むページはありません。",
		"No page contains “a”. Spelling corrections are not ready yet.": "「a」を含むページはありません。スペルの修正はまだ準備中です。",
		"trap, gone": "トラップ、見つからない",
	} {
		if got, ok := Text(messages.For("ja"), english); got != want || !ok {
			t.Errorf("%q is\n%q, want\n%q", english, got, want)
		}
	}
	for english, want := range map[string]string{
		"There are only 2258 results, with 1 near-duplicate.":                                       "There are only 2,258 results, with 1 near-duplicate.",
		"2 times the average of 12345 pages, of at most 3 points":                                   "2 times the average of 12,345 pages, of at most 3 points",
		"no change was seen in 3 hours; the interval of 6 hours is raised to the minimum of 7 days": "no change was seen in 3 hours; the interval of 6 hours is raised to the minimum of 7 days",
		"No page contains any of “a”, “1234”.":                                                      "No page contains any of “a”, “1234”.",
		"you raised a.test, no such text 1234":                                                      "you raised a.test, no such text 1234",
	} {
		if got, ok := Text(messages.English(), english); got != want || !ok {
			t.Errorf("%q is\n%q, want\n%q", english, got, want)
		}
	}
	const foreign = "connect to a.test at 192.0.2.1:80: <refused>"
	if got := HTML(german, foreign); got != `<span lang="en">connect to a.test at 192.0.2.1:80: &lt;refused&gt;</span>` {
		t.Error(got)
	}
	if got := HTML(messages.English(), foreign); got != "connect to a.test at 192.0.2.1:80: &lt;refused&gt;" {
		t.Error(got)
	}
	if got := Sentence(german, "robots.txt forbids it"); got != "Robots.txt verbietet es." {
		t.Error(got)
	}
	if got := Sentence(german, "404 Not Found"); got != `<span lang="en">404 Not Found.</span>` {
		t.Error(got)
	}
}

// TestReportedIsWritten: the words of each format are in the source of the rooms that write them.
func TestReportedIsWritten(t *testing.T) {
	var source strings.Builder
	for _, room := range []string{"cluster", "cmd/anatomy", "collection", "control", "crawler", "disk", "engine", "searcher", "urlserver", "vocab", "web"} {
		err := filepath.WalkDir(filepath.Join("../../..", room), func(name string, e fs.DirEntry, err error) error {
			if err != nil || e.IsDir() || !strings.HasSuffix(name, ".go") || strings.HasSuffix(name, "_test.go") || strings.HasSuffix(name, "/reported/formats.go") {
				return err
			}
			text, err := os.ReadFile(name)
			source.Write(text)
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	if len(Formats) < 100 {
		t.Fatalf("only %d formats", len(Formats))
	}
	pieces := regexp.MustCompile(`"?%[ds]"?|^you |[,:;()×]|\.(?: |$)`)
	for _, english := range Formats {
		for _, piece := range pieces.Split(english, -1) {
			if !strings.Contains(source.String(), strings.TrimSpace(piece)) {
				t.Errorf("%q: no room writes %q", english, piece)
			}
		}
	}
}

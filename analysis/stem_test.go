package analysis

import (
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"pgregory.net/rapid"
)

func TestFamily(t *testing.T) {
	for _, c := range []struct {
		word, lang, other string
		want              bool
	}{
		{"index", "en", "indexes", true}, {"indexing", "en-GB", "index", true}, {"happy", "en", "happiness", true}, {"filing", "en", "files", true},
		{"computer", "en", "computational", true}, {"page", "en", "pager", false}, {"page", "xx", "pages", true},
		{"haus", "de", "hauses", true}, {"geteilt", "de", "geteilte", true}, {"nationales", "fr", "nationale", true},
		{"страница", "en", "страницы", true}, {"страница", "ru", "page", false}, {"page", "ru", "pages", true},
		{"universitesi", "tr", "universitelerinin", true}, {"kitap", "tr", "kitabi", false}, {"gozluk", "tr", "goz", false},
		{"arbeit", "de-AT", "arbeitszimmer", true}, {"sprache", "de", "sprachkurs", true}, {"blume", "de", "blumentopf", true},
		{"arbeit", "de", "mitarbeiter", false}, {"haus", "de", "haustier", false}, {"arbeit", "en", "arbeitszimmer", false},
		{"station", "nl", "stationsplein", true}, {"arbete", "sv", "arbetsplats", true}, {"skole", "da", "skolebog", false}, {"barne", "nb", "barnehage", true},
		{"東", "", "東京", true}, {"東", "", "東", true}, {"東", "", "京東", false},
	} {
		f, ok := FormsOf(c.word, c.lang)
		if !ok || f.Contains(c.other) != c.want || !f.Contains(c.word) {
			t.Errorf("%s, %s: holds %s: %v", c.word, c.lang, c.other, !c.want)
		}
	}
	for _, word := range []string{"a", "at", "x11", "max_len", "東京", "шум2", "", "\xff", "책", "한국어2"} {
		if f, ok := FormsOf(word, "en"); ok {
			t.Errorf("%q has forms: %+v", word, f)
		}
	}
}

// Each line has forms of one word, in the language of their script.
func TestFormsByScript(t *testing.T) {
	for _, words := range []string{
		"함수 함수는 함수가 함수를 함수의 함수에 함수에서 함수로 함수와 함수들 함수들을 함수에서는 함수입니다 함수이다 함수라고",
		"고속도로 고속도로를 고속도로의", "설정 설정하는 설정합니다 설정되는 설정을", "서버 서버에서 서버로부터",
		"كتاب الكتاب والكتاب بالكتاب كتابها", "المدرسة مدرسة والمدرسة مدرسات", "مهندس المهندسون مهندسين للمهندس",
		"לימוד הלימוד בלימודים והלימוד לימודים", "מחשב המחשב במחשבים שהמחשב",
		"λόγος λόγου λόγο λόγοι λόγων λόγους", "πόλη πόλης πόλεις πόλεων", "πρόβλημα προβλήματα προβλημάτων",
		"πανεπιστήμιο πανεπιστημίου πανεπιστήμια", "ελληνικός ελληνική ελληνικού ελληνικά",
		"किताब किताबें किताबों", "लड़का लड़के लड़कों", "घर घरों", "भाषा भाषाएं भाषाओं भाषाएँ",
	} {
		all := strings.Fields(words)
		var folder folder
		for i, word := range all {
			folded, _ := folder.foldSlowly([]byte(word))
			all[i] = string(folded)
		}
		for _, word := range all {
			f, ok := FormsOf(word, "en")
			for _, other := range all {
				if !ok || !f.Contains(other) {
					t.Errorf("%s is no form of %s", other, word)
				}
			}
		}
	}
	for _, words := range []string{
		"πολη πολεμοσ", "θαλασσα θαλαμοσ", "νομοσ νομισμα", "γραμμη γραμμα", "함수 함", "프로 프", "도로 도", "함수 함수형", "지도 지", "아이 아", "메모리 메모",
		"كتاب مكتب", "ولد لد", "שלום מלך", "מלך לך", "घर घड़ी", "कर का", "भारत भाषा",
	} {
		word, other, _ := strings.Cut(words, " ")
		if f, ok := FormsOf(word, "en"); ok && f.Contains(other) {
			t.Errorf("%s is a form of %s", other, word)
		}
	}
}

// TestFormsAgree: a term is a form of itself, of two terms each is a form of the other if one is, and
// each begins with a prefix of the other's forms, by which the searcher finds it.
func TestFormsAgree(t *testing.T) {
	alphabets := []string{"을를함수에서로들도는하다", "والكتبيهنم", "והבכלמשיםתד", "किताबेंोंाएर", "aeginsty", "аеиогстых", "αειουωνσμτ"}
	rapid.Check(t, func(t *rapid.T) {
		letters := []rune(rapid.SampledFrom(alphabets).Draw(t, "letters"))
		stem := rapid.StringOfN(rapid.SampledFrom(letters), 2, 4, -1).Draw(t, "stem")
		ending := rapid.StringOfN(rapid.SampledFrom(letters), 0, 3, -1)
		a, b := stem+ending.Draw(t, "a"), stem+ending.Draw(t, "b")
		ofA, okA := FormsOf(a, "en")
		ofB, okB := FormsOf(b, "en")
		if okA && !ofA.Contains(a) || okA && okB && ofA.Contains(b) != ofB.Contains(a) {
			t.Fatalf("%s and %s: %+v, %+v", a, b, ofA, ofB)
		}
		if !slices.IsSorted(ofA.Prefixes) {
			t.Fatalf("%s: %q", a, ofA.Prefixes)
		}
		for i, prefix := range ofA.Prefixes[min(1, len(ofA.Prefixes)):] {
			if strings.HasPrefix(prefix, ofA.Prefixes[i]) {
				t.Fatalf("%s: %q", a, ofA.Prefixes)
			}
		}
	})
}

// TestCompounds: a compound begins with a prefix of its first word's forms, by which the searcher finds it.
func TestCompounds(t *testing.T) {
	found := 0
	rapid.Check(t, func(t *rapid.T) {
		lang := rapid.SampledFrom([]string{"de", "nl", "sv", "da", "nb", "nn", "no"}).Draw(t, "lang")
		letters := rapid.StringOfN(rapid.SampledFrom([]rune("aeginstyrlmö")), 4, 9, -1)
		first, link, rest := letters.Draw(t, "first"), rapid.SampledFrom(links[lang]).Draw(t, "link"), letters.Draw(t, "rest")
		f, ok := FormsOf(first, lang)
		if !ok {
			return
		}
		if want := utf8.RuneCountInString(first) >= leastFirst; want && !f.Contains(first+link+rest) {
			t.Fatalf("%s: %s%s%s is no compound of %s: %+v", lang, first, link, rest, first, f)
		}
		found++
	})
	if found == 0 {
		t.Error("no word has forms")
	}
}

// TestTurkishStem checks that the stem is whole letters, of one and of two bytes.
func TestTurkishStem(t *testing.T) {
	for word, want := range map[string]string{
		"": "", "goz": "goz", "kitap": "kitap", "kitaplar": "kitap", "dıştakı": "dışta", "əlaqədar": "əlaqə", "şşşşşşş": "şşşşş", "abcdı": "abcdı",
	} {
		if got := turkishStem(word); got != want {
			t.Errorf("turkishStem(%q) = %q, want %q", word, got, want)
		}
	}
}

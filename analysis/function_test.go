package analysis

import (
	"slices"
	"strings"
	"testing"
)

// TestFunctionText checks that the words of the file are terms, so that those of a text are among them.
func TestFunctionText(t *testing.T) {
	n := 0
	for _, l := range others {
		for word := range l.words {
			if terms := byTokenizer([]byte(word)); len(terms) != 1 || terms[0].word != word {
				t.Errorf("%s: %q has the terms %v", l.code, word, terms)
			}
			n++
		}
	}
	if n < 2000 || len(others) < 17 {
		t.Errorf("%d words of %d languages", n, len(others))
	}
}

func TestLanguageOf(t *testing.T) {
	for text, want := range map[string]string{
		"Wie ändert man die Größe der Bilder":                        "de",
		"¿Cuántas personas viven en la ciudad?":                      "es",
		"Combien de personnes dans la ville":                         "fr",
		"Quantes persones viuen als pobles més petits que la ciutat": "ca",
		"hvor mange mennesker bor der i byen":                        "da",
		"Hur många människor bor det i staden":                       "sv",
		"Thành phố này có bao nhiêu người":                           "vi",
		"die in was":                                      "",
		"how do I undo the last commit in git":            "",
		"what is the difference between de la and die an": "",
		"de de de":               "",
		"tar -x -z -f a b c d e": "",
		"сколько людей живет в городе": "",
		"": "",
	} {
		if got := LanguageOf(PhraseTerms(text)); got != want {
			t.Errorf("%q is %q, want %q", text, got, want)
		}
	}
}

// TestLanguageOfPage: pages in Catalan, Galician and Occitan are not in Spanish, Portuguese or French, nor the
// other way round.
func TestLanguageOfPage(t *testing.T) {
	for text, want := range map[string]string{
		"La biblioteca de la ciutat és oberta cada dia, i els llibres es poden demanar amb el carnet. Quan un llibre no hi és, " +
			"pot fer una reserva al taulell o des de casa seva, i l'avisarem per correu.": "ca",
		"La biblioteca de la ciudad está abierta cada día, y los libros se pueden pedir con el carné. Cuando un libro no está, " +
			"puede hacer una reserva en el mostrador o desde su casa, y le avisaremos por correo.": "es",
		"La bibliothèque de la ville est ouverte tous les jours, et les livres se demandent avec la carte. Quand un livre n'est pas là, " +
			"vous pouvez faire une réservation au comptoir ou de chez vous, et nous vous avertirons par courrier.": "fr",
		"A biblioteca da cidade está aberta cada día, e os libros pódense pedir co carné. Cando un libro non está, " +
			"tamén pode facer unha reserva no mostrador ou desde a súa casa, e avisarémolo por correo.": "gl",
		"A biblioteca da cidade está aberta todos os dias, e os livros podem ser pedidos com o cartão. Quando um livro não está, " +
			"também pode fazer uma reserva no balcão ou a partir da sua casa, e nós avisamos pelo correio.": "pt",
		"La bibliotèca de la vila es dobèrta cada jorn, e los libres se pòdon demandar amb la carta. Quand un libre es pas aquí, " +
			"podètz tanben far una reservacion al comptador o dempuèi vòstre ostal, e vos avertirem per corrièr.": "oc",
		"La casa de la ciutat": "",
	} {
		got := LanguageOfPage(func(yield func([]byte) bool) {
			terms := PhraseTerms(text)
			slices.Sort(terms)
			for _, term := range slices.Compact(terms) {
				if !yield([]byte(term)) {
					return
				}
			}
		})
		if got != want {
			t.Errorf("%.30q… is %q, want %q", text, got, want)
		}
	}
}

func TestIsFunctionWord(t *testing.T) {
	for _, c := range []struct {
		word, lang string
		want       bool
	}{
		{"the", "", true}, {"the", "de", false}, {"der", "", false}, {"der", "de", true}, {"der", "es", false},
		{"в", "", true}, {"في", "de", true}, {"commit", "", false}, {"commit", "de", false}, {"the", "xx", false},
	} {
		if IsFunctionWord(c.word, c.lang) != c.want {
			t.Errorf("%q in %q: %v", c.word, c.lang, !c.want)
		}
	}
}

func TestIsEnglish(t *testing.T) {
	for text, want := range map[string]bool{
		"how install packages": true, "what is the kernel": true, "for the lamp": true,
		"git rebase": false, "": false, "in berlin": false, "wie kann ich das": false, "was ist das in der datei": false,
	} {
		if got := IsEnglish(strings.Fields(text)); got != want {
			t.Errorf("%q: %v", text, got)
		}
	}
}

package guess

import (
	"strings"
	"testing"

	"golang.org/x/net/html/charset"
	"golang.org/x/text/encoding"
)

// texts are the first article of the Universal Declaration of Human Rights.
var texts = map[string]string{
	"russian":     "Все люди рождаются свободными и равными в своем достоинстве и правах. Они наделены разумом и совестью и должны поступать в отношении друг друга в духе братства.",
	"ukrainian":   "Всі люди народжуються вільними і рівними у своїй гідності та правах. Вони наділені розумом і совістю і повинні діяти у відношенні один до одного в дусі братерства.",
	"bulgarian":   "Всички хора се раждат свободни и равни по достойнство и права. Те са надарени с разум и съвест и следва да се отнасят помежду си в дух на братство.",
	"greek":       "Όλοι οι άνθρωποι γεννιούνται ελεύθεροι και ίσοι στην αξιοπρέπεια και τα δικαιώματα. Άνθρωποι είναι προικισμένοι με λογική και συνείδηση.",
	"hebrew":      "כל בני האדם נולדו בני חורין ושווים בערכם ובזכויותיהם. כולם חוננו בתבונה ובמצפון, לפיכך חובה עליהם לנהוג איש ברעהו ברוח של אחוה.",
	"arabic":      "يولد جميع الناس أحراراً متساوين في الكرامة والحقوق. وقد وهبوا عقلاً وضميراً وعليهم أن يعامل بعضهم بعضاً بروح الإخاء.",
	"thai":        "มนุษย์ทั้งหลายเกิดมามีอิสระและเสมอภาคกันในเกียรติศักดิ์และสิทธิ ต่างมีเหตุผลและมโนธรรม และควรปฏิบัติต่อกันด้วยเจตนารมณ์แห่งภราดรภาพ",
	"polish":      "Wszyscy ludzie rodzą się wolni i równi pod względem swej godności i swych praw. Są oni obdarzeni rozumem i sumieniem i powinni postępować wobec innych w duchu braterstwa.",
	"czech":       "Všichni lidé rodí se svobodní a sobě rovní co do důstojnosti a práv. Jsou nadáni rozumem a svědomím a mají spolu jednat v duchu bratrství.",
	"hungarian":   "Minden emberi lény szabadon születik és egyenlő méltósága és joga van. Az emberek, ésszel és lelkiismerettel bírván, egymással szemben testvéri szellemben kell hogy viseltessenek, nyűg nélkül, erős hűséggel.",
	"turkish":     "Bütün insanlar hür, haysiyet ve haklar bakımından eşit doğarlar. Akıl ve vicdana sahiptirler ve birbirlerine karşı kardeşlik zihniyeti ile hareket etmelidirler.",
	"lithuanian":  "Visi žmonės gimsta laisvi ir lygūs savo orumu ir teisėmis. Jiems suteiktas protas ir sąžinė ir jie turi elgtis vienas kito atžvilgiu kaip broliai, šiuo būdu.",
	"latvian":     "Visi cilvēki piedzimst brīvi un vienlīdzīgi savā pašcieņā un tiesībās. Viņi ir apveltīti ar saprātu un sirdsapziņu, un viņiem jāizturas citam pret citu brālības garā.",
	"japanese":    "すべての人間は、生まれながらにして自由であり、かつ、尊厳と権利とについて平等である。人間は、理性と良心とを授けられており、互いに同胞の精神をもって行動しなければならない。",
	"korean":      "모든 인간은 태어날 때부터 자유로우며 그 존엄과 권리에 있어 동등하다. 인간은 천부적으로 이성과 양심을 부여받았으며 서로 형제애의 정신으로 행동하여야 한다.",
	"simplified":  "人人生而自由,在尊严和权利上一律平等。他们赋有理性和良心,并应以兄弟关系的精神相对待。",
	"traditional": "人人生而自由,在尊嚴和權利上一律平等。他們賦有理性和良心,並應以兄弟關係的精神相對待。",
	"german":      "Alle Menschen sind frei und gleich an Würde und Rechten geboren. Sie sind mit Vernunft begabt und sollen einander im Geist der Brüderlichkeit begegnen, größer, schöner.",
	"french":      "Tous les êtres humains naissent libres et égaux en dignité et en droits. Ils sont doués de raison et doivent agir les uns envers les autres dans un esprit de fraternité, où ça plaît à Noël.",
	"spanish":     "Todos los seres humanos nacen libres e iguales en dignidad y derechos y, dotados como están de razón y conciencia, deben comportarse fraternalmente, ¿mañana? ¡sí!",
	"english":     "All human beings are born free and equal.¶ © 2024 “Human rights” – ½ × 3 naïve café, 5 °C ¶ £4 §7.¶",
}

// TestEncoding: a text is read as it was written, whichever encoding it was written in, also as one of
// the words in a page of markup.
func TestEncoding(t *testing.T) {
	cases := []struct{ encoding, texts string }{
		{"windows-1251", "russian ukrainian bulgarian"}, {"koi8-r", "russian"}, {"koi8-u", "ukrainian"},
		{"ibm866", "russian"}, {"iso-8859-5", "russian bulgarian"},
		{"windows-1253", "greek"}, {"iso-8859-7", "greek"}, {"windows-1255", "hebrew"}, {"iso-8859-8", "hebrew"},
		{"windows-1256", "arabic"}, {"iso-8859-6", "arabic"}, {"windows-874", "thai"},
		{"windows-1250", "polish czech hungarian german"}, {"iso-8859-2", "polish czech hungarian"},
		{"windows-1254", "turkish german"}, {"windows-1257", "lithuanian latvian"},
		{"shift_jis", "japanese"}, {"euc-jp", "japanese"}, {"euc-kr", "korean"}, {"gb18030", "simplified"},
		{"gbk", "simplified"}, {"big5", "traditional"},
		{"windows-1252", "german french spanish english"}, {"iso-8859-15", "german spanish"},
	}
	for _, c := range cases {
		written, _ := charset.Lookup(c.encoding)
		for name := range strings.FieldsSeq(c.texts) {
			for _, around := range [][2]string{{"", ""}, {"<!doctype html><p class=a>some English words: <b>", "</b></p>"}} {
				page, err := encoding.HTMLEscapeUnsupported(written.NewEncoder()).String(around[0] + texts[name] + around[1])
				if err != nil {
					t.Fatal(c.encoding, name, err)
				}
				want, _ := written.NewDecoder().String(page)
				enc, guessed := Encoding([]byte(page))
				if got, err := enc.NewDecoder().String(page); got != want || err != nil {
					t.Errorf("%s in %s is read as %s: %s %v", name, c.encoding, guessed, got, err)
				}
			}
		}
	}
}

// TestLittle: a few bytes outside ASCII, and bytes of no language, are windows-1252.
func TestLittle(t *testing.T) {
	for _, page := range []string{"", "plain", "\xA9 2024", "caf\xE9", "\x93quoted\x94 \x96 5 \xB0C", "a \xB6 b \xB6 c \xB6"} {
		if _, name := Encoding([]byte(page)); name != "windows-1252" {
			t.Errorf("%q is %s", page, name)
		}
	}
}

// TestModels: each language has letters, each once, in an encoding that has them.
func TestModels(t *testing.T) {
	used := map[string]bool{}
	for _, e := range encodings {
		if enc, name := charset.Lookup(e.name); enc == nil || name != e.name {
			t.Errorf("%s is %s", e.name, name)
		}
		for _, l := range e.languages {
			used[l] = true
		}
	}
	for name, l := range languages {
		seen := map[rune]bool{}
		for _, r := range l.letters {
			if seen[r] {
				t.Errorf("%s has %c twice", name, r)
			}
			seen[r] = true
		}
		if !used[name] || len(seen) == 0 {
			t.Errorf("%s is not used", name)
		}
	}
}

func BenchmarkEncoding(b *testing.B) {
	enc, _ := charset.Lookup("shift_jis")
	text := ""
	for len(text) < 40_000 {
		text += texts["japanese"] + " "
	}
	page, err := enc.NewEncoder().String(text)
	if err != nil {
		b.Fatal(err)
	}
	b.SetBytes(int64(len(page)))
	for b.Loop() {
		Encoding([]byte(page))
	}
}

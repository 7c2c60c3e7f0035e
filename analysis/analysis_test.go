package analysis

import (
	"bytes"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"github.com/blevesearch/segment"
	"golang.org/x/text/cases"
	"golang.org/x/text/unicode/norm"
	"pgregory.net/rapid"
)

func TestSequence(t *testing.T) {
	for text, want := range map[string]string{
		"":                               "",
		"os.path":                        "os path",
		"don't don’t":                    "don t don t",
		"max_len __init__ _ ___":         "max_len __init__",
		"3,14 1.2.3 10:30 a;b":           "3 14 1 2 3 10 30 a b",
		"C++ & C#":                       "c c",
		"Straße STRASSE groß":            "strasse strasse gross",
		"Ångström Crème brûlée":          "angstrom creme brulee",
		"ΣΊΣΥΦΟΣ σίσυφος":                "σισυφοσ σισυφοσ",
		"Ёлка":                           "елка",
		"ﬁne ＡＢＣ Ⓐ ℍ":                    "fine abc a h",
		"東京タワー":                          "東京 京 タワー",
		"ひらがな":                           "ひら らが がな",
		"ｶﾞｲﾄﾞ ガイド":                      "ガイド ガイド",
		"\u30ab\u3099\u30a4\u30c8\u3099": "ガイド",
		"東京 都":                           "東京 京 都", "東": "東",
		"한국어 \u1112\u1161\u11ab": "한국어 한",
		"col·lecció":             "col leccio",
		"exam\u00adple":          "example",
		"l'été":                  "l ete",
		"naïve—café…end":         "naive cafe end",
		"a\xffb é\xc3(é":         "a b e e",
		"x.\u0301a":              "x a",
		"\u0301":                 "",
		"שָׁלוֹם":                "שלום",
		"المُدَرِّسة أحمد إلى كـتاب": "المدرسه احمد الي كتاب",
		"کتاب یک": "كتاب يك",
		"क़लम हूँ १९४५ ٣٫١٤":               "कलम हूं 1945 3 14",
		"น้ำ ดื่ม":                         "น้ํา ดื่ม",
		"ภาษาไทย":                          "ภาษา ไทย",
		"ທີ່ ລາວ":                          "ທີ່ ລາ າວ",
		"မြန်မာ":                           "မြန် န်မာ",
		strings.Repeat("a", 100) + " b":    strings.Repeat("a", 64) + " b",
		strings.Repeat("語", 2) + "ß":       "語語 語 ss",
		strings.Repeat("я", 33):            strings.Repeat("я", 32),
		"a" + strings.Repeat("я", 33):      "a" + strings.Repeat("я", 31),
		"😀 → ½":                            "1⁄2",
		"x" + strings.Repeat("\u0301", 99): "x",
	} {
		if got := strings.Join(PhraseTerms(text), " "); got != want {
			t.Errorf("%q: got %q, want %q", text, got, want)
		}
	}
}

func TestEachPlaces(t *testing.T) {
	var got []string
	var tok Tokenizer
	text := "Über alles, don’T _X ＡＢ"
	tok.EachTerm([]byte(text), func(word []byte, start, end int) {
		got = append(got, fmt.Sprintf("%s=%s", word, text[start:end]))
	})
	want := []string{"uber=Über", "alles=alles", "don=don", "t=T", "_x=_X", "ab=ＡＢ"}
	if !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestSingle(t *testing.T) {
	for word, want := range map[string]bool{"東": true, "ひ": true, "ທີ່": true, "ที่": false, "東京": false, "タ": false, "a": false, "한": false, "": false, "一つ": false} {
		if IsUnigram(word) != want {
			t.Errorf("%q: %v", word, !want)
		}
	}
}

// record is one call of Each's function.
type record struct {
	word       string
	start, end int
}

// bySegment is the oracle: segment over all of the text, then the split, no fast path, no windows.
func bySegment(text []byte) (all []record) {
	var t Tokenizer
	add := func(word []byte, start, end int) {
		all = append(all, record{string(word), start, end})
	}
	for from := 0; from < len(text); from++ {
		end := from
		for end < len(text) {
			r, size := utf8.DecodeRune(text[end:])
			if r == utf8.RuneError && size == 1 {
				break
			}
			end += size
		}
		pieces, _, n, err := segment.SegmentWordsDirect(text[from:end], nil, nil)
		if err != nil || n != end-from {
			panic(fmt.Sprintf("segment stopped at %d of %d: %v", n, end-from, err))
		}
		for _, piece := range pieces {
			t.split(text, from, from+len(piece), add)
			from += len(piece)
		}
		t.finishRuns(add)
		from = end
	}
	return all
}

func byTokenizer(text []byte) (all []record) {
	var t Tokenizer
	t.EachTerm(text, func(word []byte, start, end int) {
		all = append(all, record{string(word), start, end})
	})
	return all
}

func checkAgainstSegment(t interface{ Fatalf(string, ...any) }, text []byte) {
	got, want := byTokenizer(text), bySegment(text)
	if !slices.Equal(got, want) {
		t.Fatalf("%q:\n got %v\nwant %v", text, got, want)
	}
	start, end := 0, 0
	for i, r := range got {
		inRun := i > 0 && r.start > start && r.start < end && r.end >= end
		if r.start < end && !inRun || r.end <= r.start || r.end > len(text) || r.word == "" || len(r.word) > MaxTermLen || !utf8.ValidString(r.word) {
			t.Fatalf("%q: bad word %+v", text, r)
		}
		start, end = r.start, r.end
	}
}

var seeds = []string{
	"The quick (\"brown\") fox can't jump 32.3 feet, right?", "a.b:c'd’e·f,g;h", "x\u0301.y \u0301z", "東京a1_2タワーｶﾞ", "é\xffé a\xe3\x81", "שלום\"ש ׳",
	"1.2\u00ad.3_4,\u06605", "a\u200db\u200cc", "🇩🇪🇫🇷a", "ABC\r\nDEF\u0085G\u2028H", "ไทย ລາວ ខ្មែរ မြန်မာ", "a\u2044b 1\u20442", "_a_.b_ __ _é_",
}

func FuzzEach(f *testing.F) {
	for _, s := range seeds {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, text []byte) { checkAgainstSegment(t, text) })
}

// TestAgainstSegment draws texts of the characters where the rules of UAX #29 meet.
func TestAgainstSegment(t *testing.T) {
	alphabet := []rune("aZ1_.,:;'\"-  \n\t\vé\u0301\u00ad\u200d’·\u2044٠שあア東한กﾞ\u3099İßⒶ🇩\ufffd")
	rapid.Check(t, func(t *rapid.T) {
		checkAgainstSegment(t, []byte(string(rapid.SliceOfN(rapid.SampledFrom(alphabet), 0, 60).Draw(t, "text"))))
	})
}

// TestWindows puts words and the signs that join them across the ends of windows.
func TestWindows(t *testing.T) {
	for _, unit := range []string{"東", "é", "é.", "é'", "1\u066c\u00ad", "éa\u0301:\u0301b,", "あアー_", "ש\"", "\u0301"} {
		for pad := range 5 {
			checkAgainstSegment(t, []byte(strings.Repeat("x", pad)+strings.Repeat(unit, 4*window/len(unit))))
		}
	}
}

// TestFoldEveryRune compares with the case folding of x/text, and the tables with their absence.
func TestFoldEveryRune(t *testing.T) {
	fold := cases.Fold()
	var f, slow folder
	n := 0
	for r := rune(1); r <= unicode.MaxRune; r++ {
		if !utf8.ValidRune(r) || unicode.Is(unicode.Co, r) || !unicode.In(r, unicode.L, unicode.M, unicode.N, unicode.S, unicode.Pc, unicode.Cf) {
			continue
		}
		n++
		got, gotOK := f.fold([]byte(string(r)))
		want, wantOK := slow.foldSlowly([]byte(string(r)))
		if !bytes.Equal(got, want) || gotOK != wantOK {
			t.Fatalf("%U: by table %q, without %q", r, got, want)
		}
		// The iota below a Greek vowel is a mark to us; case folding makes it a letter.
		folded := fold.String(strings.ReplaceAll(norm.NFD.String(string(r)), "\u0345", ""))
		if again, _ := slow.foldSlowly([]byte(folded)); !bytes.Equal(again, got) && !unicode.Is(unicode.Cherokee, r) {
			t.Errorf("%U: folds to %q, its case-folded form %q to %q", r, got, folded, again)
		}
		once := string(got)
		if twice, _ := slow.foldSlowly([]byte(once)); string(twice) != once {
			t.Errorf("%U: folds to %q, that to %q", r, once, twice)
		}
		if norm.NFKC.String(once) != once {
			t.Errorf("%U: folds to %q, which is not NFKC", r, once)
		}
	}
	if n < 100_000 {
		t.Fatalf("only %d characters seen", n)
	}
}

// TestFoldTogether: the tables fold each character by itself, which must be the same as folding
// the word.
func TestFoldTogether(t *testing.T) {
	var f, slow folder
	letter := rapid.OneOf(rapid.RuneFrom(nil, &unicode.RangeTable{R16: []unicode.Range16{{Lo: 0x20, Hi: 0x600, Stride: 1}, {Lo: 0x3041, Hi: 0x30ff, Stride: 1}}}),
		rapid.RuneFrom(nil, unicode.Hangul), rapid.RuneFrom(nil, unicode.Mn))
	rapid.Check(t, func(t *rapid.T) {
		word := []byte(string(rapid.SliceOfN(letter, 0, 12).Draw(t, "word")))
		got, gotOK := f.fold(word)
		want, wantOK := slow.foldSlowly(word)
		if !bytes.Equal(got, want) || gotOK != wantOK {
			t.Fatalf("%q: by table %q, without %q", word, got, want)
		}
	})
}

func TestNoAllocationOnASCII(t *testing.T) {
	var tok Tokenizer
	text := []byte(seeds[0])
	n := 0
	allocs := testing.AllocsPerRun(100, func() {
		tok.EachTerm(text, func(word []byte, _, _ int) { n += len(word) })
	})
	if allocs != 0 || n == 0 {
		t.Errorf("%v allocations", allocs)
	}
}

// benchText is the file that ANATOMY_TEXT names, or a paragraph over and over.
func benchText(b *testing.B) []byte {
	if name := os.Getenv("ANATOMY_TEXT"); name != "" {
		text, err := os.ReadFile(name)
		if err != nil {
			b.Fatal(err)
		}
		return text
	}
	return []byte(strings.Repeat("The store server appends each page to the repository; nothing else is needed to rebuild it. It’s a naïve idea. ", 1000))
}

func BenchmarkEach(b *testing.B) {
	text := benchText(b)
	var tok Tokenizer
	n := 0
	b.SetBytes(int64(len(text)))
	b.ReportAllocs()
	for b.Loop() {
		tok.EachTerm(text, func(word []byte, _, _ int) { n++ })
	}
}

func BenchmarkSegmentAlone(b *testing.B) {
	text := benchText(b)
	var pieces [][]byte
	var types []int
	b.SetBytes(int64(len(text)))
	b.ReportAllocs()
	for b.Loop() {
		for from := 0; from < len(text); from += window {
			pieces, types, _, _ = segment.SegmentWordsDirect(text[from:min(from+window, len(text))], pieces[:0], types[:0])
		}
	}
}

// TestEveryAlphabeticRune checks that every character that needs no segmenter is split as the segmenter
// splits it, in several contexts.
func TestEveryAlphabeticRune(t *testing.T) {
	n := 0
	for r := rune(0); r < privateEnd; r++ {
		if classOf(r) == unknown {
			continue
		}
		n++
		for _, around := range []string{"%c", "é%c", "%cé", "aé%cb", "1%c2é", "é_%c_", "é%c.", "é'%c'", "é%c%[1]c", "Ж%cü", "_%c", "%c é", "ا%cب", "한%c글", "→%c한_"} {
			text := fmt.Appendf(nil, around, r)
			if alphabetic(text) {
				checkAgainstSegment(t, text)
			}
		}
	}
	if n < 20_000 {
		t.Errorf("only %d characters", n)
	}
}

// TestLongWords checks words of about MaxTermLen, within and at the end of a text.
func TestLongWords(t *testing.T) {
	for n := range 2*MaxTermLen + 10 {
		word := strings.Repeat("aB_9zZ0", n)[:n]
		for _, text := range []string{word, word + ".", "." + word + " X", "..  " + word + "-----------" + word} {
			checkAgainstSegment(t, []byte(text))
		}
	}
}

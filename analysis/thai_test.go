package analysis

import (
	"bytes"
	"math"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"pgregory.net/rapid"
)

func TestThaiWords(t *testing.T) {
	for text, want := range map[string]string{
		"ทีมรับยอมแพ้":      "ทีม รับ ยอม แพ้",
		"คอมพิวเตอร์ของฉัน": "คอมพิวเตอร์ ของ ฉัน",
		"น้ำดื่มเย็น":       "น้ําดื่ม เย็น",
		"ภาษา\u200bไทย":     "ภาษา ไทย",
		"ใช้ Go 1.26ได้":    "ใช้ go 1 26 ได้",
		"ราคา๕๐บาท":         "ราคา 50 บาท",
		"ภาษาไทย東京":         "ภาษา ไทย 東京 京",

		"ก":      "ก",
		"ก\xffข": "ก ข",
		"ฌฌฌฌฌฌฌฌฌฌฌฌฌฌฌฌฌฌฌฌฌฌฌฌฌฌ": strings.Repeat("ฌ", 21),
	} {
		var got []string
		for _, r := range byTokenizer([]byte(text)) {
			got = append(got, r.word)
		}
		if strings.Join(got, " ") != want {
			t.Errorf("%q: got %q, want %q", text, got, want)
		}
	}
}

// thaiAlphabet are letters and marks of short words, with every kind of mark.
var thaiAlphabet = []rune("กขคทนมรลวอาำเไๆะัีุูู่้์็ํฺ")

// TestThaiRuns cuts random runs: their words are the run, folded, and no way to cut it costs less.
func TestThaiRuns(t *testing.T) {
	known := map[string]bool{}
	for word := range strings.Lines(thaiText) {
		known[strings.TrimSpace(word)] = true
	}
	var slow folder
	words := slices.Collect(strings.Lines(thaiText))
	part := rapid.OneOf(rapid.Map(rapid.SampledFrom(words), strings.TrimSpace), rapid.StringOfN(rapid.SampledFrom(thaiAlphabet), 1, 3, -1))
	rapid.Check(t, func(t *rapid.T) {
		text := "ก" + strings.Join(rapid.SliceOfN(part, 0, 6).Draw(t, "parts"), "")
		var tok Tokenizer
		var got []string
		end, cost := 0, 0
		tok.EachTerm([]byte(text), func(term []byte, from, to int) {
			folded, _ := slow.foldSlowly([]byte(text[from:to]))
			if from != end || !bytes.Equal(term, folded[:min(len(folded), len(term))]) {
				t.Fatalf("%q: %q is %q, at %d after %d", text, text[from:to], term, from, end)
			}
			end = to
			got = append(got, string(folded))
		})
		folded, _ := slow.foldSlowly([]byte(text))
		if end != len(text) || strings.Join(got, "") != string(folded) {
			t.Fatalf("%q: %q", text, got)
		}
		for _, word := range got {
			if known[word] {
				cost++
			} else {
				cost += thaiUnknown * len(clustersOf(word))
			}
		}
		if least := leastCost(string(folded), known); cost != least {
			t.Fatalf("%q: %q costs %d, another way %d", text, got, cost, least)
		}
	})
}

// clustersOf splits folded text into letters with their marks. The mark of saraAm follows a letter.
func clustersOf(text string) (all []string) {
	for _, r := range text {
		if isThai(r) || len(all) == 0 {
			all = append(all, "")
		}
		all[len(all)-1] += string(r)
	}
	return all
}

// leastCost tries every word that text can begin with.
func leastCost(text string, known map[string]bool) int {
	clusters := clustersOf(text)
	cost := make([]int, len(clusters)+1) // of the clusters from i on
	for i := len(clusters) - 1; i >= 0; i-- {
		cost[i] = thaiUnknown + cost[i+1]
		for k := i + 1; k <= len(clusters); k++ {
			if known[strings.Join(clusters[i:k], "")] {
				cost[i] = min(cost[i], 1+cost[k])
			}
		}
	}
	return cost[0]
}

// TestThaiDictionary checks that the trie has the words of the list, which are folded and sorted,
// and no other.
func TestThaiDictionary(t *testing.T) {
	trie, last, n := thaiWords(), "", 0
	var slow folder
	for line := range strings.Lines(thaiText) {
		word := strings.TrimSuffix(line, "\n")
		if folded, _ := slow.foldSlowly([]byte(word)); string(folded) != word || word <= last || !isThai([]rune(word)[0]) {
			t.Errorf("%q after %q", word, last)
		}
		node := int32(0)
		for _, r := range word {
			if node = trie.next(node, byte(r-thaiStart)); node < 0 {
				t.Fatalf("%q is not in the trie", word)
			}
		}
		if !trie[node].ends {
			t.Errorf("%q does not end in the trie", word)
		}
		last = word
		n++
	}
	ends := 0
	for _, node := range trie {
		if node.ends {
			ends++
		}
	}
	if ends != n || n < 20_000 {
		t.Errorf("%d words in the trie, %d in the list", ends, n)
	}
}

// TestLongThaiRuns: a run of any length costs time in proportion, and loses nothing.
func TestLongThaiRuns(t *testing.T) {
	text := []byte(strings.Repeat("ภาษาไทย", 10*thaiRunBytes/len("ภาษาไทย")))
	checkAgainstSegment(t, text)
	end, most := 0, 0
	for _, r := range byTokenizer(text) {
		if r.start != end {
			t.Fatalf("%q at %d after %d", r.word, r.start, end)
		}
		end, most = r.end, max(most, utf8.RuneCountInString(r.word))
	}
	if end != len(text) || most > 4 {
		t.Errorf("ends at %d of %d, words of %d letters", end, len(text), most)
	}
	if thaiUnknown < thaiRunBytes/3 || thaiUnknown*thaiRunBytes/3 > math.MaxInt32 {
		t.Error("an unknown letter may cost less than the words of a run")
	}
}

// TestManyMarks gives a letter a million marks, in the order that takes the most time to sort. There is
// a bound on those that count.
func TestManyMarks(t *testing.T) {
	text := "ก" + strings.Repeat("\u0e48", 1<<20) + strings.Repeat("\u0e38", 1<<20) + "ข"
	n := 0
	var tok Tokenizer
	tok.EachTerm([]byte(text), func(term []byte, _, _ int) {
		if n += len(term); n > 8*maxMarks {
			t.Fatalf("terms of %d bytes", n)
		}
	})
	if n == 0 {
		t.Error("no term")
	}
}

// Command order writes lines of text in another order of documents, so that indexes of both can be
// compared: the size of posting lists, and the time of queries.
//
//	go run ./lab/order --text pages.tsv --by bisection > ordered.tsv
//	anatomy index --text ordered.tsv --data ordered
//
// Lines are those of anatomy index --text: id, title, words of the path, body. A segment orders the
// documents of one host by path, so each id gets its position in the new order as a prefix. --by is id
// (the order of anatomy), chance (random), FILE (by a number per id, highest first, PageRank say), or
// bisection (recursive bisection, DKK16).
package main

import (
	"bufio"
	"bytes"
	"cmp"
	"flag"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"slices"
	"strconv"
	"strings"

	"anatomy/analysis"
)

func main() {
	text := flag.String("text", "", "the lines")
	by := flag.String("by", "bisection", "id, chance, bisection, or a file with lines of id and number, separated by a tab")
	seed := flag.Uint64("seed", 1, "seed of the random order")
	flag.Parse()
	if *text == "" {
		fmt.Fprintln(os.Stderr, "usage: order --text FILE --by ORDER > FILE")
		os.Exit(2)
	}
	if err := run(*text, *by, *seed, os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "order:", err)
		os.Exit(1)
	}
}

func run(text, by string, seed uint64, out io.Writer) error {
	data, err := os.ReadFile(text)
	if err != nil {
		return err
	}
	lines := bytes.SplitAfter(bytes.TrimSuffix(data, []byte("\n")), []byte("\n"))
	order, err := ordered(lines, by, seed)
	if err != nil {
		return err
	}
	w := bufio.NewWriter(out)
	for position, line := range order {
		fmt.Fprintf(w, "%08d/%s\n", position, bytes.TrimSuffix(lines[line], []byte("\n")))
	}
	return w.Flush()
}

// ordered returns the numbers of the lines in an order.
func ordered(lines [][]byte, by string, seed uint64) ([]int, error) {
	order := make([]int, len(lines))
	for i := range order {
		order[i] = i
	}
	id := func(line int) []byte { id, _, _ := bytes.Cut(lines[line], []byte("\t")); return id }
	slices.SortStableFunc(order, func(a, b int) int { return bytes.Compare(id(a), id(b)) })
	switch by {
	case "id":
	case "chance":
		r := rand.New(rand.NewPCG(seed, 0))
		r.Shuffle(len(order), func(i, k int) { order[i], order[k] = order[k], order[i] })
	case "bisection":
		bisect(order, termsOf(lines))
	default:
		number, err := readNumbers(by)
		if err != nil {
			return nil, err
		}
		slices.SortStableFunc(order, func(a, b int) int {
			return cmp.Compare(number[string(id(b))], number[string(id(a))])
		})
	}
	return order, nil
}

// readNumbers reads numbers by id.
func readNumbers(file string) (map[string]float64, error) {
	text, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	numbers := map[string]float64{}
	for line := range strings.Lines(string(text)) {
		id, value, _ := strings.Cut(strings.TrimSpace(line), "\t")
		if numbers[id], err = strconv.ParseFloat(value, 64); err != nil {
			return nil, fmt.Errorf("%s: %q: %w", file, line, err)
		}
	}
	return numbers, nil
}

// termsOf returns the numbers of the distinct terms of each line, without the id.
func termsOf(lines [][]byte) [][]uint32 {
	numbers := map[string]uint32{}
	last := []int32{} // the last line with a term, by its number
	terms := make([][]uint32, len(lines))
	var t analysis.Tokenizer
	for i, line := range lines {
		_, text, _ := bytes.Cut(line, []byte("\t"))
		t.EachTerm(text, func(word []byte, _, _ int) {
			number, known := numbers[string(word)]
			if !known {
				number = uint32(len(numbers))
				numbers[string(word)], last = number, append(last, -1)
			}
			if last[number] != int32(i) {
				last[number] = int32(i)
				terms[i] = append(terms[i], number)
			}
		})
	}
	return terms
}

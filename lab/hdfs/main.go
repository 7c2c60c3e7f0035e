// Command hdfs goes through the promises of HDFS, the file system below large crawlers, and shows for
// each what keeps it here.
//
//	go run ./lab/hdfs                       # builds anatomy, and takes some three minutes
//	go run ./lab/hdfs --anatomy PROGRAM     # with a program that is built
//
// A promise is kept by anatomy, by the bucket, or by nobody here. Those that anatomy keeps are shown
// in a temporary folder, with the program and a bucket that is a folder: bytes are flipped, objects
// deleted, processes killed and suspended. Each names the tests of the repository that hold it. The
// command exits with status 1 if a promise that anatomy is said to keep was broken. It needs no
// network.
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"strings"
	"time"

	"anatomy/lab/rig"
)

func main() {
	program := flag.String("anatomy", "", "the program; default: it is built")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := run(ctx, *program); err != nil {
		fmt.Fprintln(os.Stderr, "hdfs:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, program string) error {
	work, err := os.MkdirTemp("", "hdfs")
	if err != nil {
		return err
	}
	defer os.RemoveAll(work)
	if program == "" {
		if program, err = rig.Build(work); err != nil {
			return err
		}
	}
	b, err := begin(ctx, program, work)
	if err != nil {
		return err
	}
	defer b.end()
	return walk(b, promises)
}

// walk goes through promises in order, and fails if one of them was broken. Later ones work on what
// earlier ones left.
func walk(b *bench, promises []promise) error {
	kept := map[keeper]int{}
	var broken []string
	for i, p := range promises {
		fmt.Printf("\n%d. %s: %s\n   kept by %s: %s\n", i+1, p.name, p.hdfs, p.keeper, p.here)
		if p.show != nil {
			began := time.Now()
			done, err := p.show(b)
			if err != nil {
				broken = append(broken, p.name)
				fmt.Printf("   BROKEN: %v\n", err)
				continue
			}
			fmt.Printf("   shown in %.1f s: %s\n", time.Since(began).Seconds(), done)
		}
		if len(p.tests) > 0 {
			fmt.Printf("   tests: %s\n", strings.Join(p.tests, ", "))
		}
		kept[p.keeper]++
	}
	fmt.Printf("\n%d promises: %d kept by anatomy and shown, %d kept by the bucket, %d not kept here, %d broken\n",
		len(promises), kept[anatomy], kept[theBucket], kept[nobody], len(broken))
	if len(broken) > 0 {
		return fmt.Errorf("broken: %s", strings.Join(broken, ", "))
	}
	return nil
}

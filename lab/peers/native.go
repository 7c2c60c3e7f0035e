package main

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"

	"anatomy/eval"
)

// A native is a library whose program is in a folder beside this file. The program takes
//
//	build TEXT INDEX
//	ask INDEX QUERIES any|all|phrase COUNT PASSES OUT
//
// and prints nothing.
type native struct {
	name    string
	counts  []string // how it can count matches, of counts
	prepare func(c *comparison, ctx context.Context) error
	program func(c *comparison) []string
}

var natives = []native{
	{"lucene10", counts, (*comparison).prepareLucene, (*comparison).lucene},
	{"tantivy", []string{countNone, countAll}, (*comparison).prepareTantivy, (*comparison).tantivy},
}

// nativeOf returns the native of a name, nil if the library is one of the script.
func nativeOf(name string) *native {
	if i := slices.IndexFunc(natives, func(n native) bool { return n.name == name }); i >= 0 {
		return &natives[i]
	}
	return nil
}

// sources is where the programs are; peers runs at the root of the tree.
const sources = "lab/peers"

// prepareLucene fetches Lucene, once, and compiles its program.
func (c *comparison) prepareLucene(ctx context.Context) error {
	jars := c.at("lucene10")
	if found, _ := filepath.Glob(filepath.Join(jars, "lucene-core-*.jar")); len(found) == 0 {
		fetch := command(ctx, "mvn", "-q", "-f", filepath.Join(sources, "lucene10/pom.xml"), "dependency:copy-dependencies", "-DoutputDirectory="+jars)
		if err := fetch.Run(); err != nil {
			return fmt.Errorf("mvn: %w", err)
		}
	}
	compile := command(ctx, filepath.Join(c.jdk, "bin/javac"), "-d", jars, "-cp", filepath.Join(jars, "*"), filepath.Join(sources, "lucene10/Peer.java"))
	if err := compile.Run(); err != nil {
		return fmt.Errorf("javac: %w", err)
	}
	return nil
}

func (c *comparison) lucene() []string {
	path := filepath.Join(c.at("lucene10"), "*") + string(os.PathListSeparator) + c.at("lucene10")
	return []string{
		filepath.Join(c.jdk, "bin/java"), "-Xmx2g", "-XX:+UseSerialGC", "--add-modules", "jdk.incubator.vector", "-cp", path, "Peer",
	}
}

func (c *comparison) prepareTantivy(ctx context.Context) error {
	manifest, err := filepath.Abs(filepath.Join(sources, "tantivy/Cargo.toml"))
	if err != nil {
		return err
	}
	if err := command(ctx, "cargo", "build", "-q", "--release", "--locked", "--manifest-path", manifest, "--target-dir", c.at("tantivy")).Run(); err != nil {
		return fmt.Errorf("cargo: %w", err)
	}
	return nil
}

func (c *comparison) tantivy() []string { return []string{c.at("tantivy/release/peer")} }

// build builds the index of a library.
func (n *native) build(ctx context.Context, c *comparison) error {
	if err := n.prepare(c, ctx); err != nil {
		return fmt.Errorf("%s: %w", n.name, err)
	}
	index := c.at("idx", n.name)
	if err := os.RemoveAll(index); err != nil {
		return err
	}
	took, err := timed(n.command(ctx, c, "build", c.at("text.tsv"), index))
	if err != nil {
		return fmt.Errorf("%s: build: %w", n.name, err)
	}
	return os.WriteFile(c.at("log", n.name+".time"), []byte(took), 0o644)
}

// ask asks the queries of a mode, once for each way of counting.
func (n *native) ask(ctx context.Context, c *comparison, mode eval.Mode, queries string) error {
	for _, count := range n.counts {
		ask := n.command(ctx, c, "ask", c.at("idx", n.name), queries, string(mode), count, strconv.Itoa(c.passes), c.perf(n.name, mode, count))
		if err := ask.Run(); err != nil {
			return fmt.Errorf("%s: ask: %w", n.name, err)
		}
	}
	return nil
}

func (n *native) command(ctx context.Context, c *comparison, args ...string) *exec.Cmd {
	program := n.program(c)
	return command(ctx, program[0], append(program[1:], args...)...)
}

package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"

	"golang.org/x/sync/errgroup"

	"anatomy/cluster/peer"
	"anatomy/disk/datadir"
	"anatomy/disk/segment"
	"anatomy/disk/shards"
	"anatomy/searcher"
	"anatomy/vocab"
)

// compareLight compares one folder with light copies of all shards of another, on a machine that sends
// its calls over TLS on loopback to one that has all shards whole. CPU is that of both.
func compareLight(one *searcher.Searcher, split string, queries []string, passes int) (err error) {
	whole, err := open(split)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, whole.Close()) }()
	dir, err := os.MkdirTemp("", "light")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	if err := linkLight(split, dir); err != nil {
		return err
	}
	server, client, err := connect(dir)
	if err != nil {
		return err
	}
	ctx, stop := context.WithCancel(context.Background())
	var serving errgroup.Group
	serving.Go(func() error { return server.Run(ctx, whole.AnswerShard) })
	defer func() { stop(); err = errors.Join(err, serving.Wait()) }()
	var calls, bytes atomic.Int64
	light, err := searcher.Open(dir, searcher.Options{Remote: func(ctx context.Context, shard int, call []byte) ([]byte, error) {
		reply, err := client.Call(ctx, shard, call)
		calls.Add(1)
		bytes.Add(int64(len(call) + len(reply)))
		return reply, err
	}})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, light.Close()) }()
	if err := light.Learn(ctx); err != nil {
		return err
	}
	if err := compareAnswers(one, light, queries); err != nil {
		return err
	}
	n := float64(len(queries))
	fmt.Printf("light copies of all shards: %.1f calls and %.0f bytes a query\n", float64(calls.Load())/n, float64(bytes.Load())/n)
	return measure(one, light, queries, passes)
}

// connect returns the server of a node that has all shards whole, and the client of another node.
func connect(dir string) (*peer.Server, *peer.Client, error) {
	var ids [2]*peer.Identity
	for i, of := range []string{"whole", "light"} {
		var err error
		if ids[i], err = peer.OpenIdentity(filepath.Join(dir, of)); err != nil {
			return nil, nil, err
		}
	}
	nodes := make([]vocab.ClusterNode, len(ids))
	directory := peer.NewDirectory(func(context.Context) ([]vocab.ClusterNode, error) { return nodes, nil })
	log := slog.New(slog.NewTextHandler(io.Discard, nil))
	server, err := peer.Listen("127.0.0.1:0", ids[0], directory, log)
	if err != nil {
		return nil, nil, err
	}
	for i := range nodes {
		nodes[i] = vocab.ClusterNode{Address: server.Addr().String(), Certificate: ids[i].Certificate}
	}
	for i := range shards.Max {
		nodes[0].Whole = append(nodes[0].Whole, i)
	}
	return server, peer.NewClient(ids[1], directory, log), nil
}

// linkLight makes a light copy of a folder of shards, of links to its files.
func linkLight(from, to string) error {
	from, err := filepath.Abs(from)
	if err != nil {
		return err
	}
	return filepath.WalkDir(from, func(path string, e fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		other := filepath.Join(to, strings.TrimPrefix(path, from))
		switch folder := filepath.Base(filepath.Dir(path)); {
		case e.IsDir() && e.Name() == filepath.Base(datadir.Repository("")):
			return fs.SkipDir
		case e.IsDir():
			return os.MkdirAll(other, 0o700)
		case segment.IsMapped(e.Name()):
			return os.WriteFile(filepath.Join(filepath.Dir(other), segment.LightName), nil, 0o600)
		case e.Name() == datadir.VersionName && folder != filepath.Base(from):
			mark := datadir.Light(filepath.Dir(other))
			if err := os.MkdirAll(filepath.Dir(mark), 0o700); err != nil {
				return err
			}
			if err := os.WriteFile(mark, nil, 0o600); err != nil {
				return err
			}
		case !e.Type().IsRegular():
			return nil
		}
		return os.Symlink(path, other)
	})
}

package web

import (
	"context"
	"errors"
	"html"
	"net/http"
	"strings"
	"testing"
	"time"

	"anatomy/vocab"
	"anatomy/web/admin"
)

// fakeCluster has a node with a hostile name.
type fakeCluster struct {
	copied time.Time
	err    error
}

func (f *fakeCluster) Copied() time.Time { return f.copied }

func (f *fakeCluster) Status(context.Context) (*vocab.ClusterStatus, error) {
	if f.err != nil {
		return nil, f.err
	}
	return &vocab.ClusterStatus{
		Bucket: "s3://s3.test/docs", Generation: "g", Made: fetched, Shards: 3, Files: 12, Bytes: 345_000_000,
		Owner: &vocab.ClusterOwner{Machine: "first.test", Epoch: 7, Renewed: fetched},
		Nodes: []vocab.ClusterNode{
			{Machine: "first.test", Role: "owner", Made: fetched, Heard: fetched},
			{Machine: "<script>hit()</script>", Role: "<b>", Heard: fetched, Silent: true},
			{Machine: "third.test", Role: "replica", Heard: fetched, Failing: "the object x is damaged"},
		},
	}, nil
}

// TestClusterPage shows the cluster to whoever has the token, and to nobody else.
func TestClusterPage(t *testing.T) {
	f := &fakeCluster{}
	s := newServerOf(Options{Collection: newFake(), Admin: admin.Options{Crawl: &fakeCrawl{}, Jobs: newFakeJobs(), Token: testToken, Cluster: f}})
	if page := get(t, s, "/crawl", http.StatusOK); strings.Contains(page, "first.test") {
		t.Error("the machines of the cluster are shown to everybody")
	}
	b, _ := loggedIn(t, s)
	page := b.do("GET", "/crawl", nil).Body.String()
	for _, want := range []string{"s3://s3.test/docs", "first.test", "epoch 7", "it is silent", "the object x is damaged", "345 MB", "files: 12; shards: 3", html.EscapeString("<script>hit()</script>")} {
		if !strings.Contains(page, want) {
			t.Errorf("the page lacks %q", want)
		}
	}
	f.err = errors.New("the bucket is <away>")
	if page = b.do("GET", "/crawl", nil).Body.String(); !strings.Contains(page, "the bucket is &lt;away&gt;") {
		t.Error("the page does not say that the bucket is away")
	}
}

// TestClusterMetrics reads /metrics without a cluster, with one, and while its bucket is away.
func TestClusterMetrics(t *testing.T) {
	series := func(c admin.Cluster) string {
		s := newServerOf(Options{Collection: &fakeIndex{}, Admin: admin.Options{Cluster: c}})
		var all []string
		for line := range strings.Lines(get(t, s, "/metrics", http.StatusOK)) {
			if strings.HasPrefix(line, "anatomy_cluster_") || strings.HasPrefix(line, "anatomy_copy_") {
				all = append(all, strings.TrimSpace(line))
			}
		}
		return strings.Join(all, "\n")
	}
	at := time.Unix(1_800_000_000, 500_000_000)
	for _, c := range []struct {
		cluster admin.Cluster
		want    string
	}{
		{nil, ""},
		{&fakeCluster{err: errors.New("away")}, `anatomy_cluster_up 0
anatomy_copy_checked_timestamp_seconds 0`},
		{&fakeCluster{copied: at}, `anatomy_cluster_claim_renewed_timestamp_seconds FETCHED
anatomy_cluster_epoch 7
anatomy_cluster_generation_bytes 3.45e+08
anatomy_cluster_generation_timestamp_seconds FETCHED
anatomy_cluster_nodes{role="other",silent="true"} 1
anatomy_cluster_nodes{role="owner",silent="false"} 1
anatomy_cluster_nodes{role="replica",silent="false"} 1
anatomy_cluster_owned 1
anatomy_cluster_up 1
anatomy_copy_checked_timestamp_seconds 1.8000000005e+09`},
	} {
		got := series(c.cluster)
		lines := strings.Split(got, "\n")
		for i, line := range lines {
			if name, _, _ := strings.Cut(line, " "); strings.HasSuffix(name, "renewed_timestamp_seconds") || strings.HasSuffix(name, "generation_timestamp_seconds") {
				lines[i] = name + " FETCHED"
			}
		}
		if got = strings.Join(lines, "\n"); got != c.want {
			t.Errorf("the metrics are\n%s\nwant\n%s", got, c.want)
		}
	}
}

package collective_test

import (
	"context"
	"encoding/json"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"anatomy/engine/collective"
	"anatomy/internal/test/testweb"
)

// childEnv makes the test binary a crawl to be killed: its value is a childOrder.
const childEnv = "ANATOMY_TEST_SHARDS"

type childOrder struct {
	Dir, Seed, Resolver string
	Port                int
}

func TestMain(m *testing.M) {
	if order := os.Getenv(childEnv); order != "" {
		if err := runChild(order); err != nil {
			os.Stderr.WriteString(err.Error() + "\n")
			os.Exit(1)
		}
		os.Exit(0)
	}
	os.Exit(m.Run())
}

// runChild crawls into three shards, in small portions, so that a kill has much to hit.
func runChild(order string) error {
	var o childOrder
	if err := json.Unmarshal([]byte(order), &o); err != nil {
		return err
	}
	options := testweb.CrawlOptions(o.Dir, o.Port, o.Resolver, []string{o.Seed})
	options.BatchBytes = 1
	c, err := collective.Open(context.Background(), options, 3)
	if err != nil {
		return err
	}
	_, err = run(context.Background(), c)
	return err
}

// TestKilled kills a crawl into shards at random moments. The folder is whole after each, and at the
// end it has what one folder has.
func TestKilled(t *testing.T) {
	web := testweb.Generate(t, 7, 40, 10*time.Millisecond)
	one := filepath.Join(t.TempDir(), "one")
	testweb.Crawl(t, web.Options(one, web.Seed))
	want := describe(t, one)
	dir := filepath.Join(t.TempDir(), "many")
	order, err := json.Marshal(childOrder{Dir: dir, Seed: web.Seed, Resolver: web.Resolver, Port: web.Port})
	testweb.Must(t, err)
	exe, err := os.Executable()
	testweb.Must(t, err)
	const seed = 9
	random := rand.New(rand.NewPCG(seed, 0))
	killed := 0
	for longest := 100; ; longest = longest * 5 / 4 { // in the end no kill comes in time
		c := exec.Command(exe)
		c.Env, c.Stderr = append(os.Environ(), childEnv+"="+string(order)), os.Stderr
		testweb.Must(t, c.Start())
		moment := time.Duration(random.IntN(longest)) * time.Millisecond
		timer := time.AfterFunc(moment, func() { c.Process.Kill() })
		err := c.Wait()
		timer.Stop()
		if err == nil {
			break
		}
		if c.ProcessState.ExitCode() != -1 {
			t.Fatalf("the crawl has failed: %v", err)
		}
		killed++
		if _, err := os.Stat(filepath.Join(dir, "SHARDS")); err == nil {
			testweb.Checked(t, dir)
		}
	}
	if killed < 3 {
		t.Errorf("%d crawls were killed", killed)
	}
	testweb.Checked(t, dir)
	found := describe(t, dir)
	if found.same(t, want); t.Failed() {
		t.Logf("after %d kills, seed %d", killed, seed)
	}
}

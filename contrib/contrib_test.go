// Package contrib_test holds what is not built against the program.
package contrib_test

import (
	"bytes"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

var metric = regexp.MustCompile(`\banatomy_[a-z_]+[a-z]\b`)

// The board asks for metrics that doc/operations.md has, and every metric there is one of the program.
func TestBoard(t *testing.T) {
	read := func(name string) string {
		b, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		return string(b)
	}
	board, doc := read("grafana.json"), read("../doc/operations.md")
	if !json.Valid([]byte(board)) {
		t.Fatal("grafana.json is no JSON")
	}
	asked := metric.FindAllString(board, -1)
	if len(asked) < 10 {
		t.Fatalf("only %d metrics on the board", len(asked))
	}
	for _, name := range asked {
		if name = strings.TrimSuffix(name, "_bucket"); !strings.Contains(doc, name) {
			t.Errorf("the board asks for %s, which doc/operations.md does not have", name)
		}
	}
	source := read("../web/metrics.go")
	for _, name := range metric.FindAllString(doc, -1) {
		plain := strings.TrimPrefix(strings.TrimPrefix(name, "anatomy_crawl_"), "anatomy_cluster_")
		if !strings.Contains(source, `"`+name+`"`) && !strings.Contains(source, `"`+plain+`"`) {
			t.Errorf("doc/operations.md has %s, web/metrics.go does not", name)
		}
	}
}

// podmanRun is a command that runs the image: its options, and its name.
var podmanRun = regexp.MustCompile(`podman run (?:-[pv] \S+ )*(\S+)`)

// The image is named with its version, as .ci/release tags it: podman looks for one without a tag
// elsewhere.
func TestImageName(t *testing.T) {
	for _, name := range []string{"Containerfile", "../doc/operations.md"} {
		b, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		runs := podmanRun.FindAllSubmatch(b, -1)
		if len(runs) != 2 {
			t.Errorf("%s runs the image %d times", name, len(runs))
		}
		for _, run := range runs {
			if string(run[1]) != "anatomy:VERSION" {
				t.Errorf("%s runs %q", name, run[1])
			}
		}
	}
}

// directive is a line of a unit, put in or left to be.
var directive = regexp.MustCompile(`(?m)^#?([A-Z][A-Za-z]+)=(.*)$`)

// The units run commands and flags that there are, as a user of their own, and agree about who that is
// and where the data lie. systemd, where it is there, finds nothing wrong with them.
func TestUnits(t *testing.T) {
	units := []string{"anatomy.service", "anatomy-crawl.service"}
	dir := t.TempDir()
	var paths []string
	settings := map[string]map[string]string{}
	for _, unit := range units {
		b, err := os.ReadFile(unit)
		if err != nil {
			t.Fatal(err)
		}
		settings[unit] = map[string]string{}
		for _, line := range directive.FindAllStringSubmatch(string(b), -1) {
			if _, there := settings[unit][line[1]]; !there {
				settings[unit][line[1]] = line[2]
			}
		}
		path := filepath.Join(dir, unit)
		if err := os.WriteFile(path, bytes.ReplaceAll(b, []byte("/usr/local/bin/anatomy"), []byte("/bin/true")), 0o644); err != nil {
			t.Fatal(err)
		}
		paths = append(paths, path)
	}
	for _, name := range []string{"User", "DynamicUser", "StateDirectory", "UMask", "SystemCallFilter", "Type"} {
		if a, b := settings[units[0]][name], settings[units[1]][name]; a == "" || a != b {
			t.Errorf("%s is %q and %q", name, a, b)
		}
	}
	for unit, set := range settings {
		if !strings.HasPrefix(set["ExecStart"], "/usr/local/bin/anatomy ") || !strings.Contains(set["ExecStart"], "--data /var/lib/"+set["StateDirectory"]+"/data") {
			t.Errorf("%s starts %q", unit, set["ExecStart"])
		}
	}
	systemd, err := exec.LookPath("systemd-analyze")
	if err != nil {
		t.Skip("systemd-analyze is not there")
	}
	if out, err := exec.Command(systemd, append([]string{"verify"}, paths...)...).CombinedOutput(); err != nil || len(out) > 0 {
		t.Errorf("systemd-analyze verify: %v\n%s", err, out)
	}
	out, err := exec.Command(systemd, append([]string{"security", "--offline=yes", "--threshold=20"}, paths...)...).CombinedOutput()
	if err != nil {
		t.Errorf("systemd-analyze security: more exposed than 2.0: %v\n%s", err, out)
	}
}

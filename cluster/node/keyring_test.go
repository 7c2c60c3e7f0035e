package node_test

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"anatomy/cluster/bucket"
	"anatomy/cluster/bucket/buckettest"
	"anatomy/cluster/node"
)

// TestKeyring leaves a secret for one machine. That machine reads it, also when it is started again;
// no other, in no other cluster, and not when it was changed.
func TestKeyring(t *testing.T) {
	b, dir, secret := &buckettest.Memory{}, t.TempDir(), []byte("the keys")
	k, err := node.OpenKeyring(dir)
	must(t, err)
	other, err := node.OpenKeyring(t.TempDir())
	must(t, err)
	if _, err := k.Secret(t.Context(), b, "c"); !errors.Is(err, bucket.ErrNotExist) {
		t.Errorf("nothing was left: %v, want %v", err, bucket.ErrNotExist)
	}
	for _, public := range []string{"", "zz", k.Public()[2:], strings.Repeat("00", 32)} {
		if err := node.PutSecret(t.Context(), b, "c", public, secret); err == nil {
			t.Errorf("the key %q is accepted", public)
		}
	}
	must(t, node.PutSecret(t.Context(), b, "c", k.Public(), secret))
	k, err = node.OpenKeyring(dir)
	must(t, err)
	if got, err := k.Secret(t.Context(), b, "c"); err != nil || !bytes.Equal(got, secret) {
		t.Errorf("%q, %v; want %q", got, err, secret)
	}
	if got, err := k.Secret(t.Context(), b, "d"); !errors.Is(err, node.ErrSealed) {
		t.Errorf("in another cluster: %q", got)
	}
	name := "keys/" + k.Public()
	var sealed []byte
	b.Change(name, func(content []byte) []byte {
		sealed = bytes.Clone(content)
		return content
	})
	if bytes.Contains(sealed, secret) {
		t.Error("the bucket shows the secret")
	}
	must(t, b.Put(t.Context(), "keys/"+other.Public(), bytes.NewReader(sealed), int64(len(sealed))))
	if got, err := other.Secret(t.Context(), b, "c"); !errors.Is(err, node.ErrSealed) {
		t.Errorf("another machine: %q", got)
	}
	b.Change(name, func(sealed []byte) []byte { sealed[len(sealed)-1]++; return sealed })
	if got, err := k.Secret(t.Context(), b, "c"); !errors.Is(err, node.ErrSealed) {
		t.Errorf("changed: %q", got)
	}
	file := filepath.Join(dir, "cluster", "node.key")
	if info, err := os.Stat(file); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("the key is for others, too: %v, %v", info.Mode(), err)
	}
	must(t, os.WriteFile(file, []byte("short"), 0o600))
	if _, err := node.OpenKeyring(dir); err == nil || !strings.Contains(err.Error(), "remove it") {
		t.Errorf("a damaged key: %v", err)
	}
}

package node

import (
	"bytes"
	"context"
	"crypto/ecdh"
	"crypto/hpke"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"anatomy/cluster/bucket"
	"anatomy/disk/datadir"
	"anatomy/disk/durable"
)

const (
	sealedPrefix = "keys/"
	maxSealed    = 64 << 10 // bytes
)

// A Keyring is the key pair of a data folder on this machine. The owner of the collection stores
// secrets for its successor in the bucket, encrypted for the key of each standby. Read access to
// the bucket does not reveal them.
//
// They are in keys/PUBLIC, encrypted by HPKE (RFC 9180) with X25519, HKDF-SHA256 and AES-256-GCM,
// and bound to the ID of the cluster. Write access to the bucket does reveal them: a machine that
// has it can announce a key of its own, and can also become the owner.
type Keyring struct{ private hpke.PrivateKey }

func kem() hpke.KEM { return hpke.DHKEM(ecdh.X25519()) }

func sealInfo(cluster string) []byte { return []byte("anatomy secrets of an owner\x00" + cluster) }

// OpenKeyring returns the keyring of a data folder, creating it if needed.
func OpenKeyring(dir string) (*Keyring, error) {
	path := filepath.Join(datadir.Cluster(dir), "node.key")
	b, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return makeKeyring(path)
	}
	var private hpke.PrivateKey
	if err == nil {
		private, err = kem().NewPrivateKey(b)
	}
	if err != nil {
		return nil, fmt.Errorf("key of this machine: %s: %w; remove it to generate a new one", path, err)
	}
	return &Keyring{private}, nil
}

func makeKeyring(path string) (*Keyring, error) {
	private, err := kem().GenerateKey()
	if err != nil {
		return nil, err
	}
	b, err := private.Bytes()
	if err == nil {
		err = durable.MkdirAll(durable.OS, filepath.Dir(path))
	}
	if err == nil {
		err = durable.WritePrivate(durable.OS, path, b)
	}
	return &Keyring{private}, err
}

// Public returns the public key in hexadecimal digits.
func (k *Keyring) Public() string { return hex.EncodeToString(k.private.PublicKey().Bytes()) }

// ErrSealed is the error of a secret that cannot be decrypted.
var ErrSealed = errors.New("the owner's secret for this machine cannot be decrypted")

// Secret returns the secret that an owner of a cluster stored for this machine. The error wraps
// [bucket.ErrNotExist] if there is none.
func (k *Keyring) Secret(ctx context.Context, b bucket.Bucket, cluster string) ([]byte, error) {
	r, err := b.Get(ctx, sealedPrefix+k.Public(), 0, -1)
	if err != nil {
		return nil, err
	}
	defer r.Close()
	sealed, err := io.ReadAll(io.LimitReader(r, maxSealed))
	if err != nil {
		return nil, err
	}
	secret, err := hpke.Open(k.private, hpke.HKDFSHA256(), hpke.AES256GCM(), sealInfo(cluster), sealed)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrSealed, err)
	}
	return secret, nil
}

// ErrKey is the error of an invalid public key.
var ErrKey = errors.New("the key of a node is not valid")

// PutSecret stores a secret for the machine with a public key. The error may wrap [ErrKey].
func PutSecret(ctx context.Context, b bucket.Bucket, cluster, public string, secret []byte) error {
	raw, err := hex.DecodeString(public)
	if err != nil {
		return fmt.Errorf("%w: %w", ErrKey, err)
	}
	key, err := kem().NewPublicKey(raw)
	if err != nil {
		return fmt.Errorf("%w: %w", ErrKey, err)
	}
	sealed, err := hpke.Seal(key, hpke.HKDFSHA256(), hpke.AES256GCM(), sealInfo(cluster), secret)
	if err != nil {
		return err
	}
	name := sealedPrefix + hex.EncodeToString(raw)
	return b.Put(ctx, name, bytes.NewReader(sealed), int64(len(sealed)))
}

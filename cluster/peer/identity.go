package peer

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/sha256"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/hex"
	"encoding/pem"
	"fmt"
	"math/big"
	"os"
	"path/filepath"
	"slices"
	"time"

	"anatomy/disk/datadir"
	"anatomy/disk/durable"
)

// An Identity is the certificate of a node, with its private key.
type Identity struct {
	Certificate string // SHA-256 in hexadecimal digits, to be announced

	pair tls.Certificate
}

// OpenIdentity returns the identity of a data folder. It generates one if that is missing, damaged,
// or of another machine, from which the folder was copied. Other nodes accept a new one as soon as
// it is announced.
func OpenIdentity(dir string) (*Identity, error) {
	path := filepath.Join(datadir.Cluster(dir), "peer.pem")
	host, err := os.Hostname()
	if err != nil {
		return nil, fmt.Errorf("certificate of this node: %w", err)
	}
	pair, err := tls.LoadX509KeyPair(path, path)
	if err != nil || pair.Leaf.Subject.CommonName != host {
		if err = makeIdentity(path, host, time.Now()); err == nil {
			pair, err = tls.LoadX509KeyPair(path, path)
		}
	}
	if err != nil {
		return nil, fmt.Errorf("certificate of this node: %w", err)
	}
	return &Identity{Certificate: sum(pair.Certificate[0]), pair: pair}, nil
}

// makeIdentity writes a new key and certificate to a file. No node checks the dates or names in the
// certificate.
func makeIdentity(path, host string, now time.Time) error {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return err
	}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(now.UnixNano()), Subject: pkix.Name{CommonName: host},
		NotBefore: now, NotAfter: now.AddDate(30, 0, 0), KeyUsage: x509.KeyUsageDigitalSignature,
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, key.Public(), key)
	if err != nil {
		return err
	}
	private, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		return err
	}
	if err := durable.MkdirAll(durable.OS, filepath.Dir(path)); err != nil {
		return err
	}
	return durable.WritePrivate(durable.OS, path, slices.Concat(
		pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: private}),
		pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der}),
	))
}

// sum returns the SHA-256 of a certificate in hexadecimal digits.
func sum(der []byte) string {
	s := sha256.Sum256(der)
	return hex.EncodeToString(s[:])
}

// config returns a TLS configuration for connections to nodes whose certificate is accepted. The
// handshake proves that the other end has the key of its certificate.
func (id *Identity) config(accept func(certificate string) bool) *tls.Config {
	return &tls.Config{
		MinVersion:         tls.VersionTLS13,
		Certificates:       []tls.Certificate{id.pair},
		ClientAuth:         tls.RequireAnyClientCert,
		InsecureSkipVerify: true, // VerifyConnection verifies
		VerifyConnection: func(c tls.ConnectionState) error {
			if !accept(sum(c.PeerCertificates[0].Raw)) {
				return errUnknown
			}
			return nil
		},
	}
}

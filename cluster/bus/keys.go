package bus

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/sha256"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"math/big"
	"os"
	"time"

	"anatomy/disk/durable"
)

// Keys are the secrets of an owner. They persist, so that crawlers reconnect when the owner
// restarts.
type Keys struct {
	Authority []byte          `json:"authority"`     // certificate, DER
	Key       []byte          `json:"authority_key"` // PKCS #8, DER
	Tokens    map[Role]string `json:"tokens"`
	New       bool            `json:"-"` // no crawler has a join line with them yet
}

// LoadKeys returns the keys in a file, creating it if needed. Only its owner may read the file.
func LoadKeys(path string) (*Keys, error) {
	b, err := os.ReadFile(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return makeKeys(path)
	case err != nil:
		return nil, fmt.Errorf("keys for crawlers: %w", err)
	}
	k, err := ParseKeys(b)
	if err != nil {
		return nil, fmt.Errorf("keys for crawlers: %s is damaged; remove it, and have the crawlers join again", path)
	}
	return k, nil
}

// ParseKeys parses the content of a file of keys.
func ParseKeys(b []byte) (*Keys, error) {
	k := &Keys{}
	err := json.Unmarshal(b, k)
	if err == nil {
		_, err = k.certificate()
	}
	if err == nil && !isHex(k.Tokens[Crawler], tokenBytes) {
		err = errors.New("the token for crawlers is missing")
	}
	return k, err
}

func makeKeys(path string) (*Keys, error) {
	k, err := newKeys(time.Now())
	if err != nil {
		return nil, fmt.Errorf("keys for crawlers: %w", err)
	}
	b, err := json.MarshalIndent(k, "", "\t")
	if err != nil {
		return nil, fmt.Errorf("keys for crawlers: %w", err)
	}
	return k, durable.WritePrivate(durable.OS, path, append(b, '\n'))
}

const (
	tokenBytes = 16

	// Certificates become valid early, for crawlers whose clock is slow. The authority is
	// identified by its SHA-256, so its expiry only has to be far away.
	early     = 7 * 24 * time.Hour
	authority = 30 * 365 * 24 * time.Hour
	served    = 365 * 24 * time.Hour // a server's certificate is issued at each start
)

func newKeys(now time.Time) (*Keys, error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, err
	}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "anatomy"},
		NotBefore: now.Add(-early), NotAfter: now.Add(authority),
		KeyUsage: x509.KeyUsageCertSign, BasicConstraintsValid: true, IsCA: true,
	}
	k := &Keys{Tokens: map[Role]string{Crawler: RandomID()}, New: true}
	if k.Authority, err = x509.CreateCertificate(rand.Reader, template, template, key.Public(), key); err != nil {
		return nil, err
	}
	k.Key, err = x509.MarshalPKCS8PrivateKey(key)
	return k, err
}

// RandomID returns a random number of 128 bits, in hexadecimal digits.
func RandomID() string {
	b := make([]byte, tokenBytes)
	rand.Read(b)
	return hex.EncodeToString(b)
}

// certificate returns a certificate for a server, signed by the authority, and the authority's.
func (k *Keys) certificate() (tls.Certificate, error) {
	issuer, err := x509.ParseCertificate(k.Authority)
	if err != nil {
		return tls.Certificate{}, err
	}
	issuerKey, err := x509.ParsePKCS8PrivateKey(k.Key)
	if err != nil {
		return tls.Certificate{}, err
	}
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return tls.Certificate{}, err
	}
	now := time.Now()
	template := &x509.Certificate{
		SerialNumber: big.NewInt(now.UnixNano()), Subject: pkix.Name{CommonName: "anatomy owner"},
		NotBefore: now.Add(-early), NotAfter: now.Add(served),
		KeyUsage:    x509.KeyUsageDigitalSignature,
		ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth},
	}
	der, err := x509.CreateCertificate(rand.Reader, template, issuer, key.Public(), issuerKey)
	if err != nil {
		return tls.Certificate{}, err
	}
	return tls.Certificate{Certificate: [][]byte{der, k.Authority}, PrivateKey: key}, nil
}

// authoritySum returns the SHA-256 of the authority's certificate, in hexadecimal digits.
func (k *Keys) authoritySum() string {
	sum := sha256.Sum256(k.Authority)
	return hex.EncodeToString(sum[:])
}

// ErrOtherServer is the error of a server that does not have the keys that the join line names.
var ErrOtherServer = errors.New("the server is not the one in the join line")

// clientTLS returns a configuration that accepts any server whose certificate was signed by the
// authority with the given SHA-256. It ignores the server's name: a crawler may reach it by
// another.
func clientTLS(sum string) *tls.Config {
	return &tls.Config{
		MinVersion:         tls.VersionTLS13,
		InsecureSkipVerify: true, // VerifyConnection verifies
		VerifyConnection: func(c tls.ConnectionState) error {
			roots := x509.NewCertPool()
			for _, cert := range c.PeerCertificates[1:] {
				if s := sha256.Sum256(cert.Raw); hex.EncodeToString(s[:]) == sum {
					roots.AddCert(cert)
				}
			}
			_, err := c.PeerCertificates[0].Verify(x509.VerifyOptions{Roots: roots})
			if errors.As(err, new(x509.UnknownAuthorityError)) {
				return ErrOtherServer
			}
			return err
		},
	}
}

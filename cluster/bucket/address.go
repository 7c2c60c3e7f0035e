package bucket

import (
	"errors"
	"fmt"
	"net/netip"
	"net/url"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"

	"github.com/minio/minio-go/v7/pkg/s3utils"
)

// An address is a folder, or a bucket on a server with a prefix.
type address struct {
	folder string // absolute and clean

	host   string // with a port, unless it is that of the scheme
	plain  bool   // http, not https
	bucket string
	prefix string // prefix of all object names, without a trailing slash
}

const (
	secureScheme = "s3://"
	plainScheme  = "s3+http://"
	fileScheme   = "file://"
)

func (a address) String() string {
	if a.folder != "" {
		return a.folder
	}
	scheme := secureScheme
	if a.plain {
		scheme = plainScheme
	}
	s := scheme + a.host + "/" + a.bucket
	if a.prefix != "" {
		s += "/" + a.prefix
	}
	return s
}

var (
	errForm = errors.New("not the address of a bucket: write s3://HOST/BUCKET, " +
		"or the path of a folder from the root")
	errSecret = errors.New(`the address of a bucket must not have "@", "?" or "#": ` +
		"write s3://HOST/BUCKET, and set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY to the key")
	errPublic = errors.New("http without encryption is only allowed for servers with a loopback or private " +
		"address: write s3:// in place of s3+http://")
)

// parse parses an address. Its errors do not repeat parts that may be secret.
func parse(s string) (address, error) {
	path, isFile := strings.CutPrefix(s, fileScheme)
	if isFile || filepath.IsAbs(s) {
		return parseFolder(path)
	}
	if strings.ContainsAny(s, "@?#") {
		return address{}, errSecret
	}
	rest, plain := strings.CutPrefix(s, plainScheme)
	if !plain {
		var secure bool
		if rest, secure = strings.CutPrefix(s, secureScheme); !secure {
			return address{}, fmt.Errorf("%q is %w", s, errForm)
		}
	}
	host, rest, _ := strings.Cut(rest, "/")
	bucket, prefix, _ := strings.Cut(rest, "/")
	a := address{host: host, plain: plain, bucket: bucket, prefix: strings.TrimSuffix(prefix, "/")}
	return a, a.check()
}

func parseFolder(path string) (address, error) {
	path = filepath.Clean(path)
	if !filepath.IsAbs(path) || path == filepath.Dir(path) || strings.ContainsRune(path, 0) {
		return address{}, fmt.Errorf("%q is %w", path, errForm)
	}
	return address{folder: path}, nil
}

var hostName = regexp.MustCompile(`^[A-Za-z0-9]([A-Za-z0-9.-]*[A-Za-z0-9])?$`)

// check reports whether the parts of an address on a server are well-formed.
func (a address) check() error {
	u, err := url.Parse("//" + a.host)
	if err != nil || u.Host != a.host || strings.HasSuffix(a.host, ":") {
		return fmt.Errorf("%q is not a host", a.host)
	}
	if port := u.Port(); port != "" {
		if n, err := strconv.ParseUint(port, 10, 16); err != nil || n == 0 {
			return fmt.Errorf("%q is not a port", port)
		}
	}
	ip, err := netip.ParseAddr(u.Hostname())
	switch {
	case err != nil && !hostName.MatchString(u.Hostname()), ip.Zone() != "":
		return fmt.Errorf("%q is not a host", a.host)
	case err == nil && a.plain && !isLocal(ip):
		return errPublic
	}
	if a.bucket == "" {
		return fmt.Errorf("%q names no bucket: write s3://HOST/BUCKET", a.String())
	}
	if err := s3utils.CheckValidBucketNameStrict(a.bucket); err != nil {
		return fmt.Errorf("%q is not a valid bucket name: %w", a.bucket, err)
	}
	if a.prefix != "" && checkName(a.prefix) != nil {
		return fmt.Errorf("%q is not a valid prefix of object names", a.prefix)
	}
	return nil
}

// isLocal reports whether an address is loopback, private or link-local.
func isLocal(ip netip.Addr) bool {
	ip = ip.Unmap()
	return ip.IsLoopback() || ip.IsPrivate() || ip.IsLinkLocalUnicast()
}

package bucket

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"iter"
	"math/rand/v2"
	"net/http"
	"os"
	"strconv"
	"strings"
	"time"

	"github.com/minio/minio-go/v7"
	"github.com/minio/minio-go/v7/pkg/credentials"
)

const (
	maxTries  = 6                      // attempts at a request
	firstWait = 200 * time.Millisecond // after the first attempt; doubled after each further one

	// An attempt may take minTime plus one second per minRate bytes.
	minTime = time.Minute
	minRate = 16 << 10

	pageLen = 1000 // objects per list request; no server returns more
)

// An s3 is a bucket on a server.
//
// The minio-go client signs and sends requests. Retries are done here, so that an interrupted
// download continues at its offset, and a list after the last name.
type s3 struct {
	address
	client minio.Core
}

// openS3 returns a bucket with the key from the environment or the credentials file.
func openS3(a address) (*s3, error) {
	key := credentials.NewChainCredentials([]credentials.Provider{
		&credentials.EnvAWS{},
		&credentials.FileAWSCredentials{},
	})
	v, err := key.GetWithContext(nil)
	if err != nil || v.AccessKeyID == "" || v.SecretAccessKey == "" {
		return nil, errors.New("there is no key for the S3 server: " +
			"set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, or write ~/.aws/credentials")
	}
	return newS3(a, key, newTransport(dialer(a.plain), a.plain))
}

func newS3(a address, key *credentials.Credentials, t http.RoundTripper) (*s3, error) {
	client, err := minio.NewCore(a.host, &minio.Options{
		Creds: key, Secure: !a.plain, Transport: checker{t}, Region: os.Getenv("AWS_REGION"),
		MaxRetries: 1,
	})
	if err != nil {
		return nil, fmt.Errorf("%s: %w", a, err)
	}
	return &s3{a, *client}, nil
}

// key returns the server's key for an object name or a prefix of names.
func (b *s3) key(name string) string {
	if b.prefix == "" {
		return name
	}
	return b.prefix + "/" + name
}

// Put sends the SHA-256 of the content with the request; the server compares it. minio-go would
// sign every 64 KiB over http and add an MD5 over https.
func (b *s3) Put(ctx context.Context, name string, content io.ReaderAt, size int64) error {
	return wrap(b, "put", name, b.put(ctx, name, content, size))
}

func (b *s3) put(ctx context.Context, name string, content io.ReaderAt, size int64) error {
	if err := checkName(name); err != nil {
		return err
	}
	sum := sha256.New()
	in := &exact{in: io.NewSectionReader(content, 0, size), left: size, check: ctx.Err}
	if _, err := io.Copy(sum, in); err != nil {
		return err
	}
	digest := hex.EncodeToString(sum.Sum(nil))
	return b.retry(ctx, func() error {
		ctx, cancel := context.WithTimeout(ctx, timeFor(size))
		defer cancel()
		_, err := b.client.PutObject(ctx, b.bucket, b.key(name), io.NewSectionReader(content, 0, size),
			size, "", digest, minio.PutObjectOptions{DisableContentSha256: true})
		return err
	})
}

func (b *s3) Get(ctx context.Context, name string, offset, size int64) (io.ReadCloser, error) {
	r, err := b.get(ctx, name, offset, size)
	if err != nil {
		return nil, wrap(b, "get", name, err)
	}
	return r, nil
}

func (b *s3) get(ctx context.Context, name string, offset, size int64) (io.ReadCloser, error) {
	if err := checkName(name); err != nil {
		return nil, err
	}
	if err := checkRange(offset, size); err != nil {
		return nil, err
	}
	if size == 0 {
		return b.emptyRange(ctx, name, offset)
	}
	d := &download{left: size, offset: offset}
	d.open = func(offset, size int64) (body *body, err error) {
		err = b.retry(ctx, func() error {
			body, err = b.request(ctx, name, offset, size)
			return err
		})
		return body, err
	}
	var err error
	d.body, err = d.open(offset, size)
	switch {
	case errors.Is(err, errRange) && size < 0:
		return b.emptyRange(ctx, name, offset)
	case errors.Is(err, errRange):
		return nil, io.ErrUnexpectedEOF
	case err != nil:
		return nil, err
	}
	d.left = d.body.size
	d.version = d.body.version
	d.name = func(err error) error { return wrap(b, "get", name, err) }
	return d, nil
}

// emptyRange returns an empty reader at an offset of an object. HTTP has no empty ranges.
func (b *s3) emptyRange(ctx context.Context, name string, offset int64) (io.ReadCloser, error) {
	var found []Object
	err := b.retry(ctx, func() (err error) {
		found, err = b.page(ctx, name, "", 1)
		return err
	})
	switch {
	case err != nil:
		return nil, err
	case len(found) == 0 || found[0].Name != name:
		return nil, ErrNotExist
	case offset > found[0].Size:
		return nil, io.ErrUnexpectedEOF
	}
	return http.NoBody, nil
}

// request requests a range of an object once. The caller closes the body.
func (b *s3) request(ctx context.Context, name string, offset, size int64) (*body, error) {
	var o minio.GetObjectOptions
	var err error
	switch {
	case size > 0:
		err = o.SetRange(offset, offset+size-1)
	case offset > 0:
		err = o.SetRange(offset, 0)
	}
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithCancel(ctx)
	first := time.AfterFunc(minTime, cancel)
	in, info, header, err := b.client.GetObject(ctx, b.bucket, b.key(name), o)
	first.Stop()
	if err != nil {
		cancel()
		return nil, err
	}
	length, err := lengthOf(header, offset, size)
	if err != nil {
		in.Close()
		cancel()
		return nil, err
	}
	last := time.AfterFunc(timeFor(length), cancel)
	end := func() {
		in.Close()
		cancel()
		last.Stop()
	}
	return &body{in, length, info.ETag, end}, nil
}

// lengthOf returns the number of bytes in the response to a range request.
func lengthOf(h http.Header, offset, size int64) (int64, error) {
	if offset == 0 && size < 0 {
		n, err := strconv.ParseInt(h.Get("Content-Length"), 10, 64)
		if err != nil || n < 0 {
			return 0, &foreignError{"its answer has no length"}
		}
		return n, nil
	}
	var from, to, total int64
	_, err := fmt.Sscanf(h.Get("Content-Range"), "bytes %d-%d/%d", &from, &to, &total)
	wanted := total - 1
	if size > 0 {
		wanted = offset + size - 1
	}
	switch {
	case err != nil || from != offset || to < from || to > wanted || to >= total:
		return 0, &foreignError{"it returns another range than was requested"}
	case to < wanted && to == total-1:
		return 0, errRange
	case to < wanted:
		return 0, &foreignError{"it returns a part of the range that was requested"}
	}
	return to - from + 1, nil
}

// List requests each page by the name of the last object. So a request can be repeated, and no
// continuation token is needed.
func (b *s3) List(ctx context.Context, prefix, after string) iter.Seq2[Object, error] {
	return func(yield func(Object, error) bool) {
		for {
			var page []Object
			err := b.retry(ctx, func() (err error) {
				page, err = b.page(ctx, prefix, after, pageLen)
				return err
			})
			if err != nil {
				yield(Object{}, wrap(b, "list", prefix, err))
				return
			}
			for _, o := range page {
				after = o.Name
				if checkName(o.Name) == nil && !yield(o, nil) {
					return
				}
			}
			if len(page) < pageLen {
				return
			}
		}
	}
}

// page returns at most n objects, and fewer only at the end. Names may be invalid.
func (b *s3) page(ctx context.Context, prefix, after string, n int) ([]Object, error) {
	ctx, cancel := context.WithTimeout(ctx, minTime)
	defer cancel()
	options := minio.ListObjectsOptions{
		Prefix: b.key(prefix), Recursive: true, MaxKeys: n, FetchOwner: new(bool),
	}
	if after != "" {
		options.StartAfter = b.key(after)
	}
	var page []Object
	for o := range b.client.ListObjectsIter(ctx, b.bucket, options) {
		if o.Err != nil {
			return nil, o.Err
		}
		name := strings.TrimPrefix(o.Key, b.key(""))
		if !strings.HasPrefix(o.Key, options.Prefix) || name <= after && after != "" || o.Size < 0 {
			return nil, &foreignError{"its list is out of order"}
		}
		after = name
		page = append(page, Object{name, o.Size, o.LastModified})
		if len(page) == n {
			break
		}
	}
	return page, ctx.Err()
}

func (b *s3) Delete(ctx context.Context, name string) error {
	err := checkName(name)
	if err == nil {
		err = b.retry(ctx, func() error {
			ctx, cancel := context.WithTimeout(ctx, minTime)
			defer cancel()
			return b.client.RemoveObject(ctx, b.bucket, b.key(name), minio.RemoveObjectOptions{})
		})
	}
	if errors.Is(err, ErrNotExist) {
		return nil
	}
	return wrap(b, "delete", name, err)
}

// retry sends a request until it succeeds, fails permanently, or was tried [maxTries] times.
func (b *s3) retry(ctx context.Context, request func() error) error {
	for try := range maxTries {
		err := request()
		switch {
		case err == nil:
			return nil
		case ctx.Err() != nil:
			return ctx.Err()
		case try == maxTries-1 || !isTransient(err):
			return b.explain(err)
		}
		wait := firstWait << try
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(wait/2 + rand.N(wait/2)):
		}
	}
	return nil
}

// timeFor returns the maximum duration of a transfer of size bytes.
func timeFor(size int64) time.Duration {
	return minTime + time.Duration(size/minRate)*time.Second
}

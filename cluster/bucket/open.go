package bucket

import "anatomy/disk/durable"

// Open returns the bucket at an address:
//
//	s3://HOST[:PORT]/BUCKET[/PREFIX]       on a server, over https
//	s3+http://HOST[:PORT]/BUCKET[/PREFIX]  on a server with a loopback or private address, over http
//	/PATH or file:///PATH                  a folder
//
// It does not connect. If the server cannot be used, or the folder does not exist, the first call
// fails.
func Open(address string) (Bucket, error) {
	p, err := parse(address)
	if err != nil {
		return nil, err
	}
	if p.folder != "" {
		return &folder{p.folder, durable.OS}, nil
	}
	return openS3(p)
}

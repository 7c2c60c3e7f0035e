package datadir

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/cespare/xxhash/v2"

	"anatomy/disk/durable"
	"anatomy/vocab"
)

// A Manifest is one generation of the index: the segments, link runs and rank vectors that are
// current together. All files that it names are durable before it is published, and immutable from
// then on.
//
// Only the process that has locked the folder changes fields other than Ranks, see
// [Writer.Publish]. Any process may change Ranks, see [PublishRank].
type Manifest struct {
	Generation uint64        `json:"generation"` // grows by one with each change
	Segments   []string      `json:"segments"`   // oldest first: a document's newest segment wins
	Links      []string      `json:"links"`      // link runs, oldest first: a source's newest run wins
	Indexed    vocab.Address `json:"indexed"`    // records before this address are in the segments
	Known      vocab.DocID   `json:"known"`      // URLs of documents up to this one are in the link runs
	Next       uint64        `json:"next"`       // number of the next segment, run or rank vector
	Merged     bool          `json:"settled"`    // there is one segment, with every known anchor text credited

	// Average is the average length of documents in words for the impacts of new segments; 0 before
	// the first. Older segments store their own.
	Average uint32 `json:"average,omitempty"`

	// Ranks are the files of the rank vectors by name, see [Rank]. Before version 3 they are not in
	// the file, and ReadManifest lists the folder.
	Ranks map[string]string `json:"ranks,omitempty"`

	Folder string `json:"folder,omitempty"` // ID of the data folder; "" in version 1
}

// A signedManifest is the content of MANIFEST. Sum is the xxhash64 of the file with an empty Sum,
// in 16 hexadecimal digits.
type signedManifest struct {
	Manifest
	Sum string `json:"sum"`
}

// ReadManifest returns the current manifest, or one without files if none was published yet. The
// error is that of [CheckVersion], a *DamageError, or a *MismatchError if the manifest is of
// another folder.
func ReadManifest(dir string) (Manifest, error) { return (&ManifestReader{Dir: dir}).Read() }

// A ManifestReader reads the manifest of a folder again and again, and decodes it only if it has
// changed. It is not safe for concurrent use.
type ManifestReader struct {
	Dir string

	content []byte // of the file that last was decoded
	last    Manifest
}

// Read returns what [ReadManifest] does. The caller does not change it.
func (r *ManifestReader) Read() (Manifest, error) {
	dir := r.Dir
	v, err := readVersion(dir)
	if err != nil {
		return Manifest{}, err
	}
	m, err := r.decode()
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return Manifest{Next: 1}, nil
	case err != nil:
		return m, err
	case v.id != "" && m.Folder == "":
		return m, &DamageError{filepath.Join(dir, ManifestName), errors.New("it has no checksum")}
	case v.id != "" && m.Folder != v.id:
		return m, &MismatchError{dir, ManifestName, "the MANIFEST belongs to another folder"}
	case v.number < 3:
		m.Ranks, err = findRanks(dir)
	}
	return m, err
}

// readTries bounds the calls of read in ReadFiles.
const readTries = 4

// ReadFiles calls read with the current manifest, and again with the next one if a file that it
// names has been deleted meanwhile. It takes no lock. The error is that of [ReadManifest] or of
// read.
func ReadFiles(dir string, read func(Manifest) error) error {
	for tries := 1; ; tries++ {
		m, err := ReadManifest(dir)
		if err == nil {
			err = read(m)
		}
		if tries == readTries || !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
}

// decodeManifestOf reads the MANIFEST of a folder and verifies its checksum. In version 1 it has
// none.
func decodeManifestOf(dir string) (Manifest, error) { return (&ManifestReader{Dir: dir}).decode() }

func (r *ManifestReader) decode() (Manifest, error) {
	path := filepath.Join(r.Dir, ManifestName)
	b, err := os.ReadFile(path)
	if err != nil {
		return Manifest{}, fmt.Errorf("data folder: %w", err)
	}
	if r.content != nil && bytes.Equal(b, r.content) {
		return r.last, nil
	}
	m, err := decodeManifest(b)
	if err != nil {
		return m, &DamageError{path, err}
	}
	r.content, r.last = b, m
	return m, nil
}

func decodeManifest(b []byte) (Manifest, error) {
	var m signedManifest
	d := json.NewDecoder(bytes.NewReader(b))
	d.DisallowUnknownFields()
	if err := d.Decode(&m); err != nil {
		return m.Manifest, err
	}
	if m.Sum == "" && m.Folder == "" {
		return m.Manifest, nil // version 1
	}
	want, err := encodeManifest(m.Manifest)
	if err == nil && !bytes.Equal(b, want) {
		err = errors.New("the checksum is wrong")
	}
	return m.Manifest, err
}

// encodeManifest returns the content of MANIFEST. A manifest without an ID has version 1.
func encodeManifest(m Manifest) ([]byte, error) {
	if m.Folder == "" {
		b, err := json.MarshalIndent(m, "", "\t")
		return append(b, '\n'), err
	}
	signed := signedManifest{Manifest: m}
	b, err := json.MarshalIndent(signed, "", "\t")
	if err != nil {
		return nil, err
	}
	signed.Sum = fmt.Sprintf("%016x", xxhash.Sum64(append(b, '\n')))
	b, err = json.MarshalIndent(signed, "", "\t")
	return append(b, '\n'), err
}

// WriteManifest durably writes m to a data folder without changing its generation. It is for copies
// of data folders.
func WriteManifest(dir string, m Manifest) error { return writeManifest(durable.OS, dir, m) }

func writeManifest(fsys durable.FS, dir string, m Manifest) error {
	b, err := encodeManifest(m)
	if err != nil {
		return fmt.Errorf("data folder: %w", err)
	}
	if err := durable.WriteFile(fsys, filepath.Join(dir, ManifestName), b); err != nil {
		return fmt.Errorf("data folder: %w", err)
	}
	return nil
}

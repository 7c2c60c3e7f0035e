package datadir

import "path/filepath"

// Names of the structures that can be missing or belong to another folder.
const (
	DocIndexName   = "docindex"
	RepositoryName = "repository"
	ManifestName   = "MANIFEST"
	VersionName    = "VERSION"
)

// Paths of a data folder.

// DocIndex is the folder of the document index.
func DocIndex(dir string) string { return filepath.Join(dir, DocIndexName) }

// FreshDocIndex is the folder in which a replacement of a damaged document index is made.
func FreshDocIndex(dir string) string { return DocIndex(dir) + ".new" }

// DamagedDocIndex is the folder to which a damaged document index is moved.
func DamagedDocIndex(dir string) string { return DocIndex(dir) + ".damaged" }

// Repository is the folder of the repository.
func Repository(dir string) string { return filepath.Join(dir, RepositoryName) }

// Private is the file that marks a data folder with pages that were fetched with credentials.
func Private(dir string) string { return filepath.Join(dir, "private") }

// Barrels is the folder of barrels that are not sorted yet.
func Barrels(dir string) string { return filepath.Join(dir, "barrels") }

// Links is the path of a link run.
func Links(dir, name string) string { return filepath.Join(dir, "links", name) }

// Segment is the folder of a segment of the index.
func Segment(dir, name string) string { return filepath.Join(dir, "index", name) }

// Ranks is the folder of the rank vectors.
func Ranks(dir string) string { return filepath.Join(dir, "rank") }

// Rank is the path of a file of a rank vector, as [Manifest.Ranks] names it.
func Rank(dir, file string) string { return filepath.Join(Ranks(dir), file) }

// Control is the folder of the socket on which a running crawl answers.
func Control(dir string) string { return filepath.Join(dir, "control") }

// Certificates is the folder of the certificates of serve --acme, with their keys.
func Certificates(dir string) string { return filepath.Join(dir, "certificates") }

// ClusterKeys is the file of the keys that crawlers on other machines join with.
func ClusterKeys(dir string) string { return filepath.Join(dir, "cluster.keys") }

// Cluster is the folder of this machine's state of the copies of the folder in a bucket.
func Cluster(dir string) string { return filepath.Join(dir, "cluster") }

// ControlSocket is the path of the control socket, or of a symbolic link to it.
func ControlSocket(dir string) string { return filepath.Join(Control(dir), "socket") }

// Shards is the file that makes dir a folder of shards instead of a data folder, see disk/shards.
func Shards(dir string) string { return filepath.Join(dir, "SHARDS") }

package vocab

// A Truncation is the reason why the body of a page is only a prefix of the server's. The names are
// those of WARC-Truncated (WARC 1.1 §5.13).
type Truncation uint8

// The truncations. The order is part of the repository and of the document index on disk.
const (
	Whole        Truncation = iota // nothing is missing
	OverLength                     // the body is over the crawler's bound
	Disconnected                   // the connection or the content coding ended before the body
	OverTime                       // the body came too slowly
	UnknownCut                     // another crawler cut it for a reason of its own
	Truncations                    // number of truncations
)

var truncationNames = [Truncations]string{"", "length", "disconnect", "time", "unspecified"}

// String returns the value of WARC-Truncated, "" for Whole.
func (t Truncation) String() string {
	if t < Truncations {
		return truncationNames[t]
	}
	return truncationNames[UnknownCut]
}

// ParseTruncation returns the truncation that a value of WARC-Truncated names. Values that it does
// not know are UnknownCut.
func ParseTruncation(name string) Truncation {
	for t, known := range truncationNames {
		if name == known {
			return Truncation(t)
		}
	}
	return UnknownCut
}

// MayPass reports whether another fetch may get the whole body.
func (t Truncation) MayPass() bool { return t != Whole && t != OverLength }

package warc

import (
	"net/netip"
	"strings"
	"time"
)

// arcVersion is [Record.Version] of a record of an ARC file.
const arcVersion = "arc"

// arcRecord returns the record that a line of an ARC file begins (Internet Archive, "Arc File
// Format"), or false if it is another line. The line has the fields URL, address, date, media type,
// further fields from version 2, and length. URLs and media types of some writers contain spaces;
// the address and the date after it are found regardless.
func arcRecord(line string) (*Record, bool) {
	fields := strings.Fields(line)
	if len(fields) < 5 || !strings.Contains(fields[0], ":") {
		return nil, false
	}
	for i := 2; i < len(fields)-2; i++ {
		at, ok := arcDate(fields[i])
		if !ok || !isAddress(fields[i-1]) {
			continue
		}
		kind, url := Response, strings.Join(fields[:i-1], "%20")
		if strings.HasPrefix(url, "filedesc:") {
			kind = Info
		}
		return &Record{Version: arcVersion, Fields: []Field{
			{"WARC-Type", kind}, {"WARC-Target-URI", url}, {"WARC-Date", at.Format(time.RFC3339)},
			{"WARC-IP-Address", fields[i-1]}, {"Content-Type", fields[i+1]}, {"Content-Length", fields[len(fields)-1]},
		}}, true
	}
	return nil, false
}

// arcDate parses a date of 14 digits, or fewer: some writers omit the time.
func arcDate(s string) (time.Time, bool) {
	const layout = "20060102150405"
	if len(s) < len("20060102") || len(s) > len(layout) {
		return time.Time{}, false
	}
	t, err := time.Parse(layout[:len(s)], s)
	return t, err == nil
}

func isAddress(s string) bool {
	_, err := netip.ParseAddr(s)
	return err == nil || s == "-"
}

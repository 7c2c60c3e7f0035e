package params

import (
	"reflect"
	"testing"
)

// FuzzDecodeLens: whatever an address has as a lens, it is refused, or within the bounds and the same
// when it is encoded and read again.
func FuzzDecodeLens(f *testing.F) {
	f.Add("name=Docs&only=docs.test,other.test%2Fmanual&raise=a.test&block=*://*.b.test/*&lang=de-AT,en&q=-filetype:pdf")
	f.Add("q=OR site:a.test) (lang:de OR -after:2020")
	f.Add("name=a|b;c&q=\"")
	f.Fuzz(func(t *testing.T, encoded string) {
		l, err := DecodeLens(encoded)
		if err != nil {
			return
		}
		again, err := DecodeLens(l.Encode())
		if len(l.Encode()) <= maxLensParameter && (err != nil || !reflect.DeepEqual(again, l)) {
			t.Fatalf("%q is %+v, then %+v, %v", encoded, l, again, err)
		}
	})
}

package engine_test

import (
	"net/http"
	"path/filepath"
	"sync/atomic"
	"testing"

	"anatomy/internal/test/testweb"
)

// TestSharedAddress: hosts with one address are read together unless that is bounded, and then one after the other, all of them.
func TestSharedAddress(t *testing.T) {
	hosts := []string{"one.test", "two.test", "three.test"}
	for _, most := range []int{0, 1} {
		w := testweb.New(t)
		var in, highest atomic.Int64
		all := make(chan struct{})
		for _, host := range hosts {
			w.Handle(host+"/", func(to http.ResponseWriter, r *http.Request) {
				n := in.Add(1)
				if most == 0 { // nobody is answered until all have been asked
					if n == int64(len(hosts)) {
						close(all)
					}
					<-all
				}
				highest.Store(max(highest.Load(), n))
				in.Add(-1)
				to.Header().Set("Content-Type", "text/html")
				to.Write([]byte("<p>welcome to " + r.Host))
			})
		}
		o := w.Options(filepath.Join(t.TempDir(), "data"), "http://one.test/", "http://two.test/", "http://three.test/")
		o.URLs.PerAddress = most
		if st := testweb.Crawl(t, o); st.Pages != int64(len(hosts)) || most > 0 && highest.Load() > int64(most) {
			t.Errorf("with a bound of %d: %d pages, %d at once", most, st.Pages, highest.Load())
		}
	}
}

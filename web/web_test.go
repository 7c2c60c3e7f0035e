package web

func newServer(f *fakeIndex) *Server { return New(Options{Search: f, Pages: f, Find: f.find}) }

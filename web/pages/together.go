package pages

import (
	"html/template"
	"net/http"
	"net/url"

	"github.com/gin-gonic/gin"

	"anatomy/searcher"
	"anatomy/web/internal/frame"
	"anatomy/web/internal/respond"
	"anatomy/web/internal/siblings"
	"anatomy/web/internal/visitor"
)

// togetherResults is the number of results of each collection on a page of all collections.
const togetherResults = 3

// A collectionView has the first results of one collection.
type collectionView struct {
	Name    string
	Href    string // of all its results
	Total   string
	Login   string        // address to log in, if that is necessary
	Problem string        // why there are no results
	Results template.HTML // "" if nothing was found
}

// A togetherView is a page of all collections.
type togetherView struct {
	Lens        *lensChoice // nil if there is none to choose
	Collections []collectionView
}

// togetherHref returns the address of a page of all collections.
func togetherHref(query string) string {
	return "/search?" + url.Values{"q": {query}, "in": {frame.AllCollections}}.Encode()
}

// together shows the first results of each collection, with those first that have some. The collections are
// not merged into one list, because their scores are not comparable.
func (s *searchPages) together(c *gin.Context, r searcher.Request, visitor *visitor.Visitor) error {
	if first := s.Beside.All[0].Site; s.Site != first { // which has the page
		first.Redirect(c, http.StatusSeeOther, togetherHref(r.Query)+visitor.Tail())
		return nil
	}
	r.Limit, r.Offset = togetherResults, 0
	answers, err := s.Beside.Search(c.Request, c.Writer.Header(), r)
	if err != nil {
		return err
	}
	v := s.View(c, "", r.Query)
	v.Title, v.Visitor = r.Query, visitor
	v.Collections = s.Links(v.Messages, r.Query, true)
	v.CarryToCollections()
	var found, others []collectionView
	for i := range answers {
		view := s.collectionView(c, v, r, &answers[i])
		if view.Results != "" {
			found = append(found, view)
		} else {
			others = append(others, view)
		}
	}
	v.Body = &togetherView{chooseLens(visitor, togetherHref(r.Query)), append(found, others...)}
	return s.Render(c, http.StatusOK, "together", v)
}

func (s *searchPages) collectionView(c *gin.Context, v *frame.View, r searcher.Request, a *siblings.Answer) collectionView {
	of := a.From
	view := collectionView{Name: of.Name, Href: of.Site.Path("/search?"+url.Values{"q": {r.Query}}.Encode()) + v.Visitor.Tail()}
	switch {
	case a.Login:
		view.Login = of.Site.Path("/login")
	case a.Err != nil:
		view.Problem = (&respond.Responder{Log: s.Log}).Judge(c, a.Err).Title
	default:
		results := newResultsView(v.Messages, r, a.Response)
		addIcons(results.Results, of.Reader.Collection.HasIcon)
		view.Total = results.Total
		list := resultList(v.Messages, results.Results, v.Visitor.Tab)
		view.Results = template.HTML(of.Site.RebaseFragment([]byte(list)))
	}
	return view
}

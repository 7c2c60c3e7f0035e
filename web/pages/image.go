package pages

import (
	"net/http"

	"github.com/gin-gonic/gin"

	"anatomy/web/internal/frame"
	"anatomy/web/internal/params"
	"anatomy/web/internal/picture"
	"anatomy/web/internal/reader"
	"anatomy/web/internal/respond"
)

// imagePages show small images of stored pages. An image is named by the document that shows it and
// its ID among that document's images, so the server fetches only images that pages of the index
// show.
type imagePages struct {
	*frame.Frame
	reader   *reader.Reader
	pictures *picture.Pictures // nil: images are not shown
}

// noPicture replaces an image that could not be fetched: a frame with a crossed-out mountain, in a
// grey for both themes. In the dark one it covers the light ground of images.
const noPicture = `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 192 144" fill="none" stroke="#8a919a" stroke-width="2" stroke-linejoin="round">` +
	`<style>@media(prefers-color-scheme:dark){rect{fill:#22272b}}</style><rect width="192" height="144" stroke="none"/>` +
	`<path d="M72 54h48v36H72zM72 84l15-15 12 12 6-6 15 12M66 96 126 48"/></svg>`

// image answers with one small image: parameters doc and id.
func (s *imagePages) image(c *gin.Context) error {
	p := params.Read(c)
	doc, id := p.Doc("doc"), p.Text("id", 16)
	p.Required("id", id)
	switch {
	case p.Err != nil:
		return p.Err
	case s.pictures == nil:
		return respond.NotFound("This server does not fetch images.")
	}
	m, err := s.reader.Collection.Image(c.Request.Context(), doc, id)
	if err != nil {
		return err
	}
	small, err := s.pictures.Get(c.Request.Context(), m.URL)
	if err != nil {
		if c.Request.Context().Err() == nil {
			s.Log.Debug("image not shown", "image", m.URL, "err", err)
			c.Header("Cache-Control", "private, max-age=600")
			if c.GetHeader("Sec-Fetch-Dest") == "image" { // in a page, which shows the body of an error
				c.Header("Content-Security-Policy", respond.DataPolicy)
				c.Data(http.StatusNotFound, picture.SVGType, []byte(noPicture))
				return nil
			}
			err = respond.NotFound("That image could not be fetched.")
		}
		return err
	}
	c.Header("Content-Security-Policy", respond.DataPolicy)  // for an image opened by itself
	c.Header("Cross-Origin-Resource-Policy", "cross-origin") // programs show the images that the API names
	respond.CacheForDay(c)
	c.Data(http.StatusOK, small.Kind, small.Body)
	return nil
}

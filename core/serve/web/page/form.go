package page

import (
	"errors"
	"io"
	"net"
	"net/http"

	"github.com/dogwatch/dogwatch/core/model/phrase"
)

// Posted returns a handler of forms, which next finds in the request.
func (s *Site) Posted(next http.HandlerFunc) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		if s.parseForm(w, r) {
			next(w, r)
		}
	}
}

// parseForm reads the form of a request. When that cannot be done, it renders an error and returns false.
func (s *Site) parseForm(w http.ResponseWriter, r *http.Request) bool {
	err := r.ParseForm()
	var large *http.MaxBytesError
	var broken net.Error
	switch {
	case err == nil:
		return true
	case errors.As(err, &large):
		s.RenderError(w, r, http.StatusRequestEntityTooLarge, Problem{
			Title: phrase.New("Too much at once"), Detail: phrase.New("The form is larger than %d bytes. Nothing was done.", MaxForm),
		})
	case errors.Is(err, io.ErrUnexpectedEOF), errors.As(err, &broken):
		// Nobody reads this, and a page needs far more memory than the form: of clients that stall there may be many.
		http.Error(w, "The form did not come to its end. Nothing was done.", http.StatusBadRequest)
	default:
		s.RenderError(w, r, http.StatusBadRequest, Problem{
			Title: phrase.New("The form is not understood"), Detail: phrase.New("Nothing was done. Go back, load the page again and repeat it."),
		})
	}
	return false
}

// Done responds to a form that was acted upon: with the running tasks for htmx, else
// with the page that the form came from.
func (s *Site) Done(w http.ResponseWriter, r *http.Request) {
	if Partial(r) {
		s.Fragment(w, r, "problem", "work", s.WorkView(r))
		return
	}
	http.Redirect(w, r, s.Path(LocalPath(r.PostFormValue("back"))), http.StatusSeeOther)
}

// Redirect leads from a form to another page, also where htmx has sent the form.
func (s *Site) Redirect(w http.ResponseWriter, r *http.Request, to string) {
	if Partial(r) {
		w.Header().Set("HX-Redirect", s.Path(to))
		w.WriteHeader(http.StatusNoContent)
		return
	}
	http.Redirect(w, r, s.Path(to), http.StatusSeeOther)
}

// MaxForm is the largest form, in bytes.
const MaxForm = 100 << 10

package page

import (
	"errors"
	"net/http"
	"strings"

	"github.com/dogwatch/dogwatch/core/config"
	"github.com/dogwatch/dogwatch/core/model/phrase"
	"github.com/dogwatch/dogwatch/core/serve/service"
	"github.com/dogwatch/dogwatch/core/serve/words"
)

// Problem is an error page: it says what went wrong and what to do.
type Problem struct {
	Title, Detail, Back phrase.Phrase
	BackTo              string
	// Nav is the page of the menu that it belongs to; "" for none.
	Nav string
	// Choices are what can be done instead.
	Choices []Anchor
	// Paste has the lines that mend it, if there are any.
	Paste config.Paste
}

// RenderError responds with an error page that says what went wrong, and where to go on.
func (s *Site) RenderError(w http.ResponseWriter, r *http.Request, status int, p Problem) {
	p.Detail = phrase.Change(p.Detail, s.Service.Redact)
	if p.BackTo == "" {
		p.Back, p.BackTo = phrase.New("Go to Overview"), "/"
	}
	switch {
	case Partial(r) && strings.HasSuffix(r.Header.Get("HX-Target"), "#work"):
		v := s.WorkView(r)
		v.Tasks = append(v.Tasks, Task{Title: p.Title, Sentence: p.Detail, Failed: true, Ended: s.Now()})
		s.Render(w, r, status, "problem", "work", v)
		return
	case Partial(r):
		s.Render(w, r, status, "problem", "content", p)
		return
	}
	s.Show(w, r, status, "problem", Page{Title: p.Title, Nav: p.Nav, Content: p})
}

// Failure is the Problem of an error; nil is every other one. Without a Detail, the error is that.
type Failure struct {
	Err error
	Problem
}

// Finish responds to a form that was acted upon: it leads to another page, or says what failed. An error that is none
// of failures is one inside Dogwatch.
func (s *Site) Finish(w http.ResponseWriter, r *http.Request, err error, doing, to string, failures ...Failure) {
	if err == nil {
		http.Redirect(w, r, s.Path(to), http.StatusSeeOther)
		return
	}
	for _, f := range failures {
		if f.Err == nil || errors.Is(err, f.Err) {
			if f.Detail == nil {
				f.Detail = phrase.Sentence(phrase.Capital(words.Refusal(err.Error())))
			}
			s.RenderError(w, r, statusOf(err), f.Problem)
			return
		}
	}
	s.InternalError(w, r, doing, err)
}

func statusOf(err error) int {
	switch {
	case errors.Is(err, service.ErrForbidden):
		return http.StatusForbidden
	case errors.Is(err, service.ErrNotFound):
		return http.StatusNotFound
	}
	return http.StatusConflict
}

// notFound responds to an address that no page has.
func (s *Site) notFound(w http.ResponseWriter, r *http.Request) {
	s.RenderError(w, r, http.StatusNotFound, Problem{
		Title: phrase.New("Page not found"), Detail: phrase.New("The address may be old, or mistyped."),
	})
}

// InternalError responds with an error page when something failed inside Dogwatch; the log has the reason.
func (s *Site) InternalError(w http.ResponseWriter, r *http.Request, doing string, err error) {
	if r.Context().Err() != nil {
		return
	}
	s.Log.Error(doing, "error", err)
	s.RenderError(w, r, http.StatusInternalServerError, Problem{
		Title: phrase.New("This did not work"), Detail: phrase.New("Dogwatch could not %s; its log has the details.", words.Attempt(doing)),
	})
}

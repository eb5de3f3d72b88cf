package web

import (
	"bytes"
	"compress/gzip"
	"embed"
	"errors"
	"fmt"
	"html/template"
	"io/fs"
	"net/http"
	"path"
	"strings"

	"github.com/dogwatch/dogwatch/core/config"
	policypreview "github.com/dogwatch/dogwatch/core/decide/preview"
	"github.com/dogwatch/dogwatch/core/model/tally"
	"github.com/dogwatch/dogwatch/core/serve/web/words"
	"github.com/dogwatch/dogwatch/internal/weblink"
)

//go:embed templates
var templateFiles embed.FS

// shared are the templates that every page may use.
const shared = "templates/layout*.html"

// pages are the templates by the name of their file, each with the layout.
type pages map[string]*template.Template

// page is what the layout shows around the content of a page.
type page struct {
	Title string
	// Nav is the entry of the navigation that is marked, such as "containers".
	Nav string
	// Skip is the part that the first link skips to; "main" when empty.
	Skip string
	// Live are the families of events that the page follows.
	Live string
	// Refresh has a browser without script load the page again and again.
	Refresh bool
	Content any

	// The rest is filled in by show.
	User, Theme, Version, Here string
	Work                       tasksView
	// Last is the newest event that the page may know of; "" when that is not known.
	Last string
}

func (u *UI) parse() (pages, error) {
	layout, err := template.New("layout.html").Funcs(u.functions()).ParseFS(templateFiles, shared)
	if err != nil {
		return nil, err
	}
	names, err := fs.Glob(templateFiles, "templates/*.html")
	if err != nil {
		return nil, err
	}
	all := pages{}
	for _, name := range names {
		if strings.HasPrefix(path.Base(name), "layout") {
			continue
		}
		own, err := layout.Clone()
		if err == nil {
			own, err = own.ParseFS(templateFiles, name)
		}
		if err != nil {
			return nil, err
		}
		all[strings.TrimSuffix(path.Base(name), ".html")] = own
	}
	return all, nil
}

// functions are what templates can call beside Go's own.
func (u *UI) functions() template.FuncMap {
	return template.FuncMap{
		"path":     u.path,
		"asset":    u.assetPath,
		"ago":      u.ago,
		"moment":   policypreview.Moment,
		"day":      day,
		"kindWord": tally.Word,
		"link":     weblink.Of,
		"plural":   words.Plural,
		"join":     strings.Join,
		"list":     func(items ...any) []any { return items },
	}
}

// path returns the link to a page of ours.
func (u *UI) path(to string) string { return u.BasePath + to }

// userName returns the user of a request that has a session, and so can log out; else "".
func (u *UI) userName(r *http.Request) string {
	if actor := u.actor(r); actor.Session() {
		return actor.User
	}
	return ""
}

// partial reports whether htmx asks for a fragment rather than a page.
func partial(r *http.Request) bool { return r.Header.Get("HX-Request") == "true" }

// show responds with a whole page; name is that of its template file.
func (u *UI) show(w http.ResponseWriter, r *http.Request, status int, name string, p page) {
	p.User, p.Theme, p.Version, p.Here, p.Work, p.Last = u.userName(r), theme(r), u.Version, here(r), u.tasksView(r),
		lastOf(r)
	u.render(w, r, status, name, "layout.html", p)
}

// fragment responds with one named template of a page, for htmx.
func (u *UI) fragment(w http.ResponseWriter, r *http.Request, name, fragment string, content any) {
	u.render(w, r, http.StatusOK, name, fragment, content)
}

// render responds with a template only once it is complete, so that a mistake in
// one never shows as half a page.
func (u *UI) render(w http.ResponseWriter, r *http.Request, status int, name, part string, data any) {
	var body bytes.Buffer
	body.Grow(32 << 10)
	t, known := u.pages[name]
	err := fmt.Errorf("there is no page %q", name)
	if known {
		err = t.ExecuteTemplate(&body, part, data)
	}
	if err != nil {
		u.Log.Error("render a page", "page", name, "part", part, "error", err)
		http.Error(w, "This page could not be made; the log of Dogwatch has the details.", http.StatusInternalServerError)
		return
	}
	h := w.Header()
	h.Set("Content-Type", "text/html; charset=utf-8")
	h.Add("Vary", "Accept-Encoding, HX-Request")
	if !acceptsGzip(r) {
		w.WriteHeader(status)
		_, _ = w.Write(body.Bytes()) // the client may have gone
		return
	}
	h.Set("Content-Encoding", "gzip")
	w.WriteHeader(status)
	z, reused := u.gzipWriters.Get().(*gzip.Writer)
	if !reused {
		z, _ = gzip.NewWriterLevel(nil, gzip.BestSpeed) // the level is valid
	}
	z.Reset(w)
	_, _ = z.Write(body.Bytes()) // the client may have gone
	_ = z.Close()
	u.gzipWriters.Put(z)
}

// acceptsGzip reports whether the client takes gzip. Browsers do, and other clients
// do not need it, so the weights of RFC 9110, section 12.5.3, are only read as zero or not.
func acceptsGzip(r *http.Request) bool {
	for _, coding := range strings.Split(r.Header.Get("Accept-Encoding"), ",") {
		name, weight, _ := strings.Cut(strings.ReplaceAll(coding, " ", ""), ";q=")
		if strings.EqualFold(name, "gzip") {
			return weight == "" || strings.Trim(weight, "0.") != ""
		}
	}
	return false
}

// problem is an error page: it says what went wrong and what to do.
type problem struct {
	Title, Detail, Back, BackTo string
	// Paste has the lines that mend it, if there are any.
	Paste config.Paste
}

// renderError responds with an error page that says what went wrong, and where to go on.
func (u *UI) renderError(w http.ResponseWriter, r *http.Request, status int, p problem) {
	p.Detail = u.Service.Redact(p.Detail)
	if p.BackTo == "" {
		p.Back, p.BackTo = "To the overview", "/"
	}
	switch {
	case partial(r) && strings.HasSuffix(r.Header.Get("HX-Target"), "#work"):
		v := u.tasksView(r)
		v.Tasks = append(v.Tasks, task{Title: p.Title, Sentence: p.Detail, Failed: true, Ended: u.Now()})
		u.render(w, r, status, "problem", "work", v)
		return
	case partial(r):
		u.render(w, r, status, "problem", "content", p)
		return
	}
	u.show(w, r, status, "problem", page{Title: p.Title, Content: p})
}

func (u *UI) notFound(w http.ResponseWriter, r *http.Request) {
	u.renderError(w, r, http.StatusNotFound, problem{
		Title: "There is no such page", Detail: "The address may be old, or mistyped.",
	})
}

// internalError responds with an error page when something failed inside Dogwatch; the log has the reason.
func (u *UI) internalError(w http.ResponseWriter, r *http.Request, doing string, err error) {
	if r.Context().Err() != nil {
		return
	}
	u.Log.Error(doing, "error", err)
	u.renderError(w, r, http.StatusInternalServerError, problem{
		Title: "This did not work", Detail: "Dogwatch could not " + doing + "; its log has the details.",
	})
}

// form reads the form of a request. When that cannot be done, it renders an error and returns false.
func (u *UI) form(w http.ResponseWriter, r *http.Request) bool {
	err := r.ParseForm()
	var large *http.MaxBytesError
	switch {
	case err == nil:
		return true
	case errors.As(err, &large):
		u.renderError(w, r, http.StatusRequestEntityTooLarge, problem{
			Title: "Too much at once", Detail: fmt.Sprintf("The form is larger than %d bytes. Nothing was done.", maxForm),
		})
	default:
		u.renderError(w, r, http.StatusBadRequest, problem{
			Title: "The form is not understood", Detail: "Nothing was done. Go back, load the page again and repeat it.",
		})
	}
	return false
}

// done responds to a form that was acted upon: with the running tasks for htmx, else
// with the page that the form came from.
func (u *UI) done(w http.ResponseWriter, r *http.Request) {
	if partial(r) {
		u.fragment(w, r, "problem", "work", u.tasksView(r))
		return
	}
	http.Redirect(w, r, u.path(localPath(r.PostFormValue("back"))), http.StatusSeeOther)
}

// localPath returns a path on this server: what a form says, if it is one.
func localPath(given string) string {
	if !strings.HasPrefix(given, "/") || strings.HasPrefix(given, "//") || strings.ContainsAny(given, "\\\r\n\t") {
		return "/"
	}
	return given
}

// here is the path and query of the page, without the base path, to come back to.
func here(r *http.Request) string {
	if r.Method != http.MethodGet {
		return "/"
	}
	return localPath(r.URL.RequestURI())
}

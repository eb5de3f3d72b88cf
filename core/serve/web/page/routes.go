// Package page is what every page of Dogwatch needs: rendering, forms and errors, the event stream, static
// files, icons, the theme, running tasks and the addresses of pages. The areas embed its Site in their handlers.
//
// Pages are rendered on the server and complete without script. With script, htmx exchanges parts of them, and app.js
// follows the event stream of the API and loads the rows that changed. Nothing is loaded from elsewhere, and nothing is
// inline, so that the content security policy can forbid both.
//
// A page is a file: its view model is made of stored data by a pure function, and the template of the same name defines
// "content" and the fragments that are exchanged.
package page

import (
	"fmt"
	"net/http"
	"sync"

	"github.com/dogwatch/dogwatch/core/decide/notes"
	"github.com/dogwatch/dogwatch/core/serve/language"
)

// New returns a site. Close must be called.
func New(opt Options) *Site {
	s := &Site{
		Options: opt, Markdown: sync.OnceValue(notes.NewRenderer), Started: opt.Now(),
		Tasks: newTasks(opt.Now, opt.TaskChanged), Languages: language.New(), pages: map[string]pages{},
	}
	s.load = sync.OnceValue(s.read)
	return s
}

// read fails only when the program was built from broken files.
func (s *Site) read() (err error) {
	if s.assets, err = readAssets(); err != nil {
		return fmt.Errorf("read the files of the pages: %w", err)
	}
	_, err = s.templates(s.Languages.All()[0])
	return err
}

// Close cancels the tasks that pages started, and waits until they have ended.
func (s *Site) Close() { s.Tasks.close() }

// Routes adds the files of pages, the tasks, the theme and the language, and responds to every other address.
func (s *Site) Routes(mux *http.ServeMux) {
	mux.HandleFunc("GET /work", s.showTasks)
	mux.HandleFunc("POST /work/{id}/dismiss", s.Posted(s.dismissTask))
	mux.HandleFunc("POST /theme", s.Posted(s.chooseTheme))
	mux.HandleFunc("POST /language", s.Posted(s.chooseLanguage))
	mux.HandleFunc("GET /static/{file}", s.serveFile)
	mux.HandleFunc("GET /favicon.ico", s.serveFavicon)
	mux.HandleFunc("GET /manifest.webmanifest", s.serveManifest)
	mux.HandleFunc("GET /sw.js", s.serveWorker)
	mux.HandleFunc("/", s.notFound)
}

// Loaded reports whether there are pages, and responds with an error when there are none.
func (s *Site) Loaded(w http.ResponseWriter) bool {
	err := s.load()
	if err != nil {
		s.Log.Error("serve a page", "error", err)
		http.Error(w, "The pages of this build are broken.", http.StatusInternalServerError)
	}
	return err == nil
}

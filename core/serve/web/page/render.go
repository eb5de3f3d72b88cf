package page

import (
	"bytes"
	"compress/gzip"
	"context"
	"embed"
	"fmt"
	"html/template"
	"io/fs"
	"net/http"
	"strconv"
	"strings"
	"time"

	policypreview "github.com/dogwatch/dogwatch/core/decide/preview"
	"github.com/dogwatch/dogwatch/core/model/phrase"
	"github.com/dogwatch/dogwatch/core/serve/language"
	"github.com/dogwatch/dogwatch/core/serve/words"
	"github.com/dogwatch/dogwatch/internal/webaddress"
)

// shared are the templates that every page may use.
const shared = "layout*.html"

//go:embed *.html
var layoutFiles embed.FS

// Page is what the layout shows around the content of a page.
type Page struct {
	Title phrase.Phrase
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
	// Chosen is the language that its user chose, if any, and Languages are those there are.
	Chosen    *language.Language
	Languages []*language.Language
	Work      TasksView
	// Last is the newest event that the page may know of; "" when that is not known.
	Last string
}

// templates returns the pages in a language. They are parsed at the first page view in it.
func (s *Site) templates(in *language.Language) (pages, error) {
	s.parsing.Lock()
	defer s.parsing.Unlock()
	if s.pages[in.Tag] == nil {
		all, err := s.parse(in)
		if err != nil {
			return nil, fmt.Errorf("read the templates of the pages: %w", err)
		}
		s.pages[in.Tag] = all
	}
	return s.pages[in.Tag], nil
}

func (s *Site) parse(in *language.Language) (pages, error) {
	layout, err := template.New("layout.html").Funcs(s.functions(in)).ParseFS(layoutFiles, shared)
	if err != nil {
		return nil, err
	}
	all := pages{}
	for _, files := range append([]fs.FS{layoutFiles}, s.Templates...) {
		names, err := fs.Glob(files, "*.html")
		if err != nil {
			return nil, err
		}
		for _, name := range names {
			if strings.HasPrefix(name, "layout") {
				continue
			}
			own, err := layout.Clone()
			if err == nil {
				own, err = own.ParseFS(files, name)
			}
			if err != nil {
				return nil, err
			}
			walk := &translation{}
			if in.Translates() {
				walk.say = in.Text
			}
			walk.template(own)
			all[strings.TrimSuffix(name, ".html")] = own
		}
	}
	return all, nil
}

// functions are what templates can call beside Go's own.
func (s *Site) functions(in *language.Language) template.FuncMap {
	return template.FuncMap{
		"path":        s.Path,
		"asset":       s.AssetPath,
		"ago":         func(at any) template.HTML { return s.Ago(in, at) },
		"moment":      policypreview.Moment,
		"day":         func(at time.Time) template.HTML { return timeHTML(at, in.Say(words.Date(at))) },
		"kindWord":    words.Kind,
		"link":        webaddress.Of,
		"plural":      phrase.Count,
		"phrase":      phrase.New,
		"status":      words.Status,
		"quote":       phrase.Quote,
		"stored":      phrase.Stored,
		"shown":       words.Shown,
		"ruleSource":  words.RuleSource,
		"say":         say(in.Say),
		"sayHTML":     say(in.HTML),
		"described":   func(text string) template.HTML { return described(in, text) },
		"commands":    func(p phrase.Phrase) template.HTML { return commands(in.Say(p)) },
		"lang":        func() string { return in.Tag },
		"scriptWords": func() (string, error) { return scriptWords(in) },
		"progress":    words.Progress,
		"setting":     words.Setting,
		"source":      words.SettingSource,
		"planned":     func(text string) phrase.Phrase { return phrase.Sentence(words.Planned(text)) },
		"sentence":    phrase.Sentence,
		"outcome":     words.Outcome,
		"mistake":     words.Mistake,
		"majorUpdate": words.MajorUpdate,
		"isolated":    words.Isolated,
		"agentDoctor": words.AgentDoctor,
		"cron":        words.Cron,
		"join":        strings.Join,
		"indented": func(text string) bool {
			return strings.Contains(text, "\n  ") || strings.HasPrefix(strings.TrimLeft(text, " "), "- ")
		},
		"list":   func(items ...any) []any { return items },
		"within": within,
	}
}

// within returns the entry of the navigation on phones, which has few, that leads to the page of another; "" for the
// pages of those it has.
func within(nav string) string {
	switch nav {
	case "operations":
		return "history"
	case "policies", "watchers", "registries", "triggers", "plugins":
		return "settings"
	}
	return ""
}

// userName returns the user of a request that has a session, and so can log out; else "".
func (s *Site) userName(r *http.Request) string {
	if actor := s.ActorOf(r); actor.Session() {
		return actor.User
	}
	return ""
}

// Show responds with a whole page; name is that of its template file.
func (s *Site) Show(w http.ResponseWriter, r *http.Request, status int, name string, p Page) {
	p.User, p.Theme, p.Version, p.Here, p.Work, p.Last = s.userName(r), Theme(r), s.Version, here(r), s.WorkView(r),
		lastOf(r)
	p.Chosen, p.Languages = s.Languages.Chosen(r), s.Languages.All()
	s.Render(w, r, status, name, "layout.html", p)
}

// Fragment responds with one named template of a page, for htmx.
func (s *Site) Fragment(w http.ResponseWriter, r *http.Request, name, fragment string, content any) {
	s.Render(w, r, http.StatusOK, name, fragment, content)
}

// Render responds with a template only once it is complete, so that a mistake in
// one never shows as half a page.
func (s *Site) Render(w http.ResponseWriter, r *http.Request, status int, name, part string, data any) {
	var body bytes.Buffer
	body.Grow(32 << 10)
	all, err := s.templates(s.Languages.Of(r))
	if t, known := all[name]; known {
		err = t.ExecuteTemplate(&body, part, data)
	} else if err == nil {
		err = fmt.Errorf("there is no page %q", name)
	}
	if err != nil {
		s.Log.Error("render a page", "page", name, "part", part, "error", err)
		http.Error(w, "This page could not be made; the log of Dogwatch has the details.", http.StatusInternalServerError)
		return
	}
	h := w.Header()
	h.Set("Content-Type", "text/html; charset=utf-8")
	h.Add("Vary", "Accept-Encoding, Accept-Language, Cookie, HX-Request")
	if !acceptsGzip(r) {
		w.WriteHeader(status)
		_, _ = w.Write(body.Bytes()) // the client may have gone
		return
	}
	h.Set("Content-Encoding", "gzip")
	w.WriteHeader(status)
	z, reused := s.gzipWriters.Get().(*gzip.Writer)
	if !reused {
		z, _ = gzip.NewWriterLevel(nil, gzip.BestSpeed) // the level is valid
	}
	z.Reset(w)
	_, _ = z.Write(body.Bytes()) // the client may have gone
	_ = z.Close()
	s.gzipWriters.Put(z)
}

type lastKey struct{}

// Dated returns a request for a page that knows the newest event from before
// anything is read for the page: its script receives what happens after that.
func (s *Site) Dated(r *http.Request) *http.Request {
	if Partial(r) || strings.HasPrefix(r.URL.Path, "/static/") {
		return r
	}
	last, err := s.Service.LastEvent(r.Context())
	if err != nil {
		return r // whatever the page reads will fail, too, and says so
	}
	return r.WithContext(context.WithValue(r.Context(), lastKey{}, last))
}

// lastOf returns the newest event that a page may know of; "" when that is not known.
func lastOf(r *http.Request) string {
	last, known := r.Context().Value(lastKey{}).(int64)
	if !known {
		return ""
	}
	return strconv.FormatInt(last, 10)
}

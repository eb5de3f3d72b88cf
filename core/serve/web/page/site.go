package page

import (
	"context"
	"html/template"
	"io/fs"
	"net/http"
	"slices"
	"sync"
	"time"

	"github.com/hashicorp/go-hclog"

	"github.com/dogwatch/dogwatch/core/decide/notes"
	"github.com/dogwatch/dogwatch/core/notify/dispatch"
	"github.com/dogwatch/dogwatch/core/serve/auth"
	"github.com/dogwatch/dogwatch/core/serve/language"
	"github.com/dogwatch/dogwatch/core/serve/words"
	"github.com/dogwatch/dogwatch/core/store"
)

// Service is what pages of every kind read; *service.Service says what its methods return.
type Service interface {
	Containers() store.Snapshot
	LastEvent(ctx context.Context) (int64, error)
	DeliveryProgress() []dispatch.Progress
	Redact(text string) string
}

// Options configure the pages.
type Options struct {
	// BasePath is in front of every link: "" or "/dogwatch".
	BasePath string
	Version  string
	// Templates are those of the areas, in files by the names of their pages.
	Templates []fs.FS
	Service   Service
	// ActorOf returns the actor of a request that was admitted.
	ActorOf func(r *http.Request) auth.Actor
	// TaskChanged is called when a task that a page started goes on or ends.
	TaskChanged func()
	Log         hclog.Logger
	Now         func() time.Time
}

// Site is what the pages share. Its methods may be called concurrently.
type Site struct {
	Options
	// Markdown makes HTML of release notes. It is made at the first use, as it takes megabytes.
	Markdown func() *notes.Renderer
	Started  time.Time
	Tasks    *Tasks
	// load reads what assets and pages hold at the first page view: without one
	// they would take megabytes of memory for nothing.
	load   func() error
	assets assets
	// Languages are those that pages can be read in; pages has the templates by the tags of these.
	Languages *language.Languages
	parsing   sync.Mutex
	pages     map[string]pages
	// gzipWriters are used again, for they are large.
	gzipWriters sync.Pool
}

// pages are the templates by the name of their file, each with the layout.
type pages map[string]*template.Template

// Path returns the link to a page of ours.
func (s *Site) Path(to string) string { return s.BasePath + to }

// MayChoose reports whether the user of a request can decide about updates.
func (s *Site) MayChoose(r *http.Request) bool { return s.ActorOf(r).Scope >= auth.Write }

// WorkView is what pages show of the tasks: a running one with the latest step of its trigger.
func (s *Site) WorkView(r *http.Request) TasksView {
	v := s.Tasks.view()
	if !s.MayChoose(r) {
		for i := range v.Tasks {
			v.Tasks[i].Undo = nil
		}
	}
	if !v.Running {
		return v
	}
	steps := s.Service.DeliveryProgress()
	for i := range v.Tasks {
		t := &v.Tasks[i]
		for _, p := range steps {
			if t.Running() && p.Manual && p.Trigger == t.Trigger && slices.Contains(t.Subjects, p.Subject) {
				t.Step = words.Step(p)
			}
		}
	}
	return v
}

package web

import (
	"context"
	"net/http"
	"slices"
	"strconv"
	"sync"
	"time"
)

const (
	// maxTasks bounds what is remembered, and with it what runs at once.
	maxTasks = 50
	// shownFor is how long an ended task is shown.
	shownFor = time.Minute
)

// task is something that takes longer than a page: checks, runs of triggers.
type task struct {
	ID    int
	Title string
	// Steps are how many there are, Done how many ended.
	Steps, Done int
	// Step is what the trigger of a running task reported last.
	Step string
	// Sentence says how it ended; Failed that it did so badly.
	Sentence string
	Failed   bool
	Ended    time.Time
	// Undo are the keys of the containers about which a choice was made that can be undone,
	// and Back is the page where it was made.
	Undo []string
	Back string

	// trigger is the id of the trigger that it runs, if it does, subjects those of
	// the containers that it runs it for.
	trigger  string
	subjects []string
}

// Running reports whether it has not ended.
func (t task) Running() bool { return t.Ended.IsZero() }

// tasks are what pages have started. They survive a reload of the page, for they
// belong to the server. The methods may be called concurrently.
type tasks struct {
	now     func() time.Time
	changed func() // is called after each change
	life    context.Context
	end     context.CancelFunc
	wait    sync.WaitGroup

	mu   sync.Mutex
	last int
	all  []*task
}

func newTasks(now func() time.Time, changed func()) *tasks {
	w := &tasks{now: now, changed: changed}
	w.life, w.end = context.WithCancel(context.Background())
	return w
}

func (w *tasks) close() {
	w.mu.Lock()
	w.end()
	w.mu.Unlock()
	w.wait.Wait()
}

// start runs a task, which has a title and steps, and returns at once; false means
// that too much is running. run calls step after each step, and returns how it ended.
func (w *tasks) start(of task, run func(ctx context.Context, step func()) (sentence string, failed bool)) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.tidy()
	if len(w.all) >= maxTasks || w.life.Err() != nil {
		return false
	}
	w.last++
	t := &of
	t.ID = w.last
	w.all = append(w.all, t)
	step := func() { w.change(func() { t.Done = min(t.Done+1, t.Steps) }) }
	w.wait.Go(func() {
		sentence, failed := run(w.life, step)
		w.change(func() { t.Sentence, t.Failed, t.Ended = sentence, failed, w.now() })
	})
	w.changed()
	return true
}

// note shows something that was done at once, as a task that has ended. The oldest that
// ended gives way where there are too many.
func (w *tasks) note(of task) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.tidy()
	if len(w.all) >= maxTasks {
		if i := slices.IndexFunc(w.all, func(t *task) bool { return !t.Running() }); i >= 0 {
			w.all = slices.Delete(w.all, i, i+1)
		}
	}
	w.last++
	of.ID, of.Ended = w.last, w.now()
	w.all = append(w.all, &of)
	w.changed()
}

// change changes a task, and reports that it did.
func (w *tasks) change(do func()) {
	w.mu.Lock()
	do()
	w.mu.Unlock()
	w.changed()
}

// tidy forgets what ended a while ago. The lock is held.
func (w *tasks) tidy() {
	w.all = slices.DeleteFunc(w.all, func(t *task) bool { return !t.Running() && w.now().Sub(t.Ended) > shownFor })
}

// tasksView is what pages show of the tasks.
type tasksView struct {
	Tasks   []task
	Running bool
}

func (w *tasks) view() tasksView {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.tidy()
	var v tasksView
	for _, t := range w.all {
		v.Tasks = append(v.Tasks, *t)
		v.Running = v.Running || t.Running()
	}
	return v
}

// dismiss forgets a task that has ended.
func (w *tasks) dismiss(id int) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.all = slices.DeleteFunc(w.all, func(t *task) bool { return t.ID == id && !t.Running() })
	w.changed()
}

func (u *UI) showTasks(w http.ResponseWriter, r *http.Request) {
	u.fragment(w, r, "problem", "work", u.tasksView(r))
}

func (u *UI) dismissTask(w http.ResponseWriter, r *http.Request) {
	if !u.form(w, r) {
		return
	}
	if id, err := strconv.Atoi(r.PathValue("id")); err == nil {
		u.tasks.dismiss(id)
	}
	u.done(w, r)
}

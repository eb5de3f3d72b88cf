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
	// shownFor is how long ended work is shown.
	shownFor = time.Minute
)

// task is something that takes longer than a page: checks, runs of triggers.
type task struct {
	ID    int
	Title string
	// Steps are how many there are, Done how many ended.
	Steps, Done int
	// Sentence says how it ended; Failed that it did so badly.
	Sentence string
	Failed   bool
	Ended    time.Time
}

// Running reports whether it has not ended.
func (t task) Running() bool { return t.Ended.IsZero() }

// work is what pages have started. It survives a reload of the page, for it
// belongs to the server. Its methods may be called concurrently.
type work struct {
	now  func() time.Time
	told func() // is called after each change
	life context.Context
	end  context.CancelFunc
	wait sync.WaitGroup

	mu    sync.Mutex
	last  int
	tasks []*task
}

func newWork(now func() time.Time, told func()) *work {
	w := &work{now: now, told: told}
	w.life, w.end = context.WithCancel(context.Background())
	return w
}

func (w *work) close() {
	w.mu.Lock()
	w.end()
	w.mu.Unlock()
	w.wait.Wait()
}

// start runs a task and returns at once; false means that too much is running.
// run is told what to call after each step, and returns how it ended.
func (w *work) start(title string, steps int, run func(ctx context.Context, step func()) (sentence string, failed bool)) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.tidy()
	if len(w.tasks) >= maxTasks || w.life.Err() != nil {
		return false
	}
	w.last++
	t := &task{ID: w.last, Title: title, Steps: steps}
	w.tasks = append(w.tasks, t)
	step := func() { w.change(func() { t.Done = min(t.Done+1, t.Steps) }) }
	w.wait.Go(func() {
		sentence, failed := run(w.life, step)
		w.change(func() { t.Sentence, t.Failed, t.Ended = sentence, failed, w.now() })
	})
	w.told()
	return true
}

// change changes a task, and tells of it.
func (w *work) change(do func()) {
	w.mu.Lock()
	do()
	w.mu.Unlock()
	w.told()
}

// tidy forgets what ended a while ago. The lock is held.
func (w *work) tidy() {
	w.tasks = slices.DeleteFunc(w.tasks, func(t *task) bool { return !t.Running() && w.now().Sub(t.Ended) > shownFor })
}

// workView is what pages show of the work.
type workView struct {
	Tasks   []task
	Running bool
}

func (w *work) view() workView {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.tidy()
	var v workView
	for _, t := range w.tasks {
		v.Tasks = append(v.Tasks, *t)
		v.Running = v.Running || t.Running()
	}
	return v
}

// dismiss forgets a task that has ended.
func (w *work) dismiss(id int) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.tasks = slices.DeleteFunc(w.tasks, func(t *task) bool { return t.ID == id && !t.Running() })
	w.told()
}

func (u *UI) showWork(w http.ResponseWriter, r *http.Request) {
	u.fragment(w, r, "problem", "work", u.work.view())
}

func (u *UI) dismissWork(w http.ResponseWriter, r *http.Request) {
	if !u.form(w, r) {
		return
	}
	if id, err := strconv.Atoi(r.PathValue("id")); err == nil {
		u.work.dismiss(id)
	}
	u.done(w, r)
}

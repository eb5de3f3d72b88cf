package page

import (
	"context"
	"slices"
	"sync"
	"time"

	"github.com/dogwatch/dogwatch/core/model/phrase"
)

const (
	// maxTasks bounds what is remembered, and with it what runs at once.
	maxTasks = 50
	// shownFor is how long an ended task is shown.
	shownFor = time.Minute
)

// Task is something that takes longer than a page: checks, runs of triggers.
type Task struct {
	ID    int
	Title phrase.Phrase
	// Steps are how many there are, Done how many ended.
	Steps, Done int
	// Step is what the trigger of a running task reported last.
	Step phrase.Phrase
	// Sentence says how it ended; Failed that it did so badly.
	Sentence phrase.Phrase
	Failed   bool
	Ended    time.Time
	// Undo are the keys of the containers about which a choice was made that can be undone,
	// and Back is the page where it was made.
	Undo []string
	Back string

	// trigger is the id of the trigger that it runs, if it does, subjects those of
	// the containers that it runs it for.
	Trigger  string
	Subjects []string
}

// Running reports whether it has not ended.
func (t Task) Running() bool { return t.Ended.IsZero() }

// Tasks are what pages have started. They survive a reload of the page, for they
// belong to the server. The methods may be called concurrently.
type Tasks struct {
	now     func() time.Time
	changed func() // is called after each change
	life    context.Context
	end     context.CancelFunc
	wait    sync.WaitGroup

	mu   sync.Mutex
	last int
	all  []*Task
}

func newTasks(now func() time.Time, changed func()) *Tasks {
	w := &Tasks{now: now, changed: changed}
	w.life, w.end = context.WithCancel(context.Background())
	return w
}

func (w *Tasks) close() {
	w.mu.Lock()
	w.end()
	w.mu.Unlock()
	w.wait.Wait()
}

// Start runs a task, which has a title and steps, and returns at once; false means
// that too much is running. run calls step after each step, and returns how it ended.
func (w *Tasks) Start(of Task, run func(ctx context.Context, step func()) (sentence phrase.Phrase, failed bool)) bool {
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

// Note shows something that was done at once, as a task that has ended. The oldest that
// ended gives way where there are too many.
func (w *Tasks) Note(of Task) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.tidy()
	if len(w.all) >= maxTasks {
		if i := slices.IndexFunc(w.all, func(t *Task) bool { return !t.Running() }); i >= 0 {
			w.all = slices.Delete(w.all, i, i+1)
		}
	}
	w.last++
	of.ID, of.Ended = w.last, w.now()
	w.all = append(w.all, &of)
	w.changed()
}

// change changes a task, and reports that it did.
func (w *Tasks) change(do func()) {
	w.mu.Lock()
	do()
	w.mu.Unlock()
	w.changed()
}

// tidy forgets what ended a while ago. The lock is held.
func (w *Tasks) tidy() {
	w.all = slices.DeleteFunc(w.all, func(t *Task) bool { return !t.Running() && w.now().Sub(t.Ended) > shownFor })
}

// TasksView is what pages show of the tasks.
type TasksView struct {
	Tasks   []Task
	Running bool
}

func (w *Tasks) view() TasksView {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.tidy()
	var v TasksView
	for _, t := range w.all {
		v.Tasks = append(v.Tasks, *t)
		v.Running = v.Running || t.Running()
	}
	return v
}

// Dismiss forgets a task that has ended.
func (w *Tasks) Dismiss(id int) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.all = slices.DeleteFunc(w.all, func(t *Task) bool { return t.ID == id && !t.Running() })
	w.changed()
}

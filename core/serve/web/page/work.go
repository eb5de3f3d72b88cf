package page

import (
	"net/http"
	"strconv"
)

// showTasks responds with the tasks, for htmx.
func (s *Site) showTasks(w http.ResponseWriter, r *http.Request) {
	s.Fragment(w, r, "problem", "work", s.WorkView(r))
}

// dismissTask forgets a task that has ended.
func (s *Site) dismissTask(w http.ResponseWriter, r *http.Request) {
	if id, err := strconv.Atoi(r.PathValue("id")); err == nil {
		s.Tasks.Dismiss(id)
	}
	s.Done(w, r)
}

package page

import (
	"net/http"
	"strconv"
)

// showTasks responds with the tasks, for pages that are open: they are a part of each. A browser that is led to their
// address gets the first page.
func (s *Site) showTasks(w http.ResponseWriter, r *http.Request) {
	if !Partial(r) {
		http.Redirect(w, r, s.Path("/"), http.StatusFound)
		return
	}
	s.Fragment(w, r, "problem", "work", s.WorkView(r))
}

// dismissTask forgets a task that has ended.
func (s *Site) dismissTask(w http.ResponseWriter, r *http.Request) {
	if id, err := strconv.Atoi(r.PathValue("id")); err == nil {
		s.Tasks.Dismiss(id)
	}
	s.Done(w, r)
}

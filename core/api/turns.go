package api

import (
	"bytes"
	"net/http"
	"time"
)

const (
	// mostTurns is how many answers that take room to make are made at a time;
	// more would not be ready sooner.
	mostTurns = 4
	// turnPatience is how long a request waits for its turn. Then it is answered
	// out of turn: something that others wait for must not stop everything.
	turnPatience = 5 * time.Second
)

// turns bounds how many answers are made at a time.
type turns chan struct{}

// inTurn makes answers that take more room than they have bytes, one after the
// other, and sends them when they are complete: what it took to make them is
// free by then, however slowly the client reads.
func (h *handler) inTurn(next http.HandlerFunc) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		complete := &completeAnswer{header: w.Header(), status: http.StatusOK}
		if !h.turns.take(r, func() { next(complete, r) }) {
			h.stopping(w, r, "")
			return
		}
		w.WriteHeader(complete.status)
		_, _ = w.Write(complete.body.Bytes()) // the client may have gone
	}
}

// take runs make when it is its turn. It returns false when the request ends before.
func (t turns) take(r *http.Request, make func()) bool {
	late := time.NewTimer(turnPatience)
	defer late.Stop()
	select {
	case t <- struct{}{}:
		defer func() { <-t }()
	case <-late.C:
	case <-r.Context().Done():
		return false
	}
	make()
	return true
}

// completeAnswer is an answer that is kept until all of it is there.
type completeAnswer struct {
	header http.Header
	status int
	wrote  bool
	body   bytes.Buffer
}

func (a *completeAnswer) Header() http.Header { return a.header }

func (a *completeAnswer) WriteHeader(status int) {
	if !a.wrote {
		a.status, a.wrote = status, true
	}
}

func (a *completeAnswer) Write(p []byte) (int, error) {
	a.wrote = true
	return a.body.Write(p)
}

package registrysim

import (
	"net/http"
	"time"

	"github.com/dogwatch/dogwatch/internal/backoff"
)

// fault responds to requests in place of the registry.
type fault struct {
	kind    Kind
	left    int
	respond http.HandlerFunc
}

// Inject makes respond stand in for the registry at the next requests of a kind:
// n of them, or all when n is negative. Faults are used up in the order of their injection.
func (r *Registry) Inject(kind Kind, n int, respond http.HandlerFunc) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.faults = append(r.faults, &fault{kind: kind, left: n, respond: respond})
}

// fault returns the handler of a request of a kind, or nil. The caller holds the lock.
func (r *Registry) fault(kind Kind) http.HandlerFunc {
	for _, f := range r.faults {
		if f.left != 0 && (f.kind == Any || f.kind == kind) {
			if f.left > 0 {
				f.left--
			}
			return f.respond
		}
	}
	return nil
}

// Status responds with a status, headers in pairs of name and value, and a body.
func Status(status int, body string, headers ...string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		for i := 0; i+1 < len(headers); i += 2 {
			w.Header().Set(headers[i], headers[i+1])
		}
		w.WriteHeader(status)
		_, _ = w.Write([]byte(body)) // the client may have gone
	}
}

// PullLimit responds as Docker Hub does to an address that has used up its pulls.
func PullLimit() http.HandlerFunc {
	return Status(http.StatusTooManyRequests,
		`{"errors":[{"code":"TOOMANYREQUESTS","message":"You have reached your pull rate limit."}]}`,
		"Content-Type", "application/json", "RateLimit-Limit", "100;w=21600", "RateLimit-Remaining", "0;w=21600")
}

// WebPage responds with a web page.
func WebPage() http.HandlerFunc {
	return Status(http.StatusOK, "<!doctype html><title>Log in</title>", "Content-Type", "text/html; charset=utf-8")
}

// Break closes the connection without a response.
func Break() http.HandlerFunc {
	return func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) }
}

// Stall starts a response and then sends nothing until the client goes or d has passed.
func Stall(d time.Duration) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(http.StatusOK)
		_ = http.NewResponseController(w).Flush() // the client may have gone
		_ = backoff.Wait(r.Context(), d)
	}
}

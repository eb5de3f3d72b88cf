package verify

import (
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"sync"
)

// server is a service on this machine that answers everything with one status.
type server struct {
	// url is its address.
	url  string
	http http.Server
	// body is what it responds with a status of success.
	body string
	// reached gets a value for each request, left one for each whose client went away.
	reached, left chan struct{}
}

// hangs is the status of a server that never answers.
const hangs = 0

func newServer(status int, body string) (*server, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, fmt.Errorf("listen for what the plugin sends: %w", err)
	}
	s := &server{
		body: body, url: "http://" + l.Addr().String(), reached: make(chan struct{}, 100), left: make(chan struct{}, 100),
	}
	s.http.Handler = http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		// That the client went away is only seen once the body is read.
		body, _ := io.ReadAll(io.LimitReader(r.Body, 1<<20))
		note(s.reached)
		if status == hangs {
			<-r.Context().Done()
			note(s.left)
			return
		}
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(status)
		if status < 300 {
			fmt.Fprintln(w, s.body)
			return
		}
		// An error that quotes the answer shows whatever secret was sent.
		fmt.Fprintf(w, "%s %s\n%s\n", r.Method, r.URL, body)
		_ = r.Header.Write(w)
	})
	go func() { _ = s.http.Serve(l) }() // until close
	return s, nil
}

func (s *server) wasReached() bool { return len(s.reached) > 0 }

// close ends the server and what still waits for it.
func (s *server) close() { _ = s.http.Close() }

func note(to chan struct{}) {
	select {
	case to <- struct{}{}:
	default:
	}
}

// transcript is all that a plugin says. It may be used concurrently.
type transcript struct {
	mu   sync.Mutex
	text strings.Builder
	// more is how much was said beyond what is kept.
	more int
}

// kept bounds the transcript of a plugin that floods its log.
const kept = 4 << 20

func (t *transcript) Write(p []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.text.Len() > kept {
		t.more += len(p)
		return len(p), nil
	}
	return t.text.Write(p)
}

func (t *transcript) add(text string) { fmt.Fprintln(t, text) }

// shown returns those of secrets that were said.
func (t *transcript) shown(secrets []string) (shown []string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, s := range secrets {
		if s != "" && strings.Contains(t.text.String(), s) {
			shown = append(shown, s)
		}
	}
	return shown
}

// truncated reports whether more was said than is kept.
func (t *transcript) truncated() bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.more > 0
}

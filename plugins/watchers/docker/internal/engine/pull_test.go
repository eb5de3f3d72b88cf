package engine

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/dogwatch/dogwatch/sdk"
	"github.com/dogwatch/dogwatch/sdk/watcher"
)

// TestPullEndsWhenItStalls and when it is cancelled, but not while there is progress.
func TestPullEndsWhenItStalls(t *testing.T) {
	const message = `{"status":"Downloading","id":"layer","progressDetail":{"current":1,"total":2}}` + "\n"
	for name, test := range map[string]struct {
		messages int // each follows after an eighth of the silence
		stalls   bool
		cancel   bool
		text     string
	}{
		"at once":       {messages: 0, stalls: true, text: "no progress for 2s"},
		"in the middle": {messages: 2, stalls: true, text: "no progress for 2s"},
		"slow":          {messages: 12},
		"cancelled":     {messages: 1, stalls: true, cancel: true, text: "canceled"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			const silence = 2 * time.Second
			gone := make(chan struct{})
			server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				w.Header().Set("API-Version", "1.41")
				if !strings.HasSuffix(r.URL.Path, "/images/create") {
					return
				}
				for range test.messages {
					fmt.Fprint(w, message)
					w.(http.Flusher).Flush()
					time.Sleep(silence / 8)
				}
				if test.stalls {
					<-r.Context().Done()
					close(gone)
				}
			}))
			defer server.Close()
			address := strings.TrimPrefix(server.URL, "http://")
			e := New(Endpoint{Network: "tcp", Address: address}, "", true)
			e.PullSilence = silence
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			if test.cancel {
				e.PullSilence = time.Hour
				time.AfterFunc(silence/4, cancel)
			}
			began := time.Now()
			err := e.Pull(ctx, "app", "sha256:1", sdk.Credentials{}, func(watcher.StepProgress) {})
			switch {
			case !test.stalls && err != nil, test.stalls && (err == nil || !strings.Contains(err.Error(), test.text)):
				t.Errorf("after %s: %v", time.Since(began), err)
			case test.stalls && !test.cancel && (!errors.Is(err, sdk.ErrUnavailable) ||
				strings.Contains(err.Error(), "hangs")):
				t.Error(err)
			case test.stalls:
				<-gone // the engine hears of it
			}
		})
	}
}

package informer

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"runtime"
	"slices"
	"sync"
	"testing"

	"github.com/hashicorp/go-hclog"

	"github.com/dogwatch/dogwatch/plugins/watchers/kubernetes/internal/cluster"
)

// script is a server whose answers to lists and to watches the test says, one after the other; a watch for which it has
// none hangs.
type script struct {
	mu             sync.Mutex
	lists, watches []string // what is answered; "410" and the like are statuses
	asked          []string // "list" with the token of its page, "watch" with its version
	waiting        chan struct{}
}

func (s *script) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	answers, what := &s.lists, "list "+r.FormValue("continue")
	if r.FormValue("watch") == "true" {
		answers, what = &s.watches, "watch "+r.FormValue("resourceVersion")
	}
	s.asked = append(s.asked, what)
	text := ""
	if len(*answers) > 0 {
		text, *answers = (*answers)[0], (*answers)[1:]
	}
	s.mu.Unlock()
	var status int
	switch n, _ := fmt.Sscanf(text, "%3d", &status); {
	case n == 1:
		w.WriteHeader(status)
		fmt.Fprintf(w, `{"kind": "Status", "code": %d, "message": "no"}`, status)
	case text == "":
		w.(http.Flusher).Flush()
		s.waiting <- struct{}{}
		<-r.Context().Done()
	default:
		fmt.Fprint(w, text)
	}
}

func list(version, token string, names ...string) string {
	items := ""
	for i, name := range names {
		if i > 0 {
			items += ","
		}
		items += object(name, "1", "a")
	}
	return fmt.Sprintf(`{"metadata": {"resourceVersion": %q, "continue": %q}, "items": [%s]}`, version, token, items)
}

func object(name, version, kept string) string {
	return fmt.Sprintf(`{"metadata": {"namespace": "media", "name": %q, "resourceVersion": %q, "labels": {"kept": %q}}}`,
		name, version, kept)
}

func event(kind, object string) string {
	return fmt.Sprintf(`{"type": %q, "object": %s}`, kind, object)
}

// made returns a collection of the names of objects with what is kept of them; nothing is kept of those with "".
func made(t *testing.T, s *script) *Collection[string] {
	t.Helper()
	s.waiting = make(chan struct{}, 10)
	listener := httptest.NewServer(s)
	t.Cleanup(listener.Close)
	at, err := url.Parse(listener.URL)
	if err != nil {
		t.Fatal(err)
	}
	reduce := func(o *cluster.Object) (string, bool) {
		kept := o.Metadata.Labels["kept"]
		return o.Metadata.Name + "=" + kept, kept != ""
	}
	equal := func(a, b string) bool { return a == b }
	c := New(cluster.New(cluster.Endpoint{Server: at}, "test"), cluster.Resource{Version: "v1", Name: "pods"}, reduce, equal,
		hclog.NewNullLogger())
	c.pause = func(ctx context.Context, _ int) error { return ctx.Err() }
	return c
}

func items(c *Collection[string]) (all []string) {
	c.Each(func(_ string, item string) { all = append(all, item) })
	slices.Sort(all)
	return all
}

// TestFollow: what is asked, and what is kept, when a watch ends in each of the ways in which it can.
func TestFollow(t *testing.T) {
	expired := `{"type": "ERROR", "object": {"kind": "Status", "code": 410, "reason": "Expired", "message": "too old"}}`
	for name, test := range map[string]struct {
		lists, watches []string
		asked, items   []string
		changes        int // calls of changed: one is for the first list, and one for the first watch
	}{
		"from the list": {
			[]string{list("5", "", "web")}, nil,
			[]string{"list ", "watch 5"}, []string{"web=a"}, 2,
		},
		"from the last event": {
			[]string{list("5", "", "web", "gone")},
			[]string{event("MODIFIED", object("web", "6", "b")) + event("DELETED", object("gone", "7", "a")) +
				event("ADDED", object("new", "8", "a"))},
			[]string{"list ", "watch 5", "watch 8"}, []string{"new=a", "web=b"}, 5,
		},
		"from the last bookmark": {
			[]string{list("5", "", "web")}, []string{event("BOOKMARK", `{"metadata": {"resourceVersion": "900"}}`)},
			[]string{"list ", "watch 5", "watch 900"}, []string{"web=a"}, 2,
		},
		"what is not kept is no change": {
			[]string{list("5", "", "web")}, []string{event("MODIFIED", object("web", "6", "a")) + event("SURPRISE", object("web", "7", "z"))},
			[]string{"list ", "watch 5", "watch 7"}, []string{"web=a"}, 2,
		},
		"nothing is kept any more": {
			[]string{list("5", "", "web")}, []string{event("MODIFIED", object("web", "6", ""))},
			[]string{"list ", "watch 5", "watch 6"}, nil, 3,
		},
		"too old for a watch": {
			[]string{list("5", "", "web", "gone"), list("9", "", "web")}, []string{"410"},
			[]string{"list ", "watch 5", "list ", "watch 9"}, []string{"web=a"}, 3, // the second list is heard of, too
		},
		"too old within a stream": {
			[]string{list("5", "", "web", "gone"), list("9", "", "web")}, []string{expired},
			[]string{"list ", "watch 5", "list ", "watch 9"}, []string{"web=a"}, 3,
		},
		"an outage costs no list": {
			[]string{list("5", "", "web")}, []string{event("BOOKMARK", `{"metadata": {"resourceVersion": "6"}}`) + "{", "503", "503"},
			[]string{"list ", "watch 5", "watch 6", "watch 6", "watch 6"}, []string{"web=a"}, 4, // and its begin and end
		},
		"page by page, again when they are too old": {
			[]string{list("5", "p2", "gone"), "410", list("7", "p3", "web"), list("7", "", "db")}, nil,
			[]string{"list ", "list p2", "list ", "list p3", "watch 7"}, []string{"db=a", "web=a"}, 2,
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := &script{lists: test.lists, watches: test.watches}
			c := made(t, s)
			ctx, cancel := context.WithCancel(t.Context())
			ended := make(chan error, 1)
			var changes int
			go func() { ended <- c.Follow(ctx, func() { changes++ }) }()
			<-s.waiting // the last watch, which hangs
			for !c.Synced() {
				runtime.Gosched() // until the collection knows that it is there
			}
			cancel()
			if err := <-ended; !errors.Is(err, context.Canceled) {
				t.Error(err)
			}
			if !slices.Equal(s.asked, test.asked) || !slices.Equal(items(c), test.items) || changes != test.changes {
				t.Errorf("asked %q, has %q, %d changes\nwant %q, %q, %d", s.asked, items(c), changes, test.asked, test.items, test.changes)
			}
		})
	}
}

// TestListThatChangesTooFast is given up after some attempts, and what was known stays.
func TestListThatChangesTooFast(t *testing.T) {
	s := &script{lists: []string{list("5", "", "web")}}
	for range 2 * maxExpired {
		s.lists = append(s.lists, list("6", "p2", "db"), "410")
	}
	c := made(t, s)
	if err := c.Load(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := c.Load(t.Context()); !errors.Is(err, cluster.ErrExpired) {
		t.Errorf("got %v", err)
	}
	if len(s.asked) != 1+2*maxExpired || !slices.Equal(items(c), []string{"web=a"}) {
		t.Errorf("asked %q, has %q", s.asked, items(c))
	}
}

//go:build unix

package plugin

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/dogwatch/dogwatch/internal/pluginclient"
	"github.com/dogwatch/dogwatch/internal/protocol"
	"github.com/dogwatch/dogwatch/sdk"
	"github.com/dogwatch/dogwatch/sdk/kind"
	"github.com/dogwatch/dogwatch/sdk/watcher"
)

// wireWatcher is a watcher without the SDK, with these habits, and its plugin.
func wireWatcher(t *testing.T, how string) (WatcherHandle, *wired) {
	t.Helper()
	w := newWired(t, "serves watcher "+how)
	spec := pluginclient.Instance{ID: "watcher.wire.main", Kind: kind.Watcher, Type: "wire"}
	spec.Options = map[string]any{"url": "http://127.0.0.1:1/"}
	_, err := configure(t, w.h, spec)
	must(t, err)
	return w.s.Watcher(spec.ID), w
}

// TestListBeyondItsBoundsFails: the error names the instance and what is too much, is worth no other
// try, and the plugin goes on.
func TestListBeyondItsBoundsFails(t *testing.T) {
	t.Parallel()
	const refused = "watcher.wire.main: what the plugin answered to Watcher.List is refused: "
	for how, want := range map[string]string{
		"lists-50000":       refused + "it occupies more than 48 MiB, with what other calls under way were answered",
		"lists-10001-empty": refused + "containers has more than 10000 entries",
		"lists-17-mib":      refused + "a message of it has more than 16777216 bytes",
	} {
		t.Run(how, func(t *testing.T) {
			in, w := wireWatcher(t, how)
			pid := w.s.Status().PID
			for range 2 {
				all, err := in.List(t.Context())
				if !errors.Is(err, protocol.ErrRefused) || err.Error() != want || len(all) > 0 || sdk.Retryable(err) {
					t.Errorf("%d containers, %v", len(all), err)
				}
			}
			if st := w.s.Status(); st.State != Running || st.PID != pid || st.Restarts != 0 {
				t.Errorf("afterwards the plugin is %+v", st)
			}
		})
	}
}

// TestListWithinItsBoundsIsTaken: the longest list that there may be.
func TestListWithinItsBoundsIsTaken(t *testing.T) {
	in, _ := wireWatcher(t, "lists-10000")
	all, err := in.List(t.Context())
	if err != nil || len(all) != protocol.MaxContainers {
		t.Errorf("%d containers, %v", len(all), err)
	}
}

// TestDescriptionBeyondItsBoundsIsRejected: the state of the plugin says so.
func TestDescriptionBeyondItsBoundsIsRejected(t *testing.T) {
	w := newWired(t, "serves describes-nan")
	const want = "what the plugin answered to Component.Describe is refused: types[0].options[0].min is no finite number"
	eventually(t, "it is refused", func() bool { return strings.Contains(w.s.Status().Error, want) })
}

// TestFloodOfEventsIsFollowed: many events are handed on one by one, and none is lost or kept.
func TestFloodOfEventsIsFollowed(t *testing.T) {
	in, _ := wireWatcher(t, "floods")
	n := 0
	err := in.Watch(t.Context(), func(watcher.Event) { n++ })
	if n != 100_000 || err == nil || errors.Is(err, context.Canceled) {
		t.Errorf("%d events, %v", n, err)
	}
}

// TestEndlessLineIsNotKept: of a line of 100 MiB that a plugin writes the log has a part.
func TestEndlessLineIsNotKept(t *testing.T) {
	in, w := wireWatcher(t, "writes-a-line")
	if _, err := in.List(t.Context()); err == nil || !strings.Contains(err.Error(), "100 MiB were written") {
		t.Fatal(err)
	}
	if size := len(w.log.String()); size > 2<<20 {
		t.Errorf("the log has %d bytes", size)
	}
}

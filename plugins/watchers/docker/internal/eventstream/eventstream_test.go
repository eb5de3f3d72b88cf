package eventstream

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/hashicorp/go-hclog"

	"github.com/dogwatch/dogwatch/sdk/watcher"
)

func TestBackoff(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		for attempt, want := range map[int]time.Duration{
			1: time.Second, 2: 2 * time.Second, 3: 4 * time.Second, 6: 32 * time.Second, 7: time.Minute,
			100: time.Minute, 1 << 40: time.Minute,
		} {
			for range 50 {
				start := time.Now()
				if err := Backoff(t.Context(), attempt); err != nil {
					t.Fatal(err)
				}
				if took := time.Since(start); took < want/2 || took >= want*3/2 {
					t.Errorf("attempt %d paused %s, want about %s", attempt, took, want)
				}
			}
		}
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		if err := Backoff(ctx, 7); !errors.Is(err, context.Canceled) {
			t.Error(err)
		}
	})
}

func FuzzDocuments(f *testing.F) {
	f.Add([]byte(`{"Type":"container","Action":"destroy","Actor":{"ID":"a"},"timeNano":1}{"Action":"create","Actor":{"ID":"b"}}`))
	f.Add([]byte("{\"Actor\":7}\n\x00"))
	f.Fuzz(func(t *testing.T, line []byte) {
		reader := reader{Follower: Follower{
			Kind: "container", Log: hclog.NewNullLogger(),
			Handle: func(_ context.Context, e Document, emit func(watcher.Event)) {
				emit(watcher.Event{ContainerID: e.Actor.ID, Action: watcher.ActionChanged})
			},
		}}
		reader.emit = func(e watcher.Event) {
			if e.ContainerID == "" || e.Action != watcher.ActionChanged {
				t.Errorf("%+v", e)
			}
		}
		reader.documents(t.Context(), line)
	})
}

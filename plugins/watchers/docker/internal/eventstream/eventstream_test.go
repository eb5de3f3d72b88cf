package eventstream

import (
	"context"
	"testing"

	"github.com/hashicorp/go-hclog"

	"github.com/dogwatch/dogwatch/sdk/watcher"
)

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

package api

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/dogwatch/dogwatch/core/model/event"
	"github.com/dogwatch/dogwatch/core/notify/delivery"
	"github.com/dogwatch/dogwatch/core/serve/service"
	"github.com/dogwatch/dogwatch/core/store"
)

// brokenStore fails like a store whose disk is full or whose file is damaged.
type brokenStore struct {
	service.Store
	err error
}

// breakStore lets every access to the store fail, but what is in memory.
func (o *testOptions) breakStore(err error) {
	b := brokenStore{o.app.Store, err}
	o.app.Store, o.Events = b, b
}

func (b brokenStore) Commit(context.Context, event.Change) error { return b.err }
func (b brokenStore) History(context.Context, event.Filter) ([]event.Event, error) {
	return nil, b.err
}
func (b brokenStore) Deliveries(context.Context, store.DeliveryFilter) ([]delivery.Delivery, error) {
	return nil, b.err
}
func (b brokenStore) LastEvent(context.Context) (int64, error)                  { return 0, b.err }
func (b brokenStore) Retry(context.Context, int64) error                        { return b.err }
func (b brokenStore) OldestEvent(context.Context) (int64, error)                { return 0, b.err }
func (b brokenStore) Events(context.Context, int64, int) ([]event.Event, error) { return nil, b.err }

func TestStoreErrorGets500(t *testing.T) {
	w := start(t, nil, func(o *testOptions) {
		o.breakStore(errors.New("store.db: no such table: runtime error"))
	})
	w.put(nginx())
	w.get("/api/containers").want(200) // from memory
	w.do("DELETE", "/api/containers/"+nginx().ID, "").fails(500, "internal error")
	w.get("/api/events").fails(500, "internal error")
	w.get("/api/events", "Accept", "text/event-stream").fails(500, "internal error")
	w.get("/api/deliveries").fails(500, "internal error")
	w.do("POST", "/api/deliveries/1/retry", "").fails(500, "internal error")
	w.get("/metrics").want(500)
	if !strings.Contains(w.log.String(), "no such table") {
		t.Errorf("the log does not say why: %s", w.log)
	}
}

func TestFullDiskGets507(t *testing.T) {
	w := start(t, nil, func(o *testOptions) {
		o.breakStore(fmt.Errorf("save containers: %w: free space on the disk that holds the store", store.ErrFull))
	})
	w.put(nginx())
	w.do("DELETE", "/api/containers/"+nginx().ID, "").fails(507, "disk full", "free space")
	same(t, "containers", w.get("/api/containers").want(200).names(), []string{"nginx"})
}

// TestStoreErrorIsNotBadCredentials: a store that fails is no reason for 401.
func TestStoreErrorIsNotBadCredentials(t *testing.T) {
	w := startWithLogin(t, nil)
	cookie := w.session()
	if err := w.store.Close(); err != nil {
		t.Fatal(err)
	}
	w.get("/api/containers", "Cookie", cookie).fails(500)
	w.get("/api/app").want(200)
	var err error
	w.store, err = store.Open(t.Context(), t.TempDir()+"/other.db", store.Options{}) // for the end of the test
	if err != nil {
		t.Fatal(err)
	}
}

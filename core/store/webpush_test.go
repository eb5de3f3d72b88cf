package store

import (
	"errors"
	"slices"
	"testing"

	"github.com/dogwatch/dogwatch/core/notify/webpush"
)

// TestWebPushKeyIsMadeOnce: a browser that subscribed with it trusts no other.
func TestWebPushKeyIsMadeOnce(t *testing.T) {
	s := fresh(t)
	for _, offered := range [][]byte{{1}, {2}} {
		if key, err := s.WebPushKey(t.Context(), offered); err != nil || !slices.Equal(key, []byte{1}) {
			t.Errorf("key %v, %v", key, err)
		}
	}
	must(t, s.Close())
	if key, err := open(t, s.path).WebPushKey(t.Context(), []byte{3}); err != nil || !slices.Equal(key, []byte{1}) {
		t.Errorf("after a restart, key %v, %v", key, err)
	}
}

func TestWebPushDevices(t *testing.T) {
	s, ctx := fresh(t), t.Context()
	second := webpush.Device{ID: "p2", User: "bob", Name: "Chrome", Created: start.Add(seconds(1)), Subscription: phone.Subscription}
	must(t, s.AddWebPushDevice(ctx, second, 2))
	must(t, s.AddWebPushDevice(ctx, phone, 2))
	if all, err := s.WebPushDevices(ctx); err != nil || !slices.Equal(all, []webpush.Device{phone, second}) {
		t.Errorf("devices %+v, %v", all, err)
	}

	third := phone
	third.ID = "p3"
	if err := s.AddWebPushDevice(ctx, third, 2); !errors.Is(err, webpush.ErrFull) {
		t.Errorf("a third of two: %v", err)
	}
	must(t, s.RecordWebPushError(ctx, "p1", "refused"))
	again := phone
	again.Auth, again.Created = "other", start.Add(seconds(9))
	must(t, s.AddWebPushDevice(ctx, again, 2)) // which is there already, so that there are no more
	want := phone
	want.Auth = "other"
	if all, err := s.WebPushDevices(ctx); err != nil || !slices.Equal(all, []webpush.Device{want, second}) {
		t.Errorf("devices %+v, %v", all, err)
	}

	must(t, s.RemoveWebPushDevice(ctx, "p1"))
	if err := s.RemoveWebPushDevice(ctx, "p1"); !errors.Is(err, webpush.ErrNotFound) {
		t.Errorf("removed twice: %v", err)
	}
	must(t, s.AddWebPushDevice(ctx, third, 2))
}

// TestWebPushSent: what a device has is kept until the device or the time of it is gone.
func TestWebPushSent(t *testing.T) {
	s, ctx := fresh(t), t.Context()
	must(t, s.AddWebPushDevice(ctx, phone, 1))
	has := func(delivery string, want ...string) {
		t.Helper()
		if got, err := s.WebPushSent(ctx, delivery); err != nil || !slices.Equal(got, want) {
			t.Errorf("%s has %v, %v, want %v", delivery, got, err, want)
		}
	}
	must(t, s.RecordWebPushError(ctx, "p1", "refused"))
	must(t, s.RecordWebPush(ctx, "p1", "d1", start))
	must(t, s.RecordWebPush(ctx, "p1", "d2", start.Add(seconds(5))))
	must(t, s.RecordWebPush(ctx, "p1", "d2", start.Add(seconds(6))))
	must(t, s.RecordWebPush(ctx, "gone", "d2", start)) // removed while it was notified
	has("d1", "p1")
	has("d2", "p1")
	if all, err := s.WebPushDevices(ctx); err != nil || !all[0].Sent.Equal(start.Add(seconds(6))) || all[0].Error != "" {
		t.Errorf("%+v, %v", all, err)
	}
	must(t, s.Prune(ctx, start.Add(seconds(1))))
	has("d1")
	has("d2", "p1")
	must(t, s.RemoveWebPushDevice(ctx, "p1"))
	has("d2")
}

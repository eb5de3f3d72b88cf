package webhook

import (
	"context"
	"errors"
	"maps"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/dogwatch/dogwatch/sdk"
)

func (b *bench) AddPushed(_ context.Context, images []Image) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, i := range images {
		if b.full == nil {
			b.kept[i] = true
		}
	}
	return b.full
}

func (b *bench) RemovePushed(_ context.Context, images []Image) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, i := range images {
		delete(b.kept, i)
	}
	return nil
}

func (b *bench) Pushed(context.Context) ([]Image, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return slices.Collect(maps.Keys(b.kept)), nil
}

// TestAcceptedIsKeptUntilChecked: what a delivery names is stored before it is accepted and
// forgotten once it was checked; a Receiver that ends earlier leaves it for the next.
func TestAcceptedIsKeptUntilChecked(t *testing.T) {
	containers := []sdk.Container{running("local", "web", "ghcr.io", "owner/name"),
		running("local", "db", "ghcr.io", "owner/db")}
	header := with(nil, "Authorization", "Bearer "+secret)
	web, db := Image{Host: "ghcr.io", Name: "owner/name"}, Image{Host: "ghcr.io", Name: "owner/db"}
	receive(t, []Hook{{Name: "hook", Secret: secret}}, containers, func(b *bench) {
		kept := func(when string, want ...Image) {
			t.Helper()
			got, _ := b.Pushed(context.Background())
			if len(got) != len(want) || len(want) > 0 && !slices.Contains(got, want[0]) {
				t.Errorf("%s, %v is kept; want %v", when, got, want)
			}
		}
		send := func(image string) error {
			_, err := b.Receive("hook", header, "", []byte(`{"image":"`+image+`"}`))
			return err
		}
		b.full = errors.New("the disk is full")
		if err := send(web.String()); !errors.Is(err, b.full) {
			t.Errorf("a delivery that cannot be stored: %v", err)
		}
		time.Sleep(time.Second)
		if b.full = nil; len(b.checked) > 0 {
			t.Errorf("a refused delivery is checked: %q", b.checked)
		}
		if err := send(web.String()); err != nil { // sent again
			t.Error(err)
		}
		kept("once accepted", web)
		time.Sleep(time.Second)
		kept("once checked")

		// It is named again while it is checked.
		var once sync.Once
		b.mu.Lock()
		b.during = func() {
			once.Do(func() {
				time.Sleep(repeatWindow)
				if err := send(db.String()); err != nil {
					t.Error(err)
				}
			})
		}
		b.mu.Unlock()
		if err := send(db.String()); err != nil {
			t.Error(err)
		}
		time.Sleep(repeatWindow + debounce + time.Millisecond)
		synctest.Wait()
		kept("named again during its check", db)
		time.Sleep(time.Second)
		kept("checked again")

		// Another process ends while it checks; the next one begins with that.
		ctx, cancel := context.WithCancel(context.Background())
		opt := b.opt
		opt.Check = func(ctx context.Context, _ string, _ []string) error {
			cancel()
			return ctx.Err()
		}
		_ = b.AddPushed(ctx, []Image{web})
		if err := New(opt).Run(ctx); err != nil {
			t.Error(err)
		}
		kept("ended during the check", web)
		ctx, cancel = context.WithCancel(context.Background())
		var ids []string
		opt.Check = func(_ context.Context, _ string, of []string) error {
			ids = append(ids, of...)
			time.AfterFunc(time.Second, cancel)
			return nil
		}
		if err := New(opt).Run(ctx); err != nil || !slices.Equal(ids, []string{"web"}) {
			t.Errorf("the next one checked %q, %v", ids, err)
		}
		kept("checked by the next one")
	})
}

package mirrored

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/hashicorp/go-hclog"

	"github.com/dogwatch/dogwatch/plugins/watchers/internal/orchestrated"
	"github.com/dogwatch/dogwatch/sdk/watcher"
)

// numbers is a source of containers, of which rounds are what happens, one after the other.
type numbers struct {
	Items[int, string]
	rounds []func(changed func()) error
}

func (n *numbers) Follow(ctx context.Context, changed func()) error {
	pause := func(context.Context, int) error { return nil }
	return n.Items.Follow(ctx, hclog.NewNullLogger(), pause, changed, func(ctx context.Context) (bool, error) {
		if len(n.rounds) == 0 {
			<-ctx.Done()
			return false, ctx.Err()
		}
		time.Sleep(time.Minute) // the host has heard of the round before
		round := n.rounds[0]
		n.rounds = n.rounds[1:]
		return true, round(changed)
	})
}

func (n *numbers) list(context.Context) (list []watcher.Container, _ error) {
	n.Each(func(id int, status string) {
		list = append(list, watcher.Container{ID: fmt.Sprint(id), Status: status})
	})
	return list, nil
}

// TestWatch notifies the host of what it does not know, once for many changes, and of an outage.
func TestWatch(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n := &numbers{}
		set := func(id int, status string) {
			n.Set(id, status, status != "", func(a, b string) bool { return a == b })
		}
		n.rounds = []func(func()) error{
			func(changed func()) error { // the host will list
				n.Replace(map[int]string{1: "running", 2: "running"}, false)
				n.Found()
				changed()
				return nil
			},
			func(changed func()) error { // two statuses
				set(1, "exited")
				changed()
				set(2, "exited")
				changed()
				return nil
			},
			func(changed func()) error { // nothing is another
				set(2, "exited")
				changed()
				return nil
			},
			func(func()) error { return errors.New("outage") },
			func(func()) error { return errors.New("still an outage") },
			func(changed func()) error { // what the host listed in vain is listed again
				n.Found()
				set(2, "")
				changed()
				return nil
			},
		}
		ctx, cancel := context.WithTimeout(t.Context(), time.Hour)
		defer cancel()
		var events []string
		err := Watch{
			Sources: []Source{n}, Log: hclog.NewNullLogger(), List: n.list, Notified: new(orchestrated.Notified),
		}.Follow(ctx, func(e watcher.Event) { events = append(events, string(e.Action)+" "+e.ContainerID) })
		slices.Sort(events[:2])
		want := []string{"status 1", "status 2", "changed ", "changed "}
		if !errors.Is(err, context.DeadlineExceeded) || !slices.Equal(events, want) {
			t.Errorf("%v, events %q, want %q", err, events, want)
		}
	})
}

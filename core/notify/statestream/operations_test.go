package statestream

import (
	"strings"
	"testing"
	"time"

	"github.com/dogwatch/dogwatch/sdk/trigger"
)

func TestNextReturnsHowOperationsGoOn(t *testing.T) {
	p := newFakeState()
	at := func(name string, percent int) trigger.OperationState {
		return trigger.OperationState{Watcher: "local", Name: name, Running: true, Percent: percent}
	}
	p.progress(at("web", 10))
	streaming(t, p, func(r *fakeSubscriber, _ *strings.Builder) {
		want(t, r.next(), "all local=false remote=false local/web:true 10")
		pending := r.next()
		p.progress(at("web", 11))
		p.progress(at("web", 12))
		wantNothing(t, pending) // it comes too soon
		time.Sleep(progressPause)
		want(t, pending, "local/web:true 12")
		pending = r.next()
		p.progress(at("web", 13), at("db", 0))
		want(t, pending, "local/db:true 0") // another one does not wait
		p.progress(at("db", 0))
		want(t, r.next(), "local/web:false 0") // nor does an end
		pending = r.next()
		p.progress(at("db", 0))
		wantNothing(t, pending)
		p.progress()
		want(t, pending, "local/db:false 0")
	})
}

// TestProgressIsLimited: however often an operation goes on, it is sent four times a second.
func TestProgressIsLimited(t *testing.T) {
	p := newFakeState()
	streaming(t, p, func(r *fakeSubscriber, _ *strings.Builder) {
		want(t, r.next(), "all local=false remote=false")
		sent, pending := 0, r.next()
		for percent := range 95 { // ends before the next one is due, at a second
			p.progress(trigger.OperationState{Watcher: "local", Name: "web", Running: true, Percent: percent})
			time.Sleep(10 * time.Millisecond)
			select {
			case <-pending:
				sent++
				pending = r.next()
			default:
			}
		}
		if sent != 4 {
			t.Errorf("%d changes in 950 ms, want 4", sent)
		}
	})
}

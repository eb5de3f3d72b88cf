package components

import (
	"cmp"
	"context"
	"time"

	"github.com/dogwatch/dogwatch/core/model/event"
	"github.com/dogwatch/dogwatch/core/model/phrase"
	"github.com/dogwatch/dogwatch/core/notify/delivery"
	"github.com/dogwatch/dogwatch/core/plugin/component"
	"github.com/dogwatch/dogwatch/core/serve/auth"
	"github.com/dogwatch/dogwatch/core/serve/service"
	"github.com/dogwatch/dogwatch/core/serve/web/guide"
	"github.com/dogwatch/dogwatch/core/serve/words"
	"github.com/dogwatch/dogwatch/core/store"
	"github.com/dogwatch/dogwatch/core/watch/check"
	"github.com/dogwatch/dogwatch/sdk/kind"
)

// state is that of a component, with what else is known of it than that it runs.
type state struct {
	State words.State
	// Last is how the last check of a watcher ended; nil for none.
	Last *lastCheck
	// Running is true while a watcher is being checked, and Progress how far that is.
	Running  bool
	Progress check.Progress
	// Unresponsive is what checks know of a registry that does not respond; nil for any other.
	Unresponsive *unresponsive
	// Unsent is why a message of a trigger could not be sent so far, Undelivered that without its name; "" for none.
	Unsent, Undelivered string
}

// lastCheck is how the last check of a watcher ended.
type lastCheck struct {
	At       time.Time
	Sentence phrase.Phrase
	Failed   bool
}

// evidence is what tells the state of components of one kind. The zero value knows nothing but that they run.
type evidence struct {
	checks     []event.Event
	progress   []check.Progress
	started    time.Time
	registries registryUse
	// unsent are the errors of messages that triggers have yet to send, by the id of the trigger.
	unsent map[string]string
}

func (h *Handler) evidence(ctx context.Context, actor auth.Actor, k kind.Kind) (e evidence, err error) {
	switch k {
	case kind.Watcher:
		e.progress, e.started = h.service.Progress(), h.Started
		e.checks, err = h.guide.RecentChecks(ctx, actor)
	case kind.Registry:
		e.registries = registryUseOf(h.service.Containers().All(), h.service.Redact)
	case kind.Trigger:
		var pending []delivery.Delivery
		pending, err = h.service.Deliveries(ctx, store.DeliveryFilter{State: delivery.Pending})
		e.unsent = unsentOf(pending)
	}
	return e, err
}

// unsentOf are the errors of messages that triggers have yet to send, by the id of the trigger.
func unsentOf(pending []delivery.Delivery) map[string]string {
	unsent := map[string]string{}
	for _, d := range pending {
		unsent[d.Trigger] = cmp.Or(d.Error, unsent[d.Trigger])
	}
	return unsent
}

// stateOf is the state of a component. One that is ready does not do its work when the last check of a watcher failed,
// when no check got an answer from a registry, or while a message of a trigger could not be sent; of a registry that no
// container uses nobody knows.
func (e evidence) stateOf(c service.Component) state {
	s := state{State: words.State{Word: phrase.New("Starting"), Class: "muted"}, Unsent: e.unsent[c.ID]}
	s.Undelivered = words.Undelivered(c.ID, s.Unsent)
	switch c.State {
	case component.Ready:
		s.State = words.State{Word: phrase.New("Ready"), Class: "ok"}
	case component.Failed:
		s.State = words.State{Word: phrase.Capital(words.Down()), Class: "failed"}
	}
	if last, checked := guide.LastChecks(e.checks)[c.Name]; checked {
		s.Last = &lastCheck{At: last.At, Failed: last.Type == event.CheckFailed}
		s.Last.Sentence, _ = words.Event(last)
	}
	s.Running = guide.RunningChecks(e.checks, e.started)[c.Name]
	s.Progress = words.ProgressOf(c.Name, e.progress)
	s.Unresponsive = e.registries.unresponsive[c.ID]
	switch {
	case c.State != component.Ready:
	case s.Last != nil && s.Last.Failed:
		s.State = words.State{Word: phrase.New("Check failed"), Class: "failed"}
	case s.Unresponsive != nil:
		s.State = words.State{Word: phrase.New("Unavailable"), Class: "failed"}
	case e.registries.used != nil && !e.registries.used[c.ID]:
		s.State = words.State{Word: phrase.New("Not used"), Class: "muted"}
	case s.Unsent != "":
		s.State = words.State{Word: phrase.New(notSending), Class: "failed"}
	}
	return s
}

// notSending is the state of a trigger that works, with a message that could not be sent so far.
const notSending = "Not sending"

func (s state) notSending() bool { return s.State.Word.String() == notSending }

package component

import (
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/dogwatch/dogwatch/core/config"
	"github.com/dogwatch/dogwatch/core/plugin"
	"github.com/dogwatch/dogwatch/core/plugin/agent"
	"github.com/dogwatch/dogwatch/sdk/kind"
	"github.com/dogwatch/dogwatch/sdk/option"
)

// Watcher is a configured watcher. What it embeds of the plugin lists its containers.
type Watcher struct {
	Component
	plugin.WatcherHandle
	// Settings are the options that the host acts on.
	Settings WatcherOptions
	// decided is true when its section says whether it may update; permittedBy are the
	// triggers that let it, else. See Updates.
	decided     bool
	permittedBy permits
	// limits is Options.Limits for an agent; nil for others.
	limits func(name string) (agent.Limits, bool)
}

// SetReached records whether the watcher's engine responded at an instant, and reports
// whether its State is another one now.
func (w *Watcher) SetReached(at time.Time, err error) (changed bool) {
	if err != nil { // what shows it names the component already
		err = &reachError{strings.TrimPrefix(err.Error(), w.FullID()+": "), err}
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	state, before := w.stateLocked()
	if w.unreachable = err; err == nil {
		w.responded = at
	}
	now, after := w.stateLocked()
	return state != now || before != nil && after != nil && before.Error() != after.Error()
}

// Responded is when the watcher's engine did last; zero when it has not since the start.
func (c *Component) Responded() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.responded
}

// reachError has another text than the error it wraps.
type reachError struct {
	text string
	err  error
}

func (e *reachError) Error() string { return e.text }
func (e *reachError) Unwrap() error { return e.err }

func (w *Watcher) attach(bundle *plugin.Supervisor, _ kind.Type) {
	w.WatcherHandle = bundle.Watcher(w.FullID())
}

func (w *Watcher) setSettings(values option.Values, opt *Options) (_ []config.Problem, err error) {
	if w.Settings, err = option.Decode[WatcherOptions](values); err != nil {
		return nil, err
	}
	if w.Type == agent.TypeName {
		w.limits = opt.Limits
	}
	return opt.ValidateWatcher(w.Settings), nil
}

// ownerLimits returns what the owner of the host of an agent allows; false for others, and while that is not known.
func (w *Watcher) ownerLimits() (agent.Limits, bool) {
	if w.limits == nil {
		return agent.Limits{}, false
	}
	return w.limits(w.Name)
}

// WatchersNamed returns the watchers with these names, all when none is given.
func (m *Manager) WatchersNamed(names []string) []*Watcher {
	all := m.Watchers()
	if len(names) == 0 {
		return all
	}
	return slices.DeleteFunc(all, func(w *Watcher) bool { return !slices.Contains(names, w.Name) })
}

// EachWatcher calls fn for all watchers at once and returns the errors in their
// order. A watcher that cannot be used is one of the errors.
func EachWatcher(watchers []*Watcher, fn func(*Watcher) error) []error {
	errs := make([]error, len(watchers))
	var wait sync.WaitGroup
	for i, w := range watchers {
		if !w.Usable() {
			_, err := w.State()
			errs[i] = fmt.Errorf("%s cannot be used: %w", w.FullID(), err)
			continue
		}
		wait.Go(func() { errs[i] = fn(w) })
	}
	wait.Wait()
	return slices.DeleteFunc(errs, func(err error) bool { return err == nil })
}

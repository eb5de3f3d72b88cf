package component

import (
	"errors"
	"strings"

	"github.com/dogwatch/dogwatch/core/config"
	"github.com/dogwatch/dogwatch/core/plugin"
	"github.com/dogwatch/dogwatch/sdk/kind"
	"github.com/dogwatch/dogwatch/sdk/option"
)

// Watcher is a configured watcher. What it embeds of the plugin lists its containers.
type Watcher struct {
	Component
	plugin.Watcher
	// Settings are the options that the host acts on.
	Settings WatcherOptions
}

// SetReached records whether the watcher's engine can be reached, and reports
// whether its State is another one now.
func (w *Watcher) SetReached(err error) (changed bool) {
	if err != nil { // what shows it names the component already
		err = errors.New(strings.TrimPrefix(err.Error(), w.FullID()+": "))
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	state, before := w.stateLocked()
	w.unreachable = err
	now, after := w.stateLocked()
	return state != now || before != nil && after != nil && before.Error() != after.Error()
}

func (w *Watcher) attach(bundle *plugin.Supervisor, _ kind.Type) {
	w.Watcher = bundle.Watcher(w.FullID())
}

func (w *Watcher) setSettings(values option.Values, opt *Options) (_ []config.Problem, err error) {
	if w.Settings, err = option.Decode[WatcherOptions](values); err != nil {
		return nil, err
	}
	return opt.ValidateWatcher(w.Settings), nil
}

package component

import (
	"github.com/dogwatch/dogwatch/core/config"
	"github.com/dogwatch/dogwatch/sdk/kind"
)

// optionLogs is the option of watchers that lets them read what containers write, see watcher.LogReader.
const optionLogs = "logs"

// CanReadLogs reports whether its type can read the logs of containers, be it allowed to or not. No agent does: the
// owner of its host has no say in that so far.
func (w *Watcher) CanReadLogs() bool { return w.Can(kind.CapLogs) }

// ReadsLogs reports whether the watcher may read the logs of containers.
func (w *Watcher) ReadsLogs() bool {
	may, _ := w.Options[optionLogs].(bool)
	return may && w.CanReadLogs()
}

// LogsVariable returns the environment variable that lets the watcher read logs where it is true.
func (w *Watcher) LogsVariable() string {
	return config.ShortEnvName(w.section.Key() + "." + optionLogs)
}

package component

import (
	"github.com/dogwatch/dogwatch/core/config"
	"github.com/dogwatch/dogwatch/sdk/kind"
)

// optionLogs is the option of watchers that lets them read what containers write, see watcher.LogReader.
const optionLogs = "logs"

// CanReadLogs reports whether its type can read the logs of containers, be it allowed to or not.
func (w *Watcher) CanReadLogs() bool { return w.Can(kind.CapLogs) }

// LogsMissing returns what keeps a watcher that can from reading logs: the environment variable that has to be true, ""
// if it is, and whether the owner of the host of an agent does not allow it.
func (w *Watcher) LogsMissing() (variable string, byOwner bool) {
	if may, _ := w.Options[optionLogs].(bool); !may {
		variable = config.ShortEnvName(w.section.Key() + "." + optionLogs)
	}
	limits, known := w.ownerLimits()
	return variable, known && !limits.Logs
}

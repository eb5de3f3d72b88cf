package wiring

import (
	"github.com/dogwatch/dogwatch/core/plugin/component"
	"github.com/dogwatch/dogwatch/core/serve/service"
)

// Logs fits the components to service.LogReaders.
type Logs struct{ Components *component.Manager }

// LogReader implements service.LogReaders.
func (l Logs) LogReader(watcherName string) (service.LogReader, bool) {
	return l.Components.WatcherNamed(watcherName)
}

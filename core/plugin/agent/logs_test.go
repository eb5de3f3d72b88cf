package agent

import (
	"errors"
	"reflect"
	"testing"

	"github.com/dogwatch/dogwatch/sdk"
	"github.com/dogwatch/dogwatch/sdk/watcher"
)

// TestLogsAreReadWhereTheOwnerAllowsIt, whatever the controller asks for, and without secrets of the agent.
func TestLogsAreReadWhereTheOwnerAllowsIt(t *testing.T) {
	s := newSite(t)
	read := func(name string) (watcher.Log, error) {
		c, err := s.Client(t.Context(), idOf(name), true)
		must(t, err)
		return c.Watcher(idOf(name)).ReadLog(t.Context(), watcher.LogRequest{ContainerID: "c1", Lines: 2})
	}
	closed, open := newEngine(), newEngine()
	s.host(t, s.join(t, "closed"), closed)
	log, err := read("closed")
	if !errors.Is(err, sdk.ErrUnsupported) || len(log.Lines) > 0 || closed.logs.Load() > 0 {
		t.Errorf("without the word of the owner: %+v, %v; the engine was asked %d times", log, err, closed.logs.Load())
	}
	wants(t, "without the word of the owner", err, "the owner of closed does not allow reading the logs of containers: "+
		"run dogwatch agent --logs there")
	s.host(t, s.join(t, "open"), open, func(o *HostOptions) { o.Watcher.limits.Logs = true })
	log, err = read("open")
	want := []watcher.LogLine{{Text: "of c1"}, {Text: "with ***", Stderr: true}}
	if err != nil || !reflect.DeepEqual(log.Lines, want) {
		t.Errorf("with it: %+v, %v", log, err)
	}
	for name, want := range map[string]bool{"closed": false, "open": true} {
		if l, known := s.Limits(name); !known || l.Logs != want {
			t.Errorf("the limits of %s are %+v, known: %t", name, l, known)
		}
	}
	if l, known := s.Limits("another"); known {
		t.Errorf("the limits of an agent that is not there are %+v", l)
	}
}

package component

import (
	"testing"

	"github.com/dogwatch/dogwatch/core/config"
	"github.com/dogwatch/dogwatch/core/plugin/agent"
	"github.com/dogwatch/dogwatch/sdk/kind"
	"github.com/dogwatch/dogwatch/sdk/option"
)

// TestLogsAreAllowedByOption: logs are read by types that can, where the option says so.
func TestLogsAreAllowedByOption(t *testing.T) {
	for _, c := range []struct {
		name         string
		capabilities []string
		option       any // nil for none
		can, may     bool
	}{
		{"allowed", []string{kind.CapLogs}, true, true, true},
		{"not allowed", []string{kind.CapLogs}, false, true, false},
		{"without the option", []string{kind.CapLogs}, nil, true, false},
		{"an option of something else", nil, true, false, false},
		{"a text", []string{kind.CapLogs}, "true", true, false},
		{"through an agent", agent.Type().Capabilities, true, false, false},
	} {
		w := &Watcher{Component: Component{
			Capabilities: c.capabilities, Options: option.Values{},
			section: config.Component{Kind: kind.Watcher, Type: "docker", Name: "local"},
		}}
		if c.option != nil {
			w.Options["logs"] = c.option
		}
		if can, may := w.CanReadLogs(), w.ReadsLogs(); can != c.can || may != c.may {
			t.Errorf("%s: it can: %v, it may: %v", c.name, can, may)
		}
		if got := w.LogsVariable(); got != "DOGWATCH_WATCHER_LOCAL_LOGS" {
			t.Errorf("the variable is %s", got)
		}
	}
}

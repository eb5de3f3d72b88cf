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
	const variable = "DOGWATCH_WATCHER_LOCAL_LOGS"
	for _, c := range []struct {
		name         string
		capabilities []string
		option       any // nil for none
		can          bool
		variable     string
	}{
		{"allowed", []string{kind.CapLogs}, true, true, ""},
		{"not allowed", []string{kind.CapLogs}, false, true, variable},
		{"without the option", []string{kind.CapLogs}, nil, true, variable},
		{"an option of something else", nil, true, false, ""},
		{"a text", []string{kind.CapLogs}, "true", true, variable},
		{"through an agent", agent.Type().Capabilities, true, true, ""},
	} {
		w := &Watcher{Component: Component{
			Capabilities: c.capabilities, Options: option.Values{},
			section: config.Component{Kind: kind.Watcher, Type: "docker", Name: "local"},
		}}
		if c.option != nil {
			w.Options["logs"] = c.option
		}
		if missing, byOwner := w.LogsMissing(); w.CanReadLogs() != c.can || missing != c.variable || byOwner {
			t.Errorf("%s: it can: %v, missing is %q, %v", c.name, w.CanReadLogs(), missing, byOwner)
		}
	}
}

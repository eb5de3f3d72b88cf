package overview

import (
	"strings"
	"testing"

	"github.com/dogwatch/dogwatch/core/plugin"
	"github.com/dogwatch/dogwatch/core/plugin/component"
	"github.com/dogwatch/dogwatch/core/serve/service"
	"github.com/dogwatch/dogwatch/sdk/kind"
)

// TestPluginsNameTheirComponents: a plugin that crashed and the trigger that fails by that are one thing.
func TestPluginsNameTheirComponents(t *testing.T) {
	trigger := func(typ string) service.Component {
		return service.Component{
			View: component.View{ID: typ + ".main", Type: typ, Name: "main", State: component.Failed, Error: "it failed"},
			Kind: kind.Trigger,
		}
	}
	triggers := []service.Component{trigger("lamp"), trigger("ntfy"), trigger("fan")}
	plugins := []service.Plugin{
		{Status: plugin.Status{Name: "trigger-lamp", State: plugin.Backoff, Error: "exit status 1",
			Types: []plugin.TypeName{{Kind: kind.Trigger, Type: "lamp"}}}},
		{Status: plugin.Status{Name: "trigger-fan", State: plugin.Broken, Error: strings.Repeat("0123456789 ", 20)}},
		{Status: plugin.Status{Name: "trigger", State: plugin.Running, Types: []plugin.TypeName{{Kind: kind.Trigger, Type: "ntfy"}}}},
	}
	lines := pluginsOf(plugins, triggers)
	if len(lines) != 2 || lines[0].Text.String() != "Plugin trigger-lamp crashed and is started again: exit status 1. lamp.main does not work." {
		t.Errorf("%+v", lines)
	}
	fan := "Plugin trigger-fan failed: " + strings.Repeat("0123456789 ", 13) + "0123456789…. fan.main does not work."
	if lines[1].Text.String() != fan {
		t.Errorf("%+v, want %s", lines[1], fan)
	}
	if own := componentsOf(triggers, plugins); len(own) != 1 || own[0].Text.String() != "ntfy.main: it failed" {
		t.Errorf("%+v", own)
	}
	if own := componentsOf(triggers, nil); len(own) != 3 {
		t.Errorf("%+v", own)
	}
}

package component

import (
	"testing"

	"github.com/dogwatch/dogwatch/core/config"
	"github.com/dogwatch/dogwatch/sdk/kind"
	"github.com/dogwatch/dogwatch/sdk/option"
)

// TestPermit: a watcher says itself whether it may update; a trigger permits it where it does not.
func TestPermit(t *testing.T) {
	schema := option.Schema{{Name: "update", Type: option.Bool}}
	docker := config.Component{Kind: kind.Trigger, Type: "docker", Name: "local"}
	mail := config.Component{Kind: kind.Trigger, Type: "smtp", Name: "main"}
	for _, c := range []struct {
		name     string
		sections []config.Component
		schema   option.Schema
		given    any // the value of the option in the section; nil for none
		may      bool
		why      string
		remedy   string
	}{
		{"by no one", []config.Component{mail}, schema, nil, false, "neither its option update nor a trigger of type docker or dockercompose is set", "set watcher.docker.local.update to true, or configure a docker or dockercompose trigger"},
		{"by itself", nil, schema, true, true, "its option update is true", ""},
		{"by a trigger", []config.Component{mail, docker}, schema, nil, true, "the trigger docker.local is configured", ""},
		{"not although there is a trigger", []config.Component{docker}, schema, false, false, "its option update is false", "set watcher.docker.local.update to true"},
		{"type that cannot", []config.Component{docker}, nil, nil, false, "", ""},
	} {
		section := config.Component{Kind: kind.Watcher, Options: map[string]config.Value{}}
		w := &Watcher{Component: Component{Kind: kind.Watcher, Type: "docker", Name: "local"}}
		w.Options = option.Values{}
		if c.schema != nil {
			w.Options["update"] = false
		}
		if c.given != nil {
			section.Options["update"], w.Options["update"] = config.Value{V: c.given}, c.given
		}
		w.permit(section, c.schema, updatingTrigger(c.sections))
		if may, why := w.Updates(); may != c.may || why != c.why {
			t.Errorf("%s: %v, %q, want %v, %q", c.name, may, why, c.may, c.why)
		}
		if remedy := w.UpdateRemedy(); remedy != c.remedy {
			t.Errorf("%s: the remedy is %q, want %q", c.name, remedy, c.remedy)
		}
		if given, _ := w.Options["update"].(bool); given != c.may {
			t.Errorf("%s: the plugin gets %v", c.name, given)
		}
	}
}

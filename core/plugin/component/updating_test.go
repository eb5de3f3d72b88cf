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
		{"by no one", []config.Component{mail}, schema, nil, false,
			"neither its option update nor a trigger of type docker or dockercompose is set",
			"set watcher.docker.local.update to true, or configure a docker or dockercompose trigger"},
		{"by itself", nil, schema, true, true, "its option update is true", ""},
		{"by a trigger", []config.Component{mail, docker}, schema, nil, true, "the trigger docker.local is configured", ""},
		{"not although there is a trigger", []config.Component{docker}, schema, false, false,
			"its option update is false", "set watcher.docker.local.update to true"},
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
		w.section = section
		w.section.Kind, w.section.Type, w.section.Name = w.Kind, w.Type, w.Name
		w.permit(section, c.schema, permitsOf(c.sections))
		if pasted := len(w.UpdatePaste().Lines) > 0; pasted != (c.remedy != "") {
			t.Errorf("%s: there are lines to paste: %v", c.name, pasted)
		}
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

// TestPermitCompose: a trigger of type dockercompose has compose files changed where the watcher
// leaves that open; what its section says is final.
func TestPermitCompose(t *testing.T) {
	schema := option.Schema{
		{Name: "update", Type: option.Bool},
		{Name: "compose", Type: option.String, Choices: []string{"off", "request", "edit", "command"}},
	}
	foreign := option.Schema{{Name: "compose", Type: option.String, Choices: []string{"off", "on"}}}
	plain := config.Component{Kind: kind.Trigger, Type: "docker", Name: "local"}
	file := config.Component{Kind: kind.Trigger, Type: "dockercompose", Name: "house"}
	for _, c := range []struct {
		name     string
		sections []config.Component
		schema   option.Schema
		given    any // the value of the option in the section; nil for none
		want     any // what the plugin gets
	}{
		{"without a trigger", nil, schema, nil, "off"},
		{"by a trigger of another type", []config.Component{plain}, schema, nil, "off"},
		{"by a trigger", []config.Component{plain, file}, schema, nil, "request"},
		{"off although there is a trigger", []config.Component{file}, schema, "off", "off"},
		{"edit although there is a trigger", []config.Component{file}, schema, "edit", "edit"},
		{"an option of another meaning", []config.Component{file}, foreign, nil, "off"},
	} {
		section := config.Component{Kind: kind.Watcher, Options: map[string]config.Value{}}
		w := &Watcher{Component: Component{Kind: kind.Watcher, Type: "docker", Name: "local"}}
		w.Options = option.Values{"compose": "off"}
		if c.given != nil {
			section.Options["compose"], w.Options["compose"] = config.Value{V: c.given}, c.given
		}
		w.permit(section, c.schema, permitsOf(c.sections))
		if got := w.Options["compose"]; got != c.want {
			t.Errorf("%s: the plugin gets %v, want %v", c.name, got, c.want)
		}
		if again := permitsOf(c.sections).to(section, c.schema); again != w.permittedBy {
			t.Errorf("%s: a reload would permit %v instead of %v", c.name, again, w.permittedBy)
		}
	}
}

// TestUpdating: only triggers whose rules are their options are taken at their word.
func TestUpdating(t *testing.T) {
	for trigger, want := range map[string]bool{
		"docker.local": true, "dockercompose.house": true, "dockers.local": false, "smtp.docker": false, "docker": true,
		"": false,
	} {
		if got := Updating(trigger); got != want {
			t.Errorf("%q: %v", trigger, got)
		}
	}
}

// TestUpdatesWithoutTheGrant: a plugin that was not granted to update is not one that cannot, and no option helps.
func TestUpdatesWithoutTheGrant(t *testing.T) {
	w := &Watcher{Component: Component{Kind: kind.Watcher, Type: "shelf", Name: "main", missing: []string{kind.CapUpdate}}}
	w.Options = option.Values{"update": true}
	may, why := w.Updates()
	paste := w.UpdatePaste()
	if may || why != `its plugin does not get the capability "update"` || !w.CanUpdate() || len(paste.Lines) > 0 {
		t.Errorf("%t, %q, can %t, lines %+v", may, why, w.CanUpdate(), paste)
	}
}

// TestMayUpdateByConfiguration is what policy preview says where no watcher runs.
func TestMayUpdateByConfiguration(t *testing.T) {
	watcher := func(update any) config.Component {
		c := config.Component{Kind: kind.Watcher, Type: "docker", Name: "local"}
		if update != nil {
			c.Options = map[string]config.Value{"update": {V: update}}
		}
		return c
	}
	trigger := config.Component{Kind: kind.Trigger, Type: "docker", Name: "main"}
	for name, test := range map[string]struct {
		sections []config.Component
		want     bool
	}{
		"nothing said":             {[]config.Component{watcher(nil)}, false},
		"allowed":                  {[]config.Component{watcher("true")}, true},
		"a trigger permits it":     {[]config.Component{trigger, watcher(nil)}, true},
		"forbidden all the same":   {[]config.Component{trigger, watcher("false")}, false},
		"permitted where none is":  {[]config.Component{trigger}, true},
		"allowed for another name": {[]config.Component{{Kind: kind.Watcher, Name: "nas", Options: watcher(true).Options}}, false},
	} {
		if got := MayUpdate(test.sections, "local"); got != test.want {
			t.Errorf("%s: %t", name, got)
		}
	}
}

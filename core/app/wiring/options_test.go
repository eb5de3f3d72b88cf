package wiring

import (
	"slices"
	"strings"
	"testing"

	"github.com/dogwatch/dogwatch/core/config"
	"github.com/dogwatch/dogwatch/core/config/label"
	"github.com/dogwatch/dogwatch/core/decide/policy"
	"github.com/dogwatch/dogwatch/core/plugin/component"
	"github.com/dogwatch/dogwatch/sdk"
	"github.com/dogwatch/dogwatch/sdk/kind"
	"github.com/dogwatch/dogwatch/sdk/option"
)

func TestValidateWatcher(t *testing.T) {
	for cron, wrong := range map[string]bool{
		"0 * * * *": false, "*/5 0 * * * *": false, "0 25 * * *": true, "hourly": true, "": true,
	} {
		problems := ValidateWatcher(component.WatcherOptions{Cron: cron})
		if wrong != (len(problems) == 1) ||
			wrong && (problems[0].Key != "cron" || problems[0].Level != config.Error || problems[0].Message == "") {
			t.Errorf("%q: %+v", cron, problems)
		}
	}
}

// TestValidateWatcherExclude: a pattern that cannot be read leaves nothing out, and is said.
func TestValidateWatcherExclude(t *testing.T) {
	problems := ValidateWatcher(component.WatcherOptions{Cron: "0 * * * *", Exclude: "^(tmp"})
	if len(problems) != 1 || problems[0].Key != "exclude" || problems[0].Level != config.Error ||
		!strings.Contains(problems[0].Message, "regular expression") {
		t.Errorf("%+v", problems)
	}
	if problems := ValidateWatcher(component.WatcherOptions{Cron: "0 * * * *", Exclude: "^tmp-"}); len(problems) > 0 {
		t.Errorf("%+v", problems)
	}
}

// TestTriggerThresholds: the choices of the option are the thresholds that there are.
func TestTriggerThresholds(t *testing.T) {
	o, _ := component.HostOptions(kind.Trigger).Find("threshold")
	if !slices.Equal(o.Choices, policy.Thresholds()) {
		t.Errorf("%q, want %q", o.Choices, policy.Thresholds())
	}
	schema := func(k kind.Kind, _ string) (option.Schema, bool) { return component.HostOptions(k), true }
	for name, value := range map[string]string{
		"WUD_TRIGGER_SMTP_MAIN_ONDIGEST": "false", "WUD_TRIGGER_SMTP_MAIN_THRESHOLD": "minor-no-digest",
	} {
		if path, problem := config.Variable(name, value, nil, schema); path == "" || problem != nil {
			t.Errorf("%s=%s: %q, %v", name, value, path, problem)
		}
	}
}

// TestValidateTrigger: a template that cannot be read is an error, and one that is misspelt a warning.
func TestValidateTrigger(t *testing.T) {
	right := component.TriggerOptions{SimpleTitle: "${container.name}", SimpleBody: "body", BatchTitle: "${count} updates"}
	for name, c := range map[string]struct {
		change func(*component.TriggerOptions)
		key    string
		level  config.Level
		text   string
	}{
		"right": {change: func(*component.TriggerOptions) {}},
		"unclosed": {
			change: func(o *component.TriggerOptions) { o.SimpleBody = "${container.name" }, key: "simplebody",
			level: config.Error,
		},
		"misspelt": {
			change: func(o *component.TriggerOptions) { o.SimpleTitle = "${container.nmae}" }, key: "simpletitle",
			level: config.Warning, text: "nmae",
		},
	} {
		o := right
		c.change(&o)
		problems := ValidateTrigger(o)
		if c.key == "" {
			if len(problems) > 0 {
				t.Errorf("%s: %+v", name, problems)
			}
			continue
		}
		if len(problems) != 1 || problems[0].Key != c.key || problems[0].Level != c.level ||
			!strings.Contains(problems[0].Message, c.text) {
			t.Errorf("%s: %+v", name, problems)
		}
	}
}

func TestPluginVars(t *testing.T) {
	if vars := PluginVars(&config.Config{}, false); len(vars) != 0 {
		t.Error(vars)
	}
	for _, vars := range []map[string][]string{PluginVars(&config.Config{FromWUD: true}, false),
		PluginVars(&config.Config{}, true)} {
		if got := vars[string(kind.Trigger)]; len(got) != 1 || got[0] != "DOGWATCH_MQTT_NAMES=wud" {
			t.Error(vars)
		}
	}
	var c config.Config
	c.Registries.DockerConfig = "/etc/docker/config.json"
	vars := PluginVars(&c, false)
	if got := vars[string(kind.Registry)]; len(vars) != 1 || len(got) != 1 ||
		got[0] != "DOGWATCH_REGISTRIES_DOCKERCONFIG=/etc/docker/config.json" {
		t.Error(vars)
	}
}

// TestTriggerOfTheDispatcher: which options and capabilities mean what.
func TestTriggerOfTheDispatcher(t *testing.T) {
	c := &component.Trigger{
		Component: component.Component{
			Kind: kind.Trigger, Type: "docker", Name: "local", Capabilities: []string{kind.CapOperate},
		},
		Settings: component.TriggerOptions{Mode: component.ModeBatch, Threshold: "minor", OnDigest: true,
			Events: []string{component.EventWatcher, component.EventOperation}},
		Guarantee: kind.AtMostOnce,
	}
	got := dispatchTrigger(c, label.Options{}, nil)
	if got.ID != "docker.local" || !got.Batch || got.Threshold != "minor" || !got.AtMostOnce || !got.Operates ||
		!got.Outages || !got.Operations || got.Auto || got.Once {
		t.Errorf("%+v", got)
	}
	c.Capabilities, c.Guarantee, c.Settings = nil, kind.AtLeastOnce, component.TriggerOptions{
		Auto: true, Once: true, IncludeByDefault: true, Mode: "simple", Events: []string{"none"},
	}
	got = dispatchTrigger(c, label.Options{}, nil)
	if got.Batch || got.AtMostOnce || got.Operates || got.Outages || got.Operations || !got.Auto || !got.Once ||
		!got.IncludeByDefault {
		t.Errorf("%+v", got)
	}
}

// TestTriggerOnDigest: a trigger runs for rebuilds as the most specific label of a container says, else as its option
// does; what an image says has no effect.
func TestTriggerOnDigest(t *testing.T) {
	for _, c := range []struct {
		option    bool
		labels    map[string]string
		fromImage bool
		want      bool
	}{
		{option: true, want: true},
		{option: false, want: false},
		{option: true, labels: map[string]string{"wud.trigger.ondigest": "false"}, want: false},
		{option: false, labels: map[string]string{"wud.trigger.smtp.main.ondigest": "true"}, want: true},
		{option: true, labels: map[string]string{"wud.trigger.smtp.other.ondigest": "false"}, want: true},
		{option: true, labels: map[string]string{"dogwatch.trigger.smtp.ondigest": "false"}, want: false},
		{option: true, labels: map[string]string{"wud.trigger.ondigest": "false"}, fromImage: true, want: true},
	} {
		found := sdk.Container{Labels: c.labels}
		for name := range c.labels {
			if c.fromImage {
				found.ImageLabels = append(found.ImageLabels, name)
			}
		}
		smtp := &component.Trigger{
			Component: component.Component{Kind: kind.Trigger, Type: "smtp", Name: "main"},
			Settings:  component.TriggerOptions{OnDigest: c.option},
		}
		if got := dispatchTrigger(smtp, label.Options{}, nil).OnDigest(found); got != c.want {
			t.Errorf("option %t, labels %v, of the image: %t: got %t", c.option, c.labels, c.fromImage, got)
		}
	}
}

func TestOptionProblemsKeepTheirFields(t *testing.T) {
	got := optionProblems([]sdk.FieldError{{Field: "a", Detail: "x"}, {Field: "b", Detail: "y"}}, config.Warning)
	if len(got) != 2 || got[1] != (config.Problem{Key: "b", Message: "y", Level: config.Warning}) {
		t.Errorf("%+v", got)
	}
}

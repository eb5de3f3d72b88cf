package main

import (
	"os"
	"reflect"
	"strings"
	"testing"

	"github.com/spf13/pflag"

	"github.com/dogwatch/dogwatch/core/config"
	"github.com/dogwatch/dogwatch/sdk/kind"
)

// TestOwnerOfAHost: a flag wins over its variable, and what is no value is refused by name.
func TestOwnerOfAHost(t *testing.T) {
	read := func(args ...string) (o owner, err error) {
		flags := pflag.NewFlagSet("agent", pflag.ContinueOnError)
		flags.BoolVar(&o.readOnly, "read-only", false, "")
		flags.StringSliceVar(&o.stacks, "stacks", nil, "")
		flags.BoolVar(&o.hooks, "allow-hooks", false, "")
		flags.BoolVar(&o.logs, "logs", false, "")
		if err := flags.Parse(args); err != nil {
			t.Fatal(err)
		}
		return o, o.complete(flags)
	}
	for name, value := range map[string]string{
		config.AgentReadOnlyVariable: "true", config.AgentStacksVariable: "media, web", config.AgentAllowHooksVariable: "yes",
		config.AgentLogsVariable: "on",
	} {
		t.Setenv(name, value)
	}
	got, err := read()
	if want := (owner{true, []string{"media", "web"}, true, true}); err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("from the environment: %+v, %v", got, err)
	}
	got, err = read("--read-only=false", "--stacks", "shop", "--logs=false")
	if want := (owner{false, []string{"shop"}, true, false}); err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("with flags: %+v, %v", got, err)
	}
	if _, err := read("--stacks", "a,,b"); err == nil {
		t.Error("a stack without a name")
	}
	t.Setenv("DOGWATCH_AGENT_READONLY", "true")
	if _, err := read(); err == nil || !strings.Contains(err.Error(), config.AgentReadOnlyVariable) {
		t.Errorf("a variable that is misspelt: %v", err)
	}
	os.Unsetenv("DOGWATCH_AGENT_READONLY")
	t.Setenv(config.AgentReadOnlyVariable, "perhaps")
	if _, err := read(); err == nil || !strings.Contains(err.Error(), config.AgentReadOnlyVariable) {
		t.Errorf("perhaps: %v", err)
	}
}

// TestOptionsAreThoseOfTheWatcherThatIsPassedOn, which may have no section, and of no other.
func TestOptionsAreThoseOfTheWatcherThatIsPassedOn(t *testing.T) {
	options := func(o owner, watcher string, sections ...config.Component) map[string]any {
		cfg := &config.Config{Components: sections}
		o.configure(cfg, watcher)
		found := map[string]any{}
		for _, c := range cfg.Components {
			for name, v := range c.Options {
				found[c.ID()+" "+name] = v.V
			}
		}
		return found
	}
	one, other := config.Component{Kind: kind.Watcher, Type: "docker", Name: "one"},
		config.Component{Kind: kind.Watcher, Type: "podman", Name: "other"}
	for name, test := range map[string]struct{ got, want map[string]any }{
		"default": {options(owner{hooks: true}, ""), map[string]any{"docker.local hooks": true}},
		"named":   {options(owner{logs: true}, "other", one, other), map[string]any{"podman.other logs": true}},
		"both":    {options(owner{hooks: true, logs: true}, ""), map[string]any{"docker.local hooks": true, "docker.local logs": true}},
		"not":     {options(owner{}, ""), map[string]any{}},
	} {
		if !reflect.DeepEqual(test.got, test.want) {
			t.Errorf("%s: %v, want %v", name, test.got, test.want)
		}
	}
}

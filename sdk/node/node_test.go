package node_test

import (
	"os/exec"
	"slices"
	"strings"
	"testing"

	"github.com/dogwatch/dogwatch/sdk/plugintest"
	pluginv1 "github.com/dogwatch/dogwatch/sdk/proto/v1"
)

// evaluate runs a script in the folder of the helper and returns what it prints.
func evaluate(t *testing.T, script string) string {
	t.Helper()
	if _, err := exec.LookPath("node"); err != nil {
		plugintest.Skip(t, "node", err)
	}
	out, err := exec.CommandContext(t.Context(), "node", "-e", script).CombinedOutput()
	if err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	return strings.TrimSpace(string(out))
}

// TestMistakesInOptions: an option's definition is checked before the host reads it.
func TestMistakesInOptions(t *testing.T) {
	for definition, want := range map[string]string{
		"{ type: 'url', help: 'Where', default: 1 }": "",
		"{ hlp: 'Where' }":                           "trigger.lamp: option url: unknown key hlp: did you mean help? (keys: type, help, default,",
		"{ Required: true }":                         "trigger.lamp: option url: unknown key Required: did you mean required?",
		"{ colour: 'red' }":                          "trigger.lamp: option url: unknown key colour (keys:",
		"{ choices: 'red' }":                         "trigger.lamp: option url: choices: want a list",
		"'url'":                                      "trigger.lamp: option url: want an object",
	} {
		got := evaluate(t, "console.log(require('./definition').mistakes({ triggers: { lamp: { options: { url: "+definition+" } } } }, { trigger: 'triggers', watcher: 'watchers' }).join('\\n'))")
		if !strings.HasPrefix(got, want) || want == "" && got != "" {
			t.Errorf("%s: %q, want %q", definition, got, want)
		}
	}
}

// TestKeysOfOptions: the helper knows the fields that an option has in the protocol.
func TestKeysOfOptions(t *testing.T) {
	got := strings.Fields(evaluate(t, "console.log(require('./definition').keys.join(' '))"))
	want := []string{}
	fields := (&pluginv1.Option{}).ProtoReflect().Descriptor().Fields()
	for i := range fields.Len() {
		if name := fields.Get(i).JSONName(); name != "name" {
			want = append(want, name)
		}
	}
	slices.Sort(got)
	slices.Sort(want)
	if !slices.Equal(got, want) {
		t.Errorf("the keys are %q, want %q", got, want)
	}
}

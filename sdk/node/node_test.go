package node_test

import (
	"encoding/json"
	"os/exec"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/dogwatch/dogwatch/internal/protocol"
	"github.com/dogwatch/dogwatch/sdk/option"
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
		got := evaluate(t,
			"console.log(require('./definition').mistakes({ triggers: { lamp: { options: { url: "+definition+
				" } } } }, { trigger: 'triggers', watcher: 'watchers' }).join('\\n'))")
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

// defaults are options of each type, whose defaults the helper reads as the host does.
var defaults = map[string]option.Option{
	"text": {Type: option.String}, "none": {Type: option.String}, "whole": {Type: option.Int},
	"part": {Type: option.Float}, "on": {Type: option.Bool}, "off": {Type: option.Bool},
	"list": {Type: option.List}, "url": {Type: option.URL}, "soon": {Type: option.Duration},
	"later": {Type: option.Duration}, "short": {Type: option.Duration}, "tiny": {Type: option.Duration},
	"hours": {Type: option.Duration}, "never": {Type: option.Duration}, "given": {Type: option.Int},
}

// TestDefaultsOfTestCalls: a call for tests has the options that the host would send.
func TestDefaultsOfTestCalls(t *testing.T) {
	texts := map[string]string{"text": "red", "whole": "7", "part": "1.5", "on": "true", "off": "no", "list": "a, b,,c",
		"url": "http://localhost/x", "soon": "90s", "later": "90000",
		"short": "1500us", "tiny": "20ns", "hours": "36h0.5s", "never": "0", "given": "1"}
	schema, definitions := option.Schema{}, map[string]map[string]string{}
	for name, o := range defaults {
		o.Name = name
		definitions[name] = map[string]string{"type": string(o.Type)}
		if text, has := texts[name]; has {
			o.Default, definitions[name]["default"] = &text, text
		}
		schema = append(schema, o)
	}
	values, problems, _ := schema.Resolve(map[string]any{"given": 2, "text": ""})
	if len(problems) > 0 {
		t.Fatal(problems)
	}
	want, err := protocol.EncodeValues(values)
	if err != nil {
		t.Fatal(err)
	}
	definition, err := json.Marshal(definitions)
	if err != nil {
		t.Fatal(err)
	}
	var got map[string]any
	if err := json.Unmarshal([]byte(evaluate(t,
		"console.log(JSON.stringify(require('./definition').withDefaults({ options: "+string(definition)+
			" }, { given: 2, text: '' })))")), &got); err != nil {
		t.Fatal(err)
	}
	if !reflect.DeepEqual(got, want.AsMap()) {
		t.Errorf("a call for tests has %v, want %v", got, want.AsMap())
	}
}

// TestLabelsOfImages: a watcher names those of its containers.
func TestLabelsOfImages(t *testing.T) {
	got := evaluate(t,
		"console.log(JSON.stringify([{ labels: { a: '1', b: '2' }, imageLabels: ['b'] }, {}].map((c) => require('./model').container(c).imageLabels)))")
	if got != `[["b"],[]]` {
		t.Errorf("got %s", got)
	}
}

// TestContainerWithoutImage: its error says that it has none.
func TestContainerWithoutImage(t *testing.T) {
	for _, image := range []string{"", ", image: null", ", image: ''"} {
		got := evaluate(t, "console.log(require('./model').container({ id: '1', name: 'web'"+image+" }).error)")
		if got != "no image" {
			t.Errorf("%s: %q", image, got)
		}
	}
}

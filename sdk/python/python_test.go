package python_test

import (
	"encoding/json"
	"os/exec"
	"reflect"
	"strings"
	"testing"

	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protodesc"
	"google.golang.org/protobuf/types/descriptorpb"

	"github.com/dogwatch/dogwatch/internal/protocol"
	"github.com/dogwatch/dogwatch/sdk/option"
	"github.com/dogwatch/dogwatch/sdk/plugintest"
	pluginv1 "github.com/dogwatch/dogwatch/sdk/proto/v1"
	"github.com/dogwatch/dogwatch/sdk/python"
)

// TestDescriptorsAreCurrent: plugins in Python read the protocol that Dogwatch speaks.
func TestDescriptorsAreCurrent(t *testing.T) {
	text, err := python.Files.ReadFile("dogwatch_plugin/protocol.binpb")
	if err != nil {
		t.Fatal(err)
	}
	var set descriptorpb.FileDescriptorSet
	if err := proto.Unmarshal(text, &set); err != nil {
		t.Fatal(err)
	}
	want := protodesc.ToFileDescriptorProto(pluginv1.File_plugin_proto)
	for _, file := range set.GetFile() {
		if file.GetName() == want.GetName() {
			if !proto.Equal(file, want) {
				t.Error("protocol.binpb is not that of plugin.proto: run go generate ./sdk/proto/v1")
			}
			return
		}
	}
	t.Error("protocol.binpb lacks plugin.proto")
}

// evaluate runs a script in the folder of the helper and returns what it prints.
func evaluate(t *testing.T, script string) string {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), "/usr/bin/python3", "-B", "-c", script)
	if out, err := exec.CommandContext(t.Context(), "/usr/bin/python3", "-c", "import grpc").CombinedOutput(); err != nil {
		plugintest.Skip(t, "python", string(out))
	}
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	return strings.TrimSpace(string(out))
}

// TestMistakesInOptions: an option's definition is checked before the host reads it.
func TestMistakesInOptions(t *testing.T) {
	for definition, want := range map[string]string{
		`{"type": "url", "help": "Where", "default": 1}`: "",
		`{"hlp": "Where"}`:    "trigger.lamp: option url: unknown key hlp: did you mean help? (keys: type, help, default,",
		`{"Required": True}`:  "trigger.lamp: option url: unknown key Required: did you mean required?",
		`{"colour": "red"}`:   "trigger.lamp: option url: unknown key colour (keys:",
		`{"required": "yes"}`: "trigger.lamp: option url: required: ",
		`"url"`:               "trigger.lamp: option url: want a dict",
	} {
		got := evaluate(t,
			`from dogwatch_plugin.definition import mistakes; print("\n".join(mistakes({"trigger": {"lamp": {"options": {"url": `+definition+`}}}})))`)
		if !strings.HasPrefix(got, want) || want == "" && got != "" {
			t.Errorf("%s: %q, want %q", definition, got, want)
		}
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
		"import json; from dogwatch_plugin import test_call; print(json.dumps(test_call({'options': json.loads('"+
			string(definition)+"')}, {'given': 2, 'text': ''}).options))")), &got); err != nil {
		t.Fatal(err)
	}
	if !reflect.DeepEqual(got, want.AsMap()) {
		t.Errorf("a call for tests has %v, want %v", got, want.AsMap())
	}
}

// TestLabelsOfImages: a watcher names those of its containers.
func TestLabelsOfImages(t *testing.T) {
	got := evaluate(t,
		"from dogwatch_plugin import model; print([list(model.container(c).image_labels) for c in ({'labels': {'a': '1', 'b': '2'}, 'image_labels': ['b']}, {})])")
	if strings.TrimSpace(got) != "[['b'], []]" {
		t.Errorf("got %s", got)
	}
}

// TestContainerWithoutImage: its error says that it has none.
func TestContainerWithoutImage(t *testing.T) {
	for _, image := range []string{"", `, "image": None`, `, "image": ""`} {
		got := evaluate(t, `from dogwatch_plugin.model import container; print(container({"id": "1", "name": "web"`+
			image+`}).error)`)
		if got != "no image" {
			t.Errorf("%s: %q", image, got)
		}
	}
}

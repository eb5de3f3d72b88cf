package python_test

import (
	"os/exec"
	"strings"
	"testing"

	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protodesc"
	"google.golang.org/protobuf/types/descriptorpb"

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
		got := evaluate(t, `from dogwatch_plugin.definition import mistakes; print("\n".join(mistakes({"trigger": {"lamp": {"options": {"url": `+definition+`}}}})))`)
		if !strings.HasPrefix(got, want) || want == "" && got != "" {
			t.Errorf("%s: %q, want %q", definition, got, want)
		}
	}
}

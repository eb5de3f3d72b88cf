package pluginv1_test

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"google.golang.org/protobuf/reflect/protoreflect"

	pluginv1 "github.com/dogwatch/dogwatch/sdk/proto/v1"
)

var update = flag.Bool("update", false, "add what is new to the golden file")

// Inside version 1 there are only additions: a line of the golden file never
// goes away, not even with -update.
func TestWireOnlyGrows(t *testing.T) {
	golden := filepath.Join("testdata", "wire.golden")
	text, err := os.ReadFile(golden)
	if err != nil && !*update {
		t.Fatal(err)
	}
	promised := strings.FieldsFunc(string(text), func(r rune) bool { return r == '\n' })
	now := describe(pluginv1.File_plugin_proto)
	for _, line := range promised {
		if !slices.Contains(now, line) {
			t.Errorf("version 1 promised %q, which is gone or has changed: that is a version 2", line)
		}
	}
	if t.Failed() {
		return
	}
	if *update {
		if err := os.MkdirAll("testdata", 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(golden, []byte(strings.Join(now, "\n")+"\n"), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	for _, line := range now {
		if !slices.Contains(promised, line) {
			t.Errorf("%q is new; run this test with -update", line)
		}
	}
}

// describe lists every method and field with what makes it compatible.
func describe(f protoreflect.FileDescriptor) []string {
	var lines []string
	services := f.Services()
	for i := range services.Len() {
		methods := services.Get(i).Methods()
		for j := range methods.Len() {
			m := methods.Get(j)
			lines = append(lines,
				fmt.Sprintf("rpc %s(%s) returns (%s)%s", m.FullName(), m.Input().Name(), m.Output().Name(), streaming(m)))
		}
	}
	messages := f.Messages()
	for i := range messages.Len() {
		fields := messages.Get(i).Fields()
		for j := range fields.Len() {
			d := fields.Get(j)
			lines = append(lines, fmt.Sprintf("%s = %d: %s", d.FullName(), d.Number(), typeOf(d)))
		}
	}
	slices.Sort(lines)
	return lines
}

func streaming(m protoreflect.MethodDescriptor) string {
	return map[[2]bool]string{
		{false, true}: " streamed", {true, false}: " requests streamed", {true, true}: " both streamed",
	}[[2]bool{m.IsStreamingClient(), m.IsStreamingServer()}]
}

func typeOf(d protoreflect.FieldDescriptor) string {
	if d.IsMap() {
		return fmt.Sprintf("map<%s, %s>", typeOf(d.MapKey()), typeOf(d.MapValue()))
	}
	name := d.Kind().String()
	if d.Message() != nil {
		name = string(d.Message().FullName())
	}
	if d.IsList() {
		return "repeated " + name
	}
	if d.HasOptionalKeyword() {
		return "optional " + name
	}
	return name
}

package python_test

import (
	"testing"

	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protodesc"
	"google.golang.org/protobuf/types/descriptorpb"

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

package plugin

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	pluginv1 "github.com/dogwatch/dogwatch/sdk/proto/v1"
)

func TestProtocolVersionIsThatOfTheProto(t *testing.T) {
	text, err := os.ReadFile(filepath.Join("..", "proto", "v1", "plugin.proto"))
	if err != nil {
		t.Fatal(err)
	}
	if want := fmt.Sprintf("// Dogwatch plugin protocol %d.", ProtocolVersion); !strings.Contains(string(text), want) {
		t.Errorf("plugin.proto does not announce %q", want)
	}
	pkg := string(pluginv1.File_plugin_proto.Package())
	if want := fmt.Sprintf("dogwatch.plugin.v%d", ProtocolVersion); pkg != want || ours != "/"+pkg+"." {
		t.Errorf("the package is %q, want %q; methods begin with %q", pkg, want, ours)
	}
	h := Handshake()
	if h.ProtocolVersion != ProtocolVersion || h.MagicCookieKey != "DOGWATCH_PLUGIN" || h.MagicCookieValue == "" {
		t.Errorf("the handshake is %+v", h)
	}
	if _, has := ClientPlugins()[ProtocolVersion][PluginName]; !has {
		t.Errorf("the host's plugins are %v", ClientPlugins())
	}
}

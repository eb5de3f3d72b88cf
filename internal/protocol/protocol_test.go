package protocol

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	pluginv1 "github.com/dogwatch/dogwatch/sdk/proto/v1"
)

func TestVersionMatchesProtoPackage(t *testing.T) {
	text, err := os.ReadFile(filepath.Join("..", "..", "sdk", "proto", "v1", "plugin.proto"))
	if err != nil {
		t.Fatal(err)
	}
	if want := fmt.Sprintf("// Dogwatch plugin protocol %d.", Version); !strings.Contains(string(text), want) {
		t.Errorf("plugin.proto does not announce %q", want)
	}
	pkg := string(pluginv1.File_plugin_proto.Package())
	if want := fmt.Sprintf("dogwatch.plugin.v%d", Version); pkg != want || MethodPrefix != "/"+pkg+"." {
		t.Errorf("the package is %q, want %q; methods begin with %q", pkg, want, MethodPrefix)
	}
	h := Handshake()
	if h.ProtocolVersion != Version || h.MagicCookieKey != "DOGWATCH_PLUGIN" || h.MagicCookieValue == "" {
		t.Errorf("the handshake is %+v", h)
	}
	if _, has := Plugins(nil)[Version][PluginName]; !has {
		t.Errorf("the plugins are %v", Plugins(nil))
	}
}

package e2e

import (
	"context"
	"io"
	"log"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-containerregistry/pkg/registry"

	"github.com/dogwatch/dogwatch/core/plugin/artifact"
)

// plainLogins are those of a registry without any.
type plainLogins struct{}

func (plainLogins) Login(context.Context, string, string) (artifact.Login, error) {
	return artifact.Login{Plain: true}, nil
}

// TestPluginThatLies: an artifact that hides what its plugin asks for, or says that it
// holds something else, is refused before anything is in place.
func TestPluginThatLies(t *testing.T) {
	t.Parallel()
	compiled, err := actsPlugin()
	must(t, err)
	server := httptest.NewServer(registry.New(registry.Logger(log.New(io.Discard, "", 0))))
	defer server.Close()
	host := strings.TrimPrefix(server.URL, "http://")
	i := install(t, "DOGWATCH_REGISTRY_CUSTOM_HOME_URL="+server.URL)
	for tag, test := range map[string]struct {
		said artifact.Plugin
		want string
	}{
		"1.0.0": {artifact.Plugin{Types: []string{"trigger.acts"}},
			"acts asks for the capability engine, of which its artifact says nothing, and is not installed"},
		"2.0.0": {artifact.Plugin{Types: []string{"trigger.lamp"}, Capabilities: []string{"engine"}},
			"acts holds trigger.acts, and its artifact says trigger.lamp: it is not installed"},
	} {
		source, err := artifact.ParseSource(host + "/me/acts:" + tag)
		must(t, err)
		test.said.Name, test.said.Version = "acts", tag
		_, err = artifact.Push(t.Context(), plainLogins{}, "dogwatch/test", *source.Image,
			[]artifact.Built{{File: compiled, Plugin: test.said}}, nil)
		must(t, err)
		stdout, stderr, code := i.run("plugin", "install", host+"/me/acts:"+tag, "--yes")
		if code != 1 || !strings.Contains(stdout+stderr, test.want) {
			t.Errorf("%s: %d %s%s", tag, code, stdout, stderr)
		}
		if _, err := os.Stat(filepath.Join(i.store, "plugins", "acts")); !os.IsNotExist(err) {
			t.Errorf("%s is there: %v", tag, err)
		}
	}
}

package plugin_test

import (
	"io"
	"testing"

	goplugin "github.com/hashicorp/go-plugin"

	"github.com/dogwatch/dogwatch/internal/pluginclient"
	"github.com/dogwatch/dogwatch/sdk/trigger"
)

// A host with its own key or with AutoMTLS starts a plugin with or without DOGWATCH_PLUGIN_KEY.
func TestServeNegotiatesTLS(t *testing.T) {
	secured, key, err := pluginclient.HostTLS()
	if err != nil {
		t.Fatal(err)
	}
	for name, test := range map[string]struct {
		config goplugin.ClientConfig
		env    []string
	}{
		"a host of today":                    {goplugin.ClientConfig{TLSConfig: secured}, key},
		"a host that leaves it to go-plugin": {goplugin.ClientConfig{AutoMTLS: true}, nil},
		"a plugin that knows no key":         {goplugin.ClientConfig{TLSConfig: secured.Clone()}, key[:1]},
	} {
		t.Run(name, func(t *testing.T) {
			cmd := command(t, "plugin")
			cmd.Env = append(cmd.Env, test.env...)
			test.config.Cmd = cmd
			c, host, err := shake(&test.config, io.Discard, io.Discard)
			if err != nil {
				t.Fatal(err)
			}
			defer host.Kill()
			configure(t, c, "trigger", "fake", "real")
			if err := c.Trigger(mainTrigger).Run(t.Context(), trigger.Request{Title: "leave key"}); err != nil {
				t.Error(err)
			}
		})
	}
}

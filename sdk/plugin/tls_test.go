package plugin_test

import (
	"crypto/tls"
	"encoding/pem"
	"io"
	"slices"
	"strings"
	"testing"

	goplugin "github.com/hashicorp/go-plugin"

	"github.com/dogwatch/dogwatch/sdk/plugin"
	"github.com/dogwatch/dogwatch/sdk/trigger"
)

// Every kind of host can start every kind of plugin.
func TestKeysOfProcesses(t *testing.T) {
	secured, key, err := plugin.HostTLS()
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

// A stranger who finds the socket can neither speak to the plugin nor pass for it.
func TestStrangersAreRefused(t *testing.T) {
	mine, key, err := plugin.HostTLS()
	if err != nil {
		t.Fatal(err)
	}
	strangers, foreign, err := plugin.HostTLS()
	if err != nil {
		t.Fatal(err)
	}
	if slices.Equal(key, foreign) {
		t.Fatal("two processes have one key")
	}
	for i, kind := range []string{"CERTIFICATE", "PRIVATE KEY"} {
		_, text, _ := strings.Cut(key[i], "=")
		if block, _ := pem.Decode([]byte(text)); block == nil || block.Type != kind {
			t.Errorf("variable %d has no %s", i, kind)
		}
	}
	for name, test := range map[string]struct {
		host, process *tls.Config
		ok            bool
	}{
		"both know the key":          {mine, mine, true},
		"the host is a stranger":     {strangers, mine, false},
		"the process is a stranger":  {mine, strangers, false},
		"the host has no key at all": {&tls.Config{InsecureSkipVerify: true}, mine, false},
	} {
		t.Run(name, func(t *testing.T) {
			l, err := tls.Listen("tcp", "127.0.0.1:0", test.process)
			if err != nil {
				t.Fatal(err)
			}
			defer l.Close()
			served := make(chan error, 1)
			go func() {
				conn, err := l.Accept()
				if err == nil {
					_, err = conn.Write([]byte("x"))
					conn.Close()
				}
				served <- err
			}()
			h, err := tls.Dial("tcp", l.Addr().String(), test.host)
			if err == nil {
				_, err = h.Read(make([]byte, 1))
				h.Close()
			}
			if ok := <-served == nil && err == nil; ok != test.ok {
				t.Errorf("they agree: %v (%v), want %v", ok, err, test.ok)
			}
		})
	}
}

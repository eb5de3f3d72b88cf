package plugin_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"testing"

	"github.com/hashicorp/go-hclog"
	goplugin "github.com/hashicorp/go-plugin"

	"github.com/dogwatch/dogwatch/internal/pluginclient"
	"github.com/dogwatch/dogwatch/internal/protocol"
	"github.com/dogwatch/dogwatch/sdk"
	"github.com/dogwatch/dogwatch/sdk/kind"
	"github.com/dogwatch/dogwatch/sdk/plugin"
	"github.com/dogwatch/dogwatch/sdk/plugintest"
	"github.com/dogwatch/dogwatch/sdk/trigger"
)

// roleVar makes this test's executable play another part.
const roleVar = "DOGWATCH_TEST_ROLE"

func TestMain(m *testing.M) {
	switch os.Getenv(roleVar) {
	case "plugin":
		plugin.Serve(actors().bundle())
	case "host":
		hostUntilKilled()
	case "broken":
		b := actors().bundle()
		b.Triggers = append(b.Triggers, b.Triggers[0])
		plugin.Serve(b)
	default:
		os.Exit(m.Run())
	}
}

// actors are fakes whose trigger does what the title says.
func actors() *fakes {
	f := newFakes()
	f.run = func(ctx context.Context, f *fake, req trigger.Request) error {
		switch req.Title {
		case "hang":
			req.Report(trigger.Progress{Phase: "hanging"})
			<-ctx.Done()
			return ctx.Err()
		case "die":
			os.Exit(3)
		case "leave key":
			if os.Getenv("DOGWATCH_PLUGIN_KEY") != "" {
				return errors.New("what the plugin starts would have the key")
			}
		case "print":
			fmt.Println("printed to stdout")
			f.env.Log.Info("logged", "label", f.label)
		}
		return nil
	}
	return f
}

// command runs this test's executable as role.
func command(t testing.TB, role string) *exec.Cmd {
	t.Helper()
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(exe)
	cmd.Env = append(os.Environ(), roleVar+"="+role)
	return cmd
}

// launch starts the actors in a process, as a host does.
func launch(cmd *exec.Cmd, log, stdout io.Writer) (*pluginclient.Client, *goplugin.Client, error) {
	secured, key, err := pluginclient.HostTLS()
	if err != nil {
		return nil, nil, err
	}
	cmd.Env = append(cmd.Env, key...)
	return shake(&goplugin.ClientConfig{Cmd: cmd, TLSConfig: secured}, log, stdout)
}

// shake starts what config says and shakes hands with it.
func shake(config *goplugin.ClientConfig, log, stdout io.Writer) (*pluginclient.Client, *goplugin.Client, error) {
	config.HandshakeConfig = protocol.Handshake()
	config.VersionedPlugins = pluginclient.ClientPlugins()
	config.SkipHostEnv = true // the command has it, with its role
	config.AllowedProtocols = []goplugin.Protocol{goplugin.ProtocolGRPC}
	config.Logger = hclog.New(&hclog.LoggerOptions{Output: log, Level: hclog.Info, JSONFormat: true})
	config.SyncStdout = stdout
	host := goplugin.NewClient(config)
	rpc, err := host.Client()
	if err != nil {
		host.Kill()
		return nil, nil, err
	}
	raw, err := rpc.Dispense(protocol.PluginName)
	if err != nil {
		host.Kill()
		return nil, nil, err
	}
	return raw.(*pluginclient.Client), host, nil
}

func mustLaunch(t *testing.T, log io.Writer) (*pluginclient.Client, *goplugin.Client) {
	t.Helper()
	c, host, err := launch(command(t, "plugin"), log, io.Discard)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(host.Kill)
	configure(t, c, kind.Trigger, "fake", "real")
	return c, host
}

func TestServeInProcess(t *testing.T) {
	log := &plugintest.Log{}
	c, host := mustLaunch(t, log)
	if d, err := c.Describe(t.Context()); err != nil || d.Version != "1.2.3" || len(d.Types) != 3 {
		t.Errorf("got %+v, %v", d, err)
	}
	if v := host.NegotiatedVersion(); v != protocol.Version {
		t.Errorf("the protocol is version %d", v)
	}
	if err := c.Trigger(mainTrigger).Run(t.Context(), trigger.Request{Title: "print"}); err != nil {
		t.Error(err)
	}
	host.Kill()
	if !host.Exited() {
		t.Error("the plugin does not stop")
	}
	if text := log.String(); !strings.Contains(text, "trigger.fake.main") || !strings.Contains(text, `"label":"real"`) {
		t.Errorf("the host's log lacks the instance's line: %s", text)
	}
}

func TestCallOfExitedProcessIsErrGone(t *testing.T) {
	c, _ := mustLaunch(t, io.Discard)
	for _, title := range []string{"die", "after"} {
		err := c.Trigger(mainTrigger).Run(t.Context(), trigger.Request{Title: title})
		if !errors.Is(err, protocol.ErrGone) || !errors.Is(err, sdk.ErrUnavailable) {
			t.Errorf("%s: got %v", title, err)
		}
	}
}

func TestCallOfKilledProcessIsErrGone(t *testing.T) {
	cmd := command(t, "plugin")
	c, host, err := launch(cmd, io.Discard, io.Discard)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(host.Kill)
	configure(t, c, kind.Trigger, "fake", "real")
	req := trigger.Request{Title: "hang"}.WithReport(func(trigger.Progress) {
		if err := cmd.Process.Kill(); err != nil {
			t.Error(err)
		}
	})
	if err := c.Trigger(mainTrigger).Run(t.Context(), req); !errors.Is(err, protocol.ErrGone) {
		t.Errorf("got %v", err)
	}
}

// Stopping the plugin ends calls that would not end by themselves.
func TestStopEndsRunningCall(t *testing.T) {
	c, host := mustLaunch(t, io.Discard)
	reached, ended := make(chan struct{}), make(chan error, 1)
	req := trigger.Request{Title: "hang"}.WithReport(func(trigger.Progress) { close(reached) })
	go func() { ended <- c.Trigger(mainTrigger).Run(t.Context(), req) }()
	<-reached
	host.Kill()
	if err := <-ended; !errors.Is(err, protocol.ErrGone) && !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
}

func TestServeExplainsItselfWithoutHost(t *testing.T) {
	for role, wants := range map[string][]string{
		"plugin": {"is a Dogwatch plugin, version 1.2.3", "plugins.dir", "trigger.fake: Does nothing", "watcher.fakewatcher"},
	} {
		var stdout, stderr bytes.Buffer
		cmd := command(t, role)
		cmd.Stdout, cmd.Stderr = &stdout, &stderr
		var exit *exec.ExitError
		if err := cmd.Run(); !errors.As(err, &exit) || exit.ExitCode() != 1 {
			t.Errorf("%s: got %v", role, err)
		}
		for _, want := range wants {
			if !strings.Contains(stderr.String(), want) {
				t.Errorf("%s: stderr lacks %q: %s", role, want, stderr.String())
			}
		}
		if stdout.Len() > 0 {
			t.Errorf("%s: stdout has %q", role, stdout.String())
		}
	}
}

func TestServeRejectsInvalidBundle(t *testing.T) {
	var log plugintest.Log
	_, _, err := launch(command(t, "broken"), &log, io.Discard)
	if err == nil {
		t.Fatal("want an error")
	}
}

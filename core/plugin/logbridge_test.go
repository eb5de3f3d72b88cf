package plugin

import (
	"bytes"
	"testing"

	"github.com/hashicorp/go-hclog"
)

func TestLogBridgeKeepsNameAndLevel(t *testing.T) {
	var out bytes.Buffer
	root := hclog.New(&hclog.LoggerOptions{Output: &out, Level: hclog.Info, DisableTime: true})
	b := bridge{root.Named("plugin.trigger"), root}
	b.Named("dogwatch").Warn("sent", "@module", "trigger.smtp.main", "timestamp", "2024", "to", "ana")
	b.Info("plain")
	b.Debug("not shown")
	if want := "[WARN]  trigger.smtp.main: sent: to=ana\n[INFO]  plugin.trigger: plain\n"; out.String() != want {
		t.Fatalf("logged %q, want %q", out.String(), want)
	}
}

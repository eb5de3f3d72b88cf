package plugin

import (
	"bytes"
	"strings"
	"testing"
	"time"

	"github.com/hashicorp/go-hclog"
)

func TestLogBridgeKeepsNameAndLevel(t *testing.T) {
	var out bytes.Buffer
	root := hclog.New(&hclog.LoggerOptions{Output: &out, Level: hclog.Info, DisableTime: true})
	b := bridge{root.Named("plugin.trigger"), root, nil}
	b.Named("dogwatch").Warn("sent", "@module", "trigger.smtp.main", "timestamp", "2024", "to", "ana")
	b.Info("plain")
	b.Debug("not shown")
	if want := "[WARN]  trigger.smtp.main: sent: to=ana\n[INFO]  plugin.trigger: plain\n"; out.String() != want {
		t.Fatalf("logged %q, want %q", out.String(), want)
	}
}

// TestLogBridgeSortsFields: each line has them in the same order, and text of several lines in one.
func TestLogBridgeSortsFields(t *testing.T) {
	var out bytes.Buffer
	root := hclog.New(&hclog.LoggerOptions{Output: &out, DisableTime: true})
	b := bridge{root, root, nil}
	b.Info("sent", "title", "new", "timestamp", "2024", "body", "one\ntwo\n", "count", 2)
	b.Info("ended", "plugin", "lamp", "id", 7) // which go-plugin says itself
	if want := "[INFO]  sent: body=\"one | two\" count=2 title=new\n[INFO]  ended: plugin=lamp id=7\n"; out.String() != want {
		t.Fatalf("logged %q, want %q", out.String(), want)
	}
}

// TestFloodIsLeftOut: a plugin that logs without end does not fill the log, which says so,
// and logs again later.
func TestFloodIsLeftOut(t *testing.T) {
	var out bytes.Buffer
	root := hclog.New(&hclog.LoggerOptions{Output: &out, Level: hclog.Info, DisableTime: true})
	now := time.Now()
	b := bridge{root.Named("plugin.mine"), root, &flood{now: func() time.Time { return now }}}
	logged := func() int { return strings.Count(out.String(), "\n") }
	for range 10_000 {
		b.Debug("not shown", "timestamp", "2024") // which does not count
	}
	for range 10_000 {
		b.Info("again", "@module", "trigger.act.main")
	}
	if n := logged(); n != floodLines+1 || !strings.Contains(out.String(), "plugin.mine: the plugin logs too much") {
		t.Errorf("%d lines: %.200s", n, out.String())
	}
	out.Reset()
	now = now.Add(floodTime)
	b.Info("later")
	if !strings.Contains(out.String(),
		"plugin.mine: lines of the plugin were left out, since it logs too much: lines=9500") ||
		!strings.Contains(out.String(), "later") {
		t.Error(out.String())
	}
	out.Reset()
	for range 100 {
		b.Info(strings.Repeat("x", 64<<10))
	}
	if size := out.Len(); size > 2*floodLines*floodText {
		t.Errorf("long lines: %d bytes", size)
	}
}

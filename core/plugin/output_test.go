package plugin

import (
	"strings"
	"testing"

	"github.com/dogwatch/dogwatch/sdk/trigger"
)

// TestWhatAPluginPrintsIsLogged: to standard output, to standard error and by Go's log package, at a
// level that is logged by default.
func TestWhatAPluginPrintsIsLogged(t *testing.T) {
	var log logBuffer
	opt, _ := thirdParty(t)
	h := loggedHost(t, opt, &log)
	must(t, h.Discover(t.Context()))
	i, err := configureTrigger(t, h, "trigger.act.a", map[string]any{"do": "try print"})
	must(t, err)
	must(t, i.Run(t.Context(), trigger.Request{}))
	for _, line := range []string{
		"[INFO]  plugin.mine: said by fmt\n", "[INFO]  plugin.mine: said to stderr\n", "said by log\n",
		"[INFO]  plugin.mine: " + strings.Repeat("x", maxPrinted) + "\n", "[INFO]  plugin.mine: x\n",
	} {
		eventually(t, line[:min(len(line), 40)], func() bool { return strings.Contains(log.String(), line) })
	}
	for line := range strings.Lines(log.String()) {
		if strings.Contains(line, "said by log") && !strings.Contains(line, "[INFO]  plugin.mine: ") {
			t.Error(line)
		}
	}
}

// TestErrorOfACrashHasItsTextAndPlace: of a panic in a call, which the process survives, and of one
// beside it, which it does not; the log says it, too.
func TestErrorOfACrashHasItsTextAndPlace(t *testing.T) {
	var log logBuffer
	opt, _ := thirdParty(t)
	h := loggedHost(t, opt, &log)
	must(t, h.Discover(t.Context()))
	wants := map[string]string{
		"panic": "Trigger.Run panicked: as asked (isolation_test.go:",
		"crash": "the plugin stopped before it answered; it wrote to stderr: panic: by a goroutine (isolation_test.go:",
	}
	for do := range wants {
		_, err := configureTrigger(t, h, "trigger.act."+do, map[string]any{"do": "try " + do})
		must(t, err)
	}
	s, _ := h.Bundle("mine")
	// the process has responded when it crashes, so it is started again at once
	for _, do := range []string{"panic", "crash"} {
		want := wants[do]
		err := s.Trigger("trigger.act."+do).Run(t.Context(), trigger.Request{})
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("error is %v, want %q in it", err, want)
		}
		if Exited(err) != (do == "crash") {
			t.Errorf("%s: the process is said to have exited: %v", do, Exited(err))
		}
	}
	eventually(t, "the log says why it is started again", func() bool {
		return strings.Contains(log.String(), "ended; it wrote to stderr: panic: by a goroutine (isolation_test.go:")
	})
}

// TestErrorOfACrashBlanksSecrets: what a plugin says as it crashes is redacted in its state, its log and errors.
func TestErrorOfACrashBlanksSecrets(t *testing.T) {
	var log logBuffer
	opt, _ := thirdParty(t)
	opt.Redact = func(text string) string { return strings.ReplaceAll(text, "by a goroutine", "***") }
	h := loggedHost(t, opt, &log)
	must(t, h.Discover(t.Context()))
	i, err := configureTrigger(t, h, "trigger.act.a", map[string]any{"do": "try crash"})
	must(t, err)
	err = i.Run(t.Context(), trigger.Request{})
	if err == nil || !strings.Contains(err.Error(), "panic: ***") || strings.Contains(err.Error(), "by a goroutine") {
		t.Errorf("error is %v", err)
	}
	stopped := func() (line string) {
		for line := range strings.Lines(log.String()) {
			if strings.Contains(line, "plugin stopped") {
				return line
			}
		}
		return ""
	}
	eventually(t, "the log says why it ended", func() bool { return stopped() != "" })
	s, _ := h.Bundle("mine")
	for _, said := range []string{stopped(), s.Status().Error} {
		if strings.Contains(said, "by a goroutine") {
			t.Errorf("it says %q", said)
		}
	}
}

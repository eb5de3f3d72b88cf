package updater

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/dogwatch/dogwatch/core/model/event"
	"github.com/dogwatch/dogwatch/core/update/operation"
	"github.com/dogwatch/dogwatch/sdk/watcher"
)

// TestEvidenceIsStoredWithTheOperation: what a new container left is stored with the end of its
// operation and told with it, without secrets.
func TestEvidenceIsStoredWithTheOperation(t *testing.T) {
	const secret = "hunter2hunter2"
	f := fresh(t)
	f.opt.Redact = func(text string) string { return strings.ReplaceAll(text, secret, "***") }
	f.engine.apply = func(context.Context, watcher.Operation, watcher.Journal) (watcher.Outcome, error) {
		var log strings.Builder
		for i := range 60 {
			fmt.Fprintf(&log, "line %d with %s\n", i, secret)
		}
		return watcher.Outcome{State: watcher.RolledBack, Reason: watcher.Reason{Code: "exited", Text: "it ended"},
			Evidence: &watcher.Evidence{
				Container: "web", Status: "exited", ExitCode: 3, Error: secret, Log: log.String(),
				Health: []watcher.HealthResult{{ExitCode: 1, Output: secret}},
			}}, nil
	}
	defer f.run(t)()
	op := f.outcome(t, f.begin(t, "web").ID)
	e := op.Outcome.Evidence
	if op.State != operation.RolledBack || e == nil || e.ExitCode != 3 || e.Error != "***" ||
		e.Health[0].Output != "***" {
		t.Fatalf("%+v, %+v", op, e)
	}
	if strings.Count(e.Log, "\n") != 49 || !strings.HasPrefix(e.Log, "line 10 with ***\n") ||
		!strings.HasSuffix(e.Log, "line 59 with ***") {
		t.Errorf("the log is %q", e.Log)
	}
	events, err := f.store.Events(t.Context(), 0, 100)
	if err != nil {
		t.Fatal(err)
	}
	told := events[len(events)-1]
	if told.Type != event.OperationRolledBack || strings.Count(told.Operation.Log, "\n") != 9 ||
		!strings.HasSuffix(told.Operation.Log, "line 59 with ***") {
		t.Errorf("the event is %s: %+v", told.Type, told.Operation)
	}
}

// TestEvidenceIsBounded: whatever a watcher sends, 16 KiB are stored at most, of whole characters.
func TestEvidenceIsBounded(t *testing.T) {
	long := strings.Repeat("é\x00ü\n", 1<<20)
	for name, log := range map[string]string{"lines": long, "one line": strings.ReplaceAll(long, "\n", ""), "empty": "",
		"newlines": strings.Repeat("\n", 1<<16)} {
		e := &watcher.Evidence{Container: long, Status: long, Error: long, Log: log}
		for range 100 {
			e.Health = append(e.Health, watcher.HealthResult{Output: long})
		}
		k := kept(e, func(text string) string { return text })
		size := len(k.Container) + len(k.Status) + len(k.Error) + len(k.Log)
		for _, h := range k.Health {
			size += len(h.Output)
		}
		if size > evidenceLimit || len(k.Health) != healthChecks || !utf8.ValidString(k.Log) ||
			name == "one line" && len(k.Log) < 5<<10 {
			t.Errorf("%s: %d bytes, %d checks, log %.40q of %d", name, size, len(k.Health), k.Log, len(k.Log))
		}
		if told := logOf(k); len(told) > eventLimit || !utf8.ValidString(told) {
			t.Errorf("%s: told %d bytes", name, len(told))
		}
	}
	if kept(nil, nil) != nil || logOf(nil) != "" {
		t.Error("there is evidence of nothing")
	}
}

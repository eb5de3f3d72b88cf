package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/dogwatch/dogwatch/sdk"
	"github.com/dogwatch/dogwatch/sdk/plugintest"
	"github.com/dogwatch/dogwatch/sdk/trigger"
	"github.com/dogwatch/dogwatch/sdk/triggertest"
)

func TestConformance(t *testing.T) {
	triggertest.Run(t, fileType(), triggertest.Case{
		Options: func(t *testing.T) map[string]any {
			return map[string]any{"path": filepath.Join(t.TempDir(), "updates.log")}
		},
		Failing: []triggertest.Failure{{Name: "folder in the way", Kind: sdk.ErrUnavailable,
			Options: func(t *testing.T) map[string]any {
				return map[string]any{"path": t.TempDir()}
			}}},
		Invalid: []triggertest.Invalid{
			{Field: "path", Set: map[string]any{"path": "updates.log"}},
			{Field: "path", Set: map[string]any{"path": "/no/such/folder/updates.log"}},
		},
		Skip: []string{"cancel"}, // nothing to wait for
	})
}

func TestRunAppendsLines(t *testing.T) {
	for format, check := range map[string]func(*testing.T, string){"line": checkText, "json": checkJSON} {
		t.Run(format, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "updates.log")
			run := plugintest.Trigger(t, fileType(), map[string]any{"path": path, "format": format}).Run
			for _, req := range []trigger.Request{triggertest.Request("nginx"), triggertest.Request("redis", "two\nlines")} {
				if err := run(t.Context(), req); err != nil {
					t.Fatal(err)
				}
			}
			text, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			lines := strings.Split(strings.TrimSuffix(string(text), "\n"), "\n")
			if len(lines) != 3 {
				t.Fatalf("want 3 lines, got %q", lines)
			}
			check(t, lines[0])
		})
	}
}

func checkText(t *testing.T, line string) {
	if want := " local/nginx library/nginx: 1.25.3 -> 1.27.0"; !strings.HasSuffix(line, want) {
		t.Errorf("got %q, want a time and %q", line, want)
	}
}

func checkJSON(t *testing.T, line string) {
	var update struct {
		At        sdk.Time
		Container sdk.Container
	}
	if err := json.Unmarshal([]byte(line), &update); err != nil {
		t.Fatal(err)
	}
	if update.At.IsZero() || update.Container.Result.Tag != "1.27.0" {
		t.Errorf("got %q", line)
	}
}
